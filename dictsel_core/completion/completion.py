"""Completion of one hole by example, from coarse to fine."""

from collections.abc import Generator

import numpy as np

from dictsel_core._support.threads import single_threaded_blas
from dictsel_core._support.validation import Bools
from dictsel_core.completion.field import PatchField
from dictsel_core.completion.onion import fill_by_layers
from dictsel_core.completion.scale import PATCH_SIZE, Scale, Single, finest_scale
from dictsel_core.completion.votes import explained_fraction, fill_by_votes

#: The coarsest scale is the one on which no pixel of the hole is farther than this from its border.
_MAX_DEPTH = 4
#: Minimum number of sources, and of pixels in the height and width of a scale.
MIN_SOURCES, _MIN_LENGTH = 64, 3 * PATCH_SIZE
#: Iterations on the finest scale, how many more on each coarser one, and factor on the coarsest.
_N_ITERATIONS, _N_MORE, _COARSEST = 12, 4, 2
#: Sweeps of the search in each iteration.
_N_SWEEPS = 2
#: Iterations times patches on one scale are limited to this; holes of 200 x 200 pixels need no less.
_MAX_WORK = 500_000
#: All matches are compared if there are at most this many pairs of targets and sources.
_MAX_PAIRS = 4_000_000


def complete(
    planes: Single, hole: Bools, barred: Bools, rng: np.random.Generator, threads: int
) -> Generator[float, None, float]:
    """Fill a hole in place with texture and structure from elsewhere in the image.

    Yields the fraction of the work that is done, and returns how much of the detail around the hole its
    matches explain, at most 1. With too little to copy from, the hole stays as it is, and minus infinity is
    returned.

    Every patch that touches the hole has a match, a similar patch outside it; each pixel of the hole becomes
    the weighted mean of the matches at this place. Both are repeated in turns, on coarser scales first [1]_
    [2]_.

    Parameters
    ----------
    planes : (H, W, C) ndarray of float32
        Of about unit range, with a smooth estimate in the hole.
    hole : (H, W) ndarray of bool
        Pixels to fill.
    barred : (H, W) ndarray of bool
        Pixels that are not copied. The hole is part of it.
    rng : numpy.random.Generator
    threads : int
        The result does not depend on it.

    References
    ----------
    .. [1] Y. Wexler, E. Shechtman and M. Irani, "Space-time completion of video", IEEE Transactions on
       Pattern Analysis and Machine Intelligence 29(3), 2007. :DOI:`10.1109/TPAMI.2007.60`
    .. [2] A. Newson, A. Almansa, Y. Gousseau and P. Pérez, "Non-local patch-based image inpainting", Image
       Processing On Line 7, 2017. :DOI:`10.5201/ipol.2017.189`
    """
    if min(hole.shape) < PATCH_SIZE:
        return -np.inf
    scales = _scales(finest_scale(planes, hole, barred))
    if len(scales[0].sources) < MIN_SOURCES:
        return -np.inf
    counts = [_n_iterations(number, scale, len(scales)) for number, scale in enumerate(scales)]
    works = [count * int(scale.hole.sum()) for count, scale in zip(counts, scales, strict=True)]
    coarser, done = None, 0
    with single_threaded_blas:  # once: to set the number of threads takes longer than a small search
        for scale, count, work in reversed(list(zip(scales, counts, works, strict=True))):
            field = _first_field(scale, coarser, rng, threads)
            for _ in range(count):
                field.search(_N_SWEEPS)
                fill_by_votes(scale, field)
                done += work // count
                yield done / sum(works)
            coarser = field
    planes[hole] = scales[0].planes[:, :, : planes.shape[2]][hole]
    return explained_fraction(scales[0], field)


def _scales(finest: Scale) -> list[Scale]:
    """Return the scales, the finest first, down to one on which the hole is shallow."""
    scales = [finest]
    while scales[-1].depth.max() > _MAX_DEPTH and min(scales[-1].shape) >= 2 * _MIN_LENGTH:
        coarser = scales[-1].halved()
        if len(coarser.sources) < MIN_SOURCES:
            break
        scales.append(coarser)
    return scales


def _n_iterations(number: int, scale: Scale, n_scales: int) -> int:
    """Return the number of iterations on a scale, counted from the finest one."""
    planned = (_N_ITERATIONS + _N_MORE * number) * (_COARSEST if number == n_scales - 1 else 1)
    return max(1, min(planned, _MAX_WORK // int(scale.hole.sum())))


def _first_field(
    scale: Scale, coarser: PatchField | None, rng: np.random.Generator, threads: int
) -> PatchField:
    """Return the first matches on a scale, after its hole has been filled for the first time."""
    if coarser is None:
        fill_by_layers(scale, threads)
    field = PatchField(scale, rng, threads)
    if coarser is not None:
        field.inherit(coarser)
    elif len(field.targets) * len(scale.sources) <= _MAX_PAIRS:
        field.search_all()
    fill_by_votes(scale, field)
    return field
