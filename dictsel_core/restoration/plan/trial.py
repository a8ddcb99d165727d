"""Whether refinement helps, tried on a sample of the image."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.arrays import Region
from dictsel_core._support.runs import GeneratorRun
from dictsel_core._support.threads import as_thread_count
from dictsel_core._support.validation import Bools, Floats
from dictsel_core.restoration.canvas import Canvas, Planes
from dictsel_core.restoration.coding.coder import PatchCoder, restore_planes
from dictsel_core.restoration.coding.sampling import Counts
from dictsel_core.restoration.plan.facts import PlanFacts
from dictsel_core.restoration.refinement.refiner import BEST_ROUNDS
from dictsel_core.restoration.refinement.rounds import hold_out, is_harmful, trial_change

#: Height and width of a part on which refinement is tried, and how many there are at most; images up to a
#: somewhat larger height and width are not cut.
_CROP, _N_CROPS, _MAX_UNCUT = 128, 4, 192
#: A part in which less than this fraction is observed tells nothing.
_MIN_OBSERVED = 0.02


@dataclass(frozen=True, eq=False)
class Crop:
    """What some block has of a part of the image on which refinement is tried.

    Attributes
    ----------
    number : int
        Of the part.
    top, left : int
        Where in the part it begins.
    image : (h, w, C) ndarray
    missing : (h, w, c) ndarray of bool
    """

    number: int
    top: int
    left: int
    image: NDArray[Any]
    missing: Bools


def crops_of(counts: Sequence[Counts], shape: tuple[int, int], size: int) -> tuple[Region, ...]:
    """Return parts of an image, evenly spaced, in which something is missing and something is not.

    Parameters
    ----------
    counts : sequence of ndarray of int
        How many pixels of all adjacent patches are observed, for each layer of the mask.
    shape : (int, int)
        Height and width of the image.
    size : int
        Height and width of a patch.
    """
    if max(shape) <= _MAX_UNCUT:
        return ((slice(0, shape[0]), slice(0, shape[1])),)
    observed = counts[0] if len(counts) == 1 else np.min(counts, axis=0)
    tops, lefts = (range(0, max(length - _CROP // 2, 1), _CROP) for length in shape)
    usable = []
    for top in tops:
        for left in lefts:
            inside = observed[
                -(-top // size) : (top + _CROP) // size, -(-left // size) : (left + _CROP) // size
            ]
            mean = inside.mean() / size**2 if inside.size else 0.0
            if _MIN_OBSERVED <= mean < 1:
                bottom, right = min(top + _CROP, shape[0]), min(left + _CROP, shape[1])
                usable.append((slice(top, bottom), slice(left, right)))
    n = min(_N_CROPS, -(-len(usable) // 2))
    return tuple(usable[(2 * i + 1) * len(usable) // (2 * n)] for i in range(n))


def cut_crops(regions: Sequence[Region], canvas: Canvas, block: Region) -> tuple[Crop, ...]:
    """Return what a block has of each part."""
    crops = []
    for number, region in enumerate(regions):
        rows, columns = (
            slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(region, block, strict=True)
        )
        if rows.start < rows.stop and columns.start < columns.stop:
            inside = tuple(
                slice(a.start - b.start, a.stop - b.start)
                for a, b in zip((rows, columns), block, strict=True)
            )
            top, left = rows.start - region[0].start, columns.start - region[1].start
            crops.append(Crop(number, top, left, canvas.image[inside].copy(), canvas.missing[inside].copy()))
    return tuple(crops)


def trial_rounds(
    plan: PlanFacts, regions: Sequence[Region], crops: Sequence[Crop]
) -> Generator[float, None, int]:
    """Yield the fraction that is done, and return how many rounds of refinement are made: eight, or none.

    Observed pixels are held out in some parts of the image, which are restored; then a round of refinement
    with little noise is made. If that makes the held-out pixels worse, there is no refinement.
    """
    changes: list[Floats] = []
    coder = plan.coder()
    for number, region in enumerate(regions):
        canvas = _joined(plan, region, [each for each in crops if each.number == number])
        held_out = hold_out(canvas.missing, np.random.default_rng([plan.settings.seed, 2018, number]))
        if held_out.any():
            changes.append(_change(canvas, held_out, coder, as_thread_count(plan.settings.threads)))
        yield (number + 1) / len(regions)
    return 0 if changes and is_harmful(np.concatenate(changes)) else BEST_ROUNDS


def _joined(plan: PlanFacts, region: Region, crops: Sequence[Crop]) -> Canvas:
    """Put a part of the image together."""
    shape = region[0].stop - region[0].start, region[1].stop - region[1].start
    image = np.empty((*shape, plan.spec.n_channels), plan.spec.dtype)
    missing = np.ones((*shape, crops[0].missing.shape[2]), bool)
    for crop in crops:
        place = np.s_[crop.top : crop.top + len(crop.image), crop.left : crop.left + crop.image.shape[1]]
        image[place] = crop.image.reshape(*crop.image.shape[:2], -1)
        missing[place] = crop.missing
    return Canvas(image, missing, plan.ranges)


def _change(canvas: Canvas, held_out: Bools, coder: PatchCoder, threads: int) -> Floats:
    """Return by how much a round of refinement increases the squared error of each held-out value."""
    planes, missing = canvas.planes(), canvas.missing | held_out
    if missing.shape[2] > 1:  # nothing is held out in channels that are observed nowhere
        known = held_out.any(axis=(0, 1))
        planes, missing, held_out = planes[:, :, known], missing[:, :, known], held_out[:, :, known]
    restored: list[Planes] = []
    for layer in range(missing.shape[2]):
        own = planes if missing.shape[2] == 1 else planes[:, :, layer : layer + 1]
        visible = np.where(missing[:, :, layer, None], np.float32(0), own)
        restored.append(GeneratorRun(restore_planes(visible, missing[:, :, layer], coder)).finish())
    where = np.broadcast_to(held_out, planes.shape)
    return trial_change(np.concatenate(restored, axis=2), missing, where, planes[where], threads)
