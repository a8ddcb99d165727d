"""A first look at a large picture: damage of the part that is seen, at about the size it is seen at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import dictsel_core  # detection is imported when it is first used, and is slow to import
from dictsel_core.damage_kinds import USUAL_KINDS, DamageKind
from inpaint_app.engine.control import Event
from inpaint_app.model.missing import Mask
from inpaint_app.model.picture import Array, Picture
from inpaint_app.model.rect import Rect

#: Pixels that are looked at: about as many as are shown. Pictures of a few times as many need no first look.
_PIXELS = 600_000
_LARGE = 4 * _PIXELS


@dataclass(frozen=True, eq=False)
class FirstLook(Event):
    """Damage within a rectangle, of which one entry stands for `step` x `step` pixels."""

    rect: Rect
    step: int
    damaged: Mask

    def added_to(self, mask: Mask) -> Mask:
        """Return a mask of the whole picture with this damage."""
        part = mask[self.rect.slices]
        full = np.repeat(np.repeat(self.damaged, self.step, axis=0), self.step, axis=1)
        inside = part[: full.shape[0], : full.shape[1]]
        inside |= full if mask.ndim == 2 else full[..., None]
        return mask


def first_look(
    picture: Picture, missing: Mask, rect: Rect | None, kinds: tuple[DamageKind, ...], sensitivity: float
) -> FirstLook | None:
    """Return the usual damage of a part of a picture; None if all of it is found as fast."""
    usual = tuple(kind for kind in kinds if kind in USUAL_KINDS)
    if rect is None or rect.is_empty or not usual or missing.size < _LARGE:
        return None
    step = max(1, int(np.ceil(np.sqrt(rect.height * rect.width / _PIXELS))))
    height, width = rect.height // step * step, rect.width // step * step
    rect = Rect(rect.row, rect.column, height, width)
    if rect.is_empty:
        return None
    pixels = _means(picture.pixels[rect.slices], step)
    hidden = missing[rect.slices][::step, ::step]
    analysis = dictsel_core.detection.analyze_damage(pixels, usual, missing=hidden)
    return FirstLook(rect, step, analysis.mask(sensitivity))


def _means(pixels: Array, step: int) -> Array:
    """Return means over squares of pixels."""
    total = np.zeros((pixels.shape[0] // step, pixels.shape[1] // step, *pixels.shape[2:]), np.float32)
    for row in range(step):
        for column in range(step):
            total += pixels[row::step, column::step]
    return total / np.float32(step * step)
