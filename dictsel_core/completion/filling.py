"""`fill_holes`: the wide holes of a restored image, filled anew."""

from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import find_objects, maximum_filter

from dictsel_core._util.arrays import Axis, Region, as_layout, grown
from dictsel_core._util.parallel import GeneratorRun, Run, as_thread_count, finished, step_by_step
from dictsel_core._util.validation import Bools, as_bool_mask, as_count, as_real_array
from dictsel_core.completion.completion import MIN_SOURCES, Step, complete
from dictsel_core.completion.holes import (
    MAX_CONTEXT,
    HolePart,
    far_from_observed,
    hole_boxes,
    hole_cells,
    hole_parts,
    wide_parts,
)
from dictsel_core.completion.scale import PATCH_SIZE, Single, touching

#: Holes without pixels farther than this from their border are small; where neighbors within so many pixels
#: around differ by less, in the median, they are smooth.
_SMALL, _RIM, _SMOOTH = 8, 8, 0.009

#: Patches with restored pixels are copied too if less than this fraction of all has none.
_MIN_OBSERVED_SOURCES = 0.25


@finished
def fill_holes(
    image: ArrayLike,
    mask: ArrayLike,
    *,
    fill_from: ArrayLike | None = None,
    region: Region | None = None,
    reach: int = 8,
    channel_axis: Axis | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Run[float, NDArray[Any]]:
    """Fill the wide holes of a restored image with pieces of it from elsewhere.

    `restore` does so by itself. This is for another try, with another `seed`, and for saying where pieces
    come from; both without restoring the image again.

    Parameters
    ----------
    image : (H, W) or (H, W, C) array_like
        A restored image, best with ``fill="smooth"``: what is in its holes counts as a rough estimate.
    mask : array_like of bool
        True = missing, as it was for `restore`.
    fill_from : (H, W) array_like of bool, optional
        True = may be copied, wherever that is; the pixels around a hole tell only what has to fit. Missing
        pixels are never copied. Default is what is around each hole.
    region : (slice, slice), optional
        Rows and columns in which holes are filled. Default is everywhere.
    reach : int
        Pixels farther than this from all observed ones are the middle of a wide hole. Default is 8.
    channel_axis : int, optional
        The axis of the channels, as for `restore`.
    seed : int
        Another one is another fill. Default is 0.
    threads : int or None
        Number of threads; None, the default, uses all available cores. The result does not depend on it.

    Returns
    -------
    ndarray
        A new image of the same shape and dtype, which differs in wide holes only and stays within the range
        of the observed values.

    Examples
    --------
    >>> import numpy as np
    >>> rows, columns = np.mgrid[:90, :90]
    >>> image = np.rint(120 + 50 * np.sin(rows) * np.sin(columns / 2)).astype(np.uint8)
    >>> mask = np.zeros((90, 90), bool)
    >>> mask[30:60, 30:60] = True
    >>> image[mask] = 120
    >>> filled = fill_holes(image, mask, fill_from=rows < 30)
    >>> bool(filled[mask].std() > 10)
    True
    """
    pixels = as_real_array(image, "image")
    if pixels.dtype.kind == "f" and not np.isfinite(pixels).all():
        raise ValueError("image must be finite, but it holds NaN or infinity; restore it first.")
    layout = as_layout(pixels.shape, channel_axis)
    if layout.is_stack:
        raise ValueError("fill_holes takes one image; call it for each image of a stack.")
    missing = layout.split_mask(as_bool_mask(mask))[0]
    shared = missing.shape[2] == 1  # a view of such a mask is enough
    holes = missing[:, :, 0] if shared else np.asarray(missing.all(axis=2))
    observed = np.asarray(~holes if shared else ~missing.any(axis=2))
    wide = wide_parts(holes, as_count(reach, "reach"))
    if region is not None:
        inside = np.zeros_like(wide)
        inside[region] = wide[region]
        wide = inside
    sources = None if fill_from is None else _checked_sources(fill_from, observed)
    seed, n_threads = as_count(seed, "seed", minimum=0), as_thread_count(threads)

    def steps() -> Generator[float, None, NDArray[Any]]:
        if not wide.any() or not observed.any():
            return pixels.copy()
        result = layout.split(pixels)[0].copy()
        looked_at = wide if sources is None else wide | sources
        used = grown(find_objects(looked_at.view(np.uint8))[0], MAX_CONTEXT + PATCH_SIZE, wide.shape)
        low, high = _limits(result, observed)
        span = high - low or 1.0
        units: Single = np.empty(result.shape, np.float32)  # takes memory where it is used
        units[used] = (result[used].astype(np.float64) - low) / span
        yield from fill_wide_parts(units, wide, observed, seed, n_threads, sources)
        values = np.clip(units[wide].astype(np.float64) * span + low, low, high)
        result[wide] = values if result.dtype.kind == "f" else np.rint(values)
        return layout.join(result)

    return GeneratorRun(steps())


iter_fill_holes = step_by_step(
    fill_holes, GeneratorRun[float, NDArray[Any]], "whose steps are the fraction that is done"
)


def _checked_sources(fill_from: ArrayLike, observed: Bools) -> Bools:
    allowed = as_bool_mask(fill_from)
    if allowed.shape != observed.shape:
        raise ValueError(
            f"fill_from must have the height and width of the image, {observed.shape}, but its shape is "
            f"{allowed.shape}."
        )
    sources = np.asarray(allowed & observed)
    if min(sources.shape) < PATCH_SIZE or np.count_nonzero(~touching(~sources)) < MIN_SOURCES:
        raise ValueError(
            f"fill_from holds too few observed pixels to copy from; mark an area of at least "
            f"{PATCH_SIZE + 8} x {PATCH_SIZE + 8} of them."
        )
    return sources


def _limits(plane: NDArray[Any], observed: Bools) -> tuple[float, float]:
    """Return the least and the largest observed value of an image (H, W, C)."""
    rows = [
        plane[row] if known.all() else plane[row][known] for row, known in enumerate(observed) if known.any()
    ]
    return float(min(row.min() for row in rows)), float(max(row.max() for row in rows))


def fill_wide_parts(
    planes: Single, wide: Bools, observed: Bools, seed: int, threads: int, sources: Bools | None = None
) -> Generator[float, None, Bools]:
    """Fill wide holes in place with texture and structure from around them.

    The planes (H, W, C) are of about unit range, with a smooth estimate of all missing pixels. It stays in
    small holes with smooth surroundings, and where there is too little to copy from. `wide` are pixels to
    fill, `observed` those of which all channels were, `sources` those that may be copied wherever they are;
    by default, what is around each hole. Yields the fraction of the work that is done; in the meantime, holes
    show what is known of them. Returns the pixels that were filled, (H, W).
    """
    height, width, n_channels = planes.shape
    parts = hole_parts(hole_boxes(hole_cells(wide), (height, width)), (height, width), n_channels)
    if sources is not None:
        parts = [part.with_sources(sources) for part in parts]
    total, done, filled = np.count_nonzero(wide), 0, np.zeros_like(wide)
    for wave in range(max((part.wave for part in parts), default=-1) + 1):
        before: list[tuple[HolePart, Single]] = []
        for part in (each for each in parts if each.wave == wave):
            region = _as_it_was(planes, wide, before, part)
            others = wide[part.region]
            hole = part.hole(others)
            before.append((part, region[hole]))
            n_pixels = int(np.count_nonzero(hole))
            allowed = None if sources is None else sources[part.region]
            run = GeneratorRun(fill_part(part, region, others, observed[part.region], seed, threads, allowed))
            for fraction, is_shown in run:
                if is_shown:
                    planes[part.region][hole] = region[hole]
                yield (done + fraction * n_pixels) / total
            planes[part.region][hole] = region[hole]
            filled[part.region][hole] = run.result
            done += n_pixels
            yield done / total
    return filled


def fill_part(
    part: HolePart,
    planes: Single,
    wide: Bools,
    observed: Bools,
    seed: int,
    threads: int,
    sources: Bools | None = None,
) -> Generator[Step, None, bool]:
    """Fill a part in place, and yield the progress as `complete` does; return whether it was filled.

    All arrays, as of `fill_wide_parts`, are those of its region. Without sources, what was observed is
    copied, and other pixels too if that is little.
    """
    hole = part.hole(wide)
    if not hole.any() or (sources is None and _is_smooth(planes, hole, observed)):
        return False
    rng = np.random.default_rng([seed, 2017, part.box[0].start, part.box[1].start])
    before = planes[hole]
    unknown = _unknown(wide, ~observed)
    barred = unknown if sources is None else wide | ~sources
    is_filled = yield from complete(planes, hole, barred, unknown, rng, threads)
    if not is_filled:
        planes[hole] = before
    return is_filled


def _as_it_was(planes: Single, wide: Bools, before: list[tuple[HolePart, Single]], part: HolePart) -> Single:
    """Return the region of a part, a copy, without what was filled in other parts of the same wave."""
    region = planes[part.region].copy()
    for other, values in before:
        if other.overlaps(part.region):
            places = np.argwhere(other.hole(wide[other.region]))
            places += [a.start - b.start for a, b in zip(other.region, part.region, strict=True)]
            inside = ((places >= 0) & (places < region.shape[:2])).all(axis=1)
            region[tuple(places[inside].T)] = values[inside]
    return region


def _is_smooth(planes: Single, hole: Bools, observed: Bools) -> bool:
    """Return whether a hole is small, and neighbors around it hardly differ, but at edges."""
    if far_from_observed(hole, _SMALL).any():
        return False
    known = observed & maximum_filter(hole, 2 * _RIM + 1, mode="constant")
    gray, changes = planes.mean(axis=2), []
    for axis in (0, 1):
        pairs = np.moveaxis(known, axis, 0)
        both = pairs[1:] & pairs[:-1]
        changes.append(np.abs(np.diff(np.moveaxis(gray, axis, 0), axis=0)[both]))
    every = np.concatenate(changes)
    return bool(not len(every) or np.median(every) < _SMOOTH)


def _unknown(wide: Bools, missing: Bools) -> Bools:
    """Return the pixels that tell nothing: all missing ones, or the wide holes if too little is left."""
    if min(wide.shape) < PATCH_SIZE:
        return wide
    n_observed, n_all = (np.count_nonzero(~touching(each)) for each in (missing, wide))
    return missing if n_observed >= max(_MIN_OBSERVED_SOURCES * n_all, MIN_SOURCES) else wide
