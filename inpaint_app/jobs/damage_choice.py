"""Choose among the damage that was found: by kind, by sensitivity, and region by region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dictsel_core import DamageKind
from inpaint_app.image.missing import Mask

if TYPE_CHECKING:  # slow to import
    from dictsel_core import DamageAnalysis

#: Pixels by which a click may miss a region: scratches are thin.
_REACH = 4


@dataclass(frozen=True)
class DamageChoice:
    """Which of the found regions are damage."""

    kinds: tuple[DamageKind, ...] = ()  #: Kinds that count.
    sensitivity: float = 0.5  #: From 0 to 1.
    removed: frozenset[int] = frozenset()  #: Numbers of regions that are none.


@dataclass(frozen=True, eq=False)
class MarkedMask:
    """A mask with the damage that was chosen, and the pixels that are missing only because of it."""

    mask: Mask
    added: Mask


def mark_damage(mask: Mask, added: Mask | None, analysis: DamageAnalysis, choice: DamageChoice) -> MarkedMask:
    """Return a mask with the chosen damage in place of that added before; what was painted stays."""
    others = mask if added is None else mask & ~added
    found = np.zeros(analysis.shape, np.bool_)
    if choice.kinds:
        found = analysis.mask(choice.sensitivity, kinds=choice.kinds, removed=choice.removed)
    marked = found if mask.ndim == 2 else np.broadcast_to(found[..., None], mask.shape)
    return MarkedMask(others | marked, marked & ~others)


def region_near(analysis: DamageAnalysis, choice: DamageChoice, row: int, column: int) -> int | None:
    """Return the number of the chosen or removed region nearest to a pixel; None if all are too far."""
    height, width = analysis.shape
    steps = range(-_REACH, _REACH + 1)
    for dy, dx in sorted(((dy, dx) for dy in steps for dx in steps), key=lambda step: np.hypot(*step)):
        if 0 <= row + dy < height and 0 <= column + dx < width:
            for number in analysis.regions_at(row + dy, column + dx, choice.sensitivity):
                if analysis.kind_of(number) in choice.kinds:
                    return number
    return None


def count_chosen(analysis: DamageAnalysis, choice: DamageChoice) -> dict[DamageKind, int]:
    """Return how many regions of each kind are chosen."""
    threshold, confidences = 1 - choice.sensitivity, analysis.confidences
    removed = [analysis.kind_of(number) for number in choice.removed if confidences[number] >= threshold]
    return {
        kind: int((analysis.candidates[kind].confidence >= threshold).sum()) - removed.count(kind)
        for kind in choice.kinds
    }
