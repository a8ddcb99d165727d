"""Completion of one hole by example, from coarse to fine."""

from collections.abc import Generator

import numpy as np

from dictsel_core._util.parallel import single_threaded_blas
from dictsel_core._util.validation import Bools, Ints
from dictsel_core.completion.blending import blended
from dictsel_core.completion.field import PatchField, best_matches, fill_by_best, fill_by_layers
from dictsel_core.completion.montage import Montage
from dictsel_core.completion.scale import PATCH_SIZE, Scale, Single, finest_scale

#: The coarsest scale is the one on which no pixel of the hole is farther than this from its border.
_MAX_DEPTH = 4
#: The scale on which pieces are cut is the first one on which the hole is no deeper and has no more pixels.
_MAX_CUT_DEPTH, _MAX_CUT_PIXELS = 12, 3000
#: Minimum number of sources, and of pixels in the height and width of a scale.
MIN_SOURCES, _MIN_LENGTH = 64, 3 * PATCH_SIZE
#: Iterations on the finest scale, how many more on each coarser one, and factor on the coarsest.
_N_ITERATIONS, _N_MORE, _COARSEST = 12, 4, 2
#: Fraction of the texture of the hole, beside that of the matches, that goes on from around it.
_TEXTURE_AROUND = 0.5
#: Sweeps of the search in each iteration.
_N_SWEEPS = 2
#: All matches are compared if there are at most this many pairs of targets and sources.
_MAX_PAIRS = 4_000_000
#: Fractions of the work: done when all matches are found, and when pieces are cut.
_MATCHED, _CUT = 0.3, 0.6

#: The fraction of the work that is done, and whether the hole shows more than before.
Step = tuple[float, bool]


def complete(
    planes: Single, hole: Bools, barred: Bools, unknown: Bools, rng: np.random.Generator, threads: int
) -> Generator[Step, None, bool]:
    """Fill a hole of planes (H, W, C) in place with texture and structure from elsewhere in the image.

    The planes are of about unit range, with a smooth estimate in the hole; for `barred` and `unknown`, which
    contain the hole, see `Scale`. Yields the fraction of the work that is done, and whether the hole shows
    more than before: what is known from coarser scales. Returns whether there was enough to copy from.

    1. On coarse scales, every patch that touches the hole has a match, a similar patch outside it; each pixel
       of the hole becomes the best of the matches at this place. Both are repeated in turns, as in Wexler et
       al., 2007, :DOI:`10.1109/TPAMI.2007.60`, and Newson et al., 2017, :DOI:`10.5201/ipol.2017.189`. That
       shows roughly what the hole looks like, and where similar things are.
    2. With the offsets of these matches, pieces of the image are cut out that fit together and to what is
       around; see `Montage`. On finer scales they stay, and their seams are moved.
    3. On the finest scale the pieces are blended; see `blended`.
    """
    if min(hole.shape) < PATCH_SIZE:
        return False
    scales = _scales(finest_scale(planes, hole, barred, unknown))
    if len(scales[0].sources) < MIN_SOURCES:
        return False
    small = (
        number
        for number, scale in enumerate(scales)
        if scale.depth.max() <= _MAX_CUT_DEPTH and scale.hole.sum() <= _MAX_CUT_PIXELS
    )
    first = next(small, len(scales) - 1)
    with single_threaded_blas:  # once: to set the number of threads takes longer than a small search
        field: PatchField | None = None
        for number in reversed(range(first, len(scales))):
            field = yield from _matched(scales[first:], number - first, field, rng, threads)
            planes[hole] = scales[number].seen_on(scales[0], scales[number].planes)
            yield _MATCHED * _done(scales[first:], number - first), True
        assert field is not None, "there is at least one scale"
        scale = scales[first]
        offsets: Ints = np.zeros((*scale.shape, 2), np.intp)
        offsets[scale.hole] = field.offsets()[best_matches(scale, field)]
        montage = Montage(scale, offsets, scale.planes[:, :, : scale.n_channels])
        for count, _ in enumerate(montage.cut()):
            yield _CUT - (_CUT - _MATCHED) * 0.98**count, False
        for number in reversed(range(first)):
            planes[hole] = scales[number + 1].seen_on(scales[0], montage.copied())
            yield _CUT + (1 - _CUT) * 4.0 ** -(number + 1) / 2, True
            montage = montage.finer(scales[number])
            for _ in montage.polish():
                yield _CUT + (1 - _CUT) * 4.0**-number / 2, False
        planes[hole] = blended(scales[0], montage.offsets)
    return True


def _scales(finest: Scale) -> list[Scale]:
    """Return the scales, the finest first, down to one on which the hole is shallow."""
    scales = [finest]
    while scales[-1].depth.max() > _MAX_DEPTH and min(scales[-1].shape) >= 2 * _MIN_LENGTH:
        coarser = scales[-1].halved()
        if len(coarser.sources) < MIN_SOURCES:
            break
        scales.append(coarser)
    return scales


def _matched(
    scales: list[Scale], number: int, coarser: PatchField | None, rng: np.random.Generator, threads: int
) -> Generator[Step, None, PatchField]:
    """Return the matches on one of some scales, by which its hole is filled, given those on the coarser."""
    scale, count = scales[number], _count(scales, number)
    field = _first_field(scale, coarser, rng, threads)
    for iteration in range(count):
        field.search(_N_SWEEPS)
        fill_by_best(scale, field)
        own, around = scale.texture[scale.hole], scale.texture_around[scale.hole]
        scale.texture[scale.hole] = own + np.float32(_TEXTURE_AROUND) * (around - own)
        field.comparison.update()
        yield _MATCHED * _done(scales, number, (iteration + 1) / count), False
    return field


def _count(scales: list[Scale], number: int) -> int:
    return (_N_ITERATIONS + _N_MORE * number) * (_COARSEST if number == len(scales) - 1 else 1)


def _done(scales: list[Scale], number: int, fraction: float = 1.0) -> float:
    """Return which part of all iterations is done with a fraction of those on one scale."""
    works = [_count(scales, each) * int(scale.hole.sum()) for each, scale in enumerate(scales)]
    return (sum(works[number + 1 :]) + works[number] * fraction) / sum(works)


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
    fill_by_best(scale, field)
    field.comparison.update()
    return field
