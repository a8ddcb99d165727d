"""`fill_holes`: the wide holes of a restored image, filled anew."""

from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._support.layout import Axis, as_layout
from dictsel_core._support.runs import GeneratorRun, Run, stepwise
from dictsel_core._support.threads import as_thread_count
from dictsel_core._support.validation import Bools, as_bool_mask, as_count, as_real_array
from dictsel_core.completion.completion import MIN_SOURCES
from dictsel_core.completion.holes import fill_wide_parts, wide_parts
from dictsel_core.completion.scale import PATCH_SIZE, Single, touching


def fill_holes(
    image: ArrayLike,
    mask: ArrayLike,
    *,
    fill_from: ArrayLike | None = None,
    reach: int = 8,
    channel_axis: Axis | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> NDArray[Any]:
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
    run = iter_fill_holes(
        image, mask, fill_from=fill_from, reach=reach, channel_axis=channel_axis, seed=seed, threads=threads
    )
    return np.asarray(run.finish())


def _start(
    image: ArrayLike,
    mask: ArrayLike,
    fill_from: ArrayLike | None,
    reach: int,
    channel_axis: Axis | None,
    seed: int,
    threads: int | None,
) -> Run[float, Any]:
    pixels = as_real_array(image, "image")
    layout = as_layout(pixels.shape, channel_axis)
    if layout.is_stack:
        raise ValueError("fill_holes takes one image; call it for each image of a stack.")
    missing = layout.split_mask(as_bool_mask(mask))[0]
    wide = wide_parts(np.asarray(missing.all(axis=2)), as_count(reach, "reach"))
    observed = np.asarray(~missing.any(axis=2))
    sources = None if fill_from is None else _checked_sources(fill_from, observed)
    seed, n_threads = as_count(seed, "seed", minimum=0), as_thread_count(threads)

    def steps() -> Generator[float, None, NDArray[Any]]:
        if not wide.any() or not observed.any():
            return pixels.copy()
        plane = layout.split(pixels)[0].reshape(*wide.shape, -1)
        low, high = plane[observed].min(), plane[observed].max()
        span = float(high) - float(low) or 1.0
        units: Single = ((plane.astype(np.float64) - float(low)) / span).astype(np.float32)
        yield from fill_wide_parts(units, wide, observed, seed, n_threads, sources)
        values = np.clip(units[wide].astype(np.float64) * span + float(low), float(low), float(high))
        result = plane.copy()
        result[wide] = values if plane.dtype.kind == "f" else np.rint(values)
        return layout.join(result.reshape(1, *layout.split(pixels).shape[1:]))

    return GeneratorRun(steps())


iter_fill_holes = stepwise(fill_holes, _start)


def _checked_sources(fill_from: ArrayLike, observed: Bools) -> Bools:
    """Return the pixels that may be copied."""
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
