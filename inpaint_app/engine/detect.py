"""Damage of a picture: found, looked at first in part, chosen among, and written as a mask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

import dictsel_core  # detection is imported when it is first used, and is slow to import
from dictsel_core.damage_kinds import USUAL_KINDS, DamageKind
from inpaint_app.engine.control import Event, JobControl
from inpaint_app.engine.source import analyze_picture, check_drawable, read_single_page
from inpaint_app.errors import printable_path
from inpaint_app.io.write import Output
from inpaint_app.model.damage import mask_picture
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.missing import collect_missing
from inpaint_app.model.picture import Mask, Picture, Rect

if TYPE_CHECKING:  # slow to import
    from numpy.typing import NDArray

    from dictsel_core.detection import DamageAnalysis

Tone = Literal["any", "light", "dark"]
TONES: tuple[Tone, ...] = get_args(Tone)


@dataclass(frozen=True)
class DamageChoice:
    """Which of the found regions are damage."""

    kinds: tuple[DamageKind, ...] = ()  #: Kinds that count.
    sensitivity: float = 0.5  #: From 0 to 1.
    removed: frozenset[int] = frozenset()  #: Numbers of regions that are none.
    tone: Tone = "any"  #: Lighter or darker than what lies around.
    smallest: int = 0  #: Pixels that a region has at least,
    largest: int | None = None  #: and at most; None for any number.
    within: PackedMask | None = None  #: Where damage counts; None for everywhere.


@dataclass(frozen=True, eq=False)
class FoundDamage:
    """All that may be damage, and how much lighter each region is than what lies around it."""

    analysis: DamageAnalysis
    contrasts: NDArray[np.float32]
    #: What was chosen last: the pointer asks again and again.
    _last: dict[tuple[DamageChoice, bool], NDArray[np.bool_]] = field(default_factory=dict, repr=False)

    def chosen(self, choice: DamageChoice, *, with_removed: bool = False) -> NDArray[np.bool_]:
        """Return which regions are chosen, by number; those that were removed too if so wanted."""
        key = choice, with_removed
        if key not in self._last:
            if len(self._last) > 1:
                self._last.clear()
            self._last[key] = self._choose(choice, with_removed)
        return self._last[key]

    def _choose(self, choice: DamageChoice, with_removed: bool) -> NDArray[np.bool_]:
        analysis, areas = self.analysis, self.analysis.areas
        chosen = analysis.confidences >= 1 - choice.sensitivity
        sizes = [len(regions) for regions in analysis.candidates.values()]
        chosen &= np.repeat([kind in choice.kinds for kind in analysis.candidates], sizes)
        chosen &= areas >= choice.smallest
        if choice.largest is not None:
            chosen &= areas <= choice.largest
        if choice.tone != "any":
            chosen &= self.contrasts > 0 if choice.tone == "light" else self.contrasts < 0
        if choice.within is not None:
            chosen &= self._parts_inside(choice.within.unpack()) > 0
        if not with_removed:
            chosen[list(choice.removed)] = False
        return chosen

    def mask(self, choice: DamageChoice) -> Mask:
        """Return the chosen pixels, (H, W)."""
        mask = self.analysis.mask(1.0, removed=np.flatnonzero(~self.chosen(choice)).tolist())
        return mask if choice.within is None else mask & choice.within.unpack()

    def regions_inside(self, choice: DamageChoice, rect: Rect, inside: Mask) -> frozenset[int]:
        """Return the regions, chosen or removed, of which more than a half lies in a part of a rectangle."""
        within = self._parts_inside(self._whole(rect, inside)) > 0.5
        return frozenset(np.flatnonzero(within & self.chosen(choice, with_removed=True)).tolist())

    def selection(self, rect: Rect, inside: Mask) -> PackedMask:
        """Return a part of a rectangle as `DamageChoice.within` has it."""
        return PackedMask.pack(self._whole(rect, inside))

    def _whole(self, rect: Rect, inside: Mask) -> Mask:
        whole = np.zeros(self.analysis.shape, np.bool_)
        whole[rect.slices] = inside
        return whole

    def region_near(self, choice: DamageChoice, row: int, column: int, reach: int = 4) -> int | None:
        """Return the number of the chosen or removed region nearest to a pixel; None if all are too far."""
        near = self.analysis.regions_near(row, column, reach, choice.sensitivity)
        if not near:
            return None
        chosen = self.chosen(choice, with_removed=True)
        return next((number for number in near if chosen[number]), None)

    def in_reading_order(self, choice: DamageChoice) -> list[int]:
        """Return the numbers of the chosen regions, from top to bottom."""
        firsts = [regions.pixels[regions.offsets[:-1]] for regions in self.analysis.candidates.values()]
        numbers = np.flatnonzero(self.chosen(choice))
        first = np.concatenate([np.zeros(0, np.intp), *firsts])[numbers]
        return [int(each) for each in numbers[np.argsort(first, kind="stable")]]

    def box(self, number: int) -> Rect:
        """Return the rectangle around a region."""
        rows, columns = np.divmod(self.analysis.region_pixels(number), self.analysis.shape[1])
        top, left = int(rows.min()), int(columns.min())
        return Rect(top, left, int(rows.max()) - top + 1, int(columns.max()) - left + 1)

    def count(self, choice: DamageChoice) -> dict[DamageKind, int]:
        """Return how many regions of each kind are chosen."""
        chosen, counts, start = self.chosen(choice), {}, 0
        for kind, regions in self.analysis.candidates.items():
            if kind in choice.kinds:
                counts[kind] = int(chosen[start : start + len(regions)].sum())
            start += len(regions)
        return counts

    def _parts_inside(self, mask: Mask) -> NDArray[np.float64]:
        """Return the part of each region that lies in a mask."""
        parts = [
            np.bincount(each.numbers(), mask.reshape(-1)[each.pixels], len(each)) / np.maximum(each.areas, 1)
            for each in self.analysis.candidates.values()
        ]
        return np.concatenate([np.zeros(0), *parts])


@dataclass(frozen=True, eq=False)
class MarkedMask:
    """A mask with the damage that was chosen, and the pixels that are missing only because of it."""

    mask: Mask
    added: Mask


def mark_damage(mask: Mask, added: Mask | None, found: FoundDamage, choice: DamageChoice) -> MarkedMask:
    """Return a mask with the chosen damage in place of that added before; what was painted stays."""
    others = mask if added is None else mask & ~added
    chosen = found.mask(choice)
    marked = chosen if mask.ndim == 2 else np.broadcast_to(chosen[..., None], mask.shape)
    return MarkedMask(others | marked, marked & ~others)


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
    from skimage.measure import block_reduce  # noqa: PLC0415  (slow to import)

    usual = tuple(kind for kind in kinds if kind in USUAL_KINDS)
    if rect is None or rect.is_empty or not usual or missing.size < _LARGE:
        return None
    step = max(1, int(np.ceil(np.sqrt(rect.height * rect.width / _PIXELS))))
    height, width = rect.height // step * step, rect.width // step * step
    rect = Rect(rect.row, rect.column, height, width)
    if rect.is_empty:
        return None
    part = picture.pixels[rect.slices]
    pixels = block_reduce(part, (step, step, 1)[: part.ndim], np.mean, func_kwargs={"dtype": np.float32})
    hidden = missing[rect.slices][::step, ::step]
    analysis = dictsel_core.detection.analyze_damage(pixels, usual, missing=hidden)
    return FirstLook(rect, step, analysis.mask(sensitivity))


@dataclass(frozen=True)
class DetectRequest:
    """A file whose damage is to be detected."""

    path: Path  #: The picture.
    output: Output  #: The mask, white = missing.
    kinds: tuple[DamageKind, ...]  #: What to look for.
    sensitivity: float = 0.5  #: From 0 to 1.


@dataclass(frozen=True, eq=False)
class DetectResult:
    """What was detected: the picture, the mask, how much of each kind, and notes on what was written."""

    picture: Picture
    mask: Mask
    found: Mapping[DamageKind, dictsel_core.detection.Found]
    notes: tuple[str, ...] = ()


def detect_file(request: DetectRequest, control: JobControl) -> DetectResult:
    """Read a picture, detect its damage and write the mask; a mask without a pixel is written too.

    Raises `UserError` if a file cannot be read or written. If the job is ended, nothing is written.
    """
    output = request.output
    output.check_mask([request.path])
    picture = read_single_page(request.path)
    check_drawable(picture, printable_path(request.path))
    output.check_size(picture.width, picture.height)
    analysis = analyze_picture(picture, collect_missing(picture).mask, request.kinds, control)
    mask = analysis.mask(request.sensitivity)
    notes = output.write(mask_picture(mask), [request.path])
    return DetectResult(picture, mask, analysis.found(request.sensitivity), notes)
