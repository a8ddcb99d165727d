"""Copied pieces without their seams: their gradients are kept, their light is that of what is around."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import cg

from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.completion.scale import Scale, Single

#: Weight of the values themselves, relative to that of their differences.
_SCREEN = 0.003
#: Where two pieces differ by this much (root of the sum of squares over so many channels), the difference of
#: neighbors between them has half its weight.
_TOLERANCE, _N_CHANNELS = 0.25, 3
#: Relative error of the equations, and iterations to solve them.
_ERROR, _N_ITERATIONS = 1e-4, 500


def blended(scale: Scale, offsets: Ints) -> Single:
    """Return the hole of a scale, copied by the offsets of a `Montage` and blended: (N, C).

    It is the least-squares solution for the differences of neighbors that the copies have, those across
    seams and the border included, and with little weight for the copies themselves: the screened Poisson
    equation of Darabi et al., "Image melding", 2012, :DOI:`10.1145/2185520.2185578`. Differences across
    strong seams have less weight, so that no color bleeds over them.
    """
    pixels = scale.planes[:, :, : scale.n_channels].reshape(scale.hole.size, -1).astype(np.float64)
    hole, width = np.flatnonzero(scale.hole), scale.shape[1]
    sources = np.arange(scale.hole.size) + offsets[:, :, 0].ravel() * width + offsets[:, :, 1].ravel()
    copied = pixels[sources[hole]]
    matrix, right = _equations(scale, pixels, sources, copied)
    result = np.empty_like(copied)
    for channel in range(copied.shape[1]):
        result[:, channel], _ = cg(
            matrix, right[:, channel], x0=copied[:, channel], rtol=_ERROR, maxiter=_N_ITERATIONS
        )
    known = pixels[~scale.unknown.ravel()]
    return np.asarray(np.clip(result, known.min(axis=0), known.max(axis=0)), np.float32)


def _equations(scale: Scale, pixels: Floats, sources: Ints, copied: Floats) -> tuple[csr_array, Floats]:
    """Return the matrix (N, N) and the right side (N, C) for the pixels of a hole and their neighbors."""
    hole, unknown, width, n = scale.hole.ravel(), scale.unknown.ravel(), scale.shape[1], len(copied)
    numbers = np.full(hole.size, -1)
    numbers[hole] = np.arange(n)
    diagonal, right = np.full(n, _SCREEN), _SCREEN * copied
    ends: list[tuple[Ints, Ints]] = [(np.arange(n), np.arange(n))]
    values: list[Floats] = [diagonal]
    for step in (1, width):
        first = np.arange(hole.size - step)
        first = first[(hole[first] | hole[first + step]) & (step > 1 or (first + 1) % width > 0)]
        second = first + step
        change, weights = _wanted(pixels, sources, hole, unknown, first, second)
        for sign, here, there in ((-1.0, first, second), (1.0, second, first)):
            inside, at_border = hole[here], hole[here] & ~hole[there]
            diagonal += np.bincount(numbers[here[inside]], weights[inside], n)
            wanted = sign * weights[:, None] * change
            wanted[at_border] += weights[at_border, None] * pixels[there[at_border]]
            np.add.at(right, numbers[here[inside]], wanted[inside])
            both = hole[here] & hole[there]
            ends.append((numbers[here[both]], numbers[there[both]]))
            values.append(-weights[both])
    places = tuple(np.concatenate(each) for each in zip(*ends, strict=True))
    return csr_array((np.concatenate(values), places), shape=(n, n)), right


def _wanted(
    pixels: Floats, sources: Ints, hole: Bools, unknown: Bools, first: Ints, second: Ints
) -> tuple[Floats, Floats]:
    """Return the differences (P, C) of neighbors, the mean of both pieces' known ones, and weights (P,)."""
    step = second - first
    values, is_known = [], []
    change, total = np.zeros((len(first), pixels.shape[1])), np.zeros((len(first), 1))
    for here, before in ((first, sources[first]), (second, sources[second] - step)):
        ends = [np.clip(each, 0, len(pixels) - 1) for each in (before, before + step)]
        values.append([pixels[end] for end in ends])
        is_known.append([~unknown[end] for end in ends])
        counts = (is_known[-1][0] & is_known[-1][1] & hole[here])[:, None]
        change, total = change + counts * (values[-1][1] - values[-1][0]), total + counts
    gap = np.zeros(len(first))
    for end in range(2):
        both = is_known[0][end] & is_known[1][end]
        gap += both * np.square(values[0][end] - values[1][end]).mean(axis=1)
    weights = 1 / (1 + _N_CHANNELS * gap / _TOLERANCE**2)
    return np.asarray(change / np.maximum(total, 1)), np.asarray(weights)
