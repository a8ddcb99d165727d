"""For each patch that touches a hole, a similar patch elsewhere, and the hole filled with them."""

from functools import partial

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dictsel_core._util.parallel import map_chunks
from dictsel_core._util.validation import Floats, Ints
from dictsel_core.completion.comparison import Comparison, improve_matches
from dictsel_core.completion.scale import N_TEXTURE, PATCH_SIZE, Scale, touching

#: Patches that are compared together.
_CHUNK = 1024
#: Distances at which patches take over the matches of each other, sweep by sweep.
_SIDES = np.array([(0, 1), (1, 0), (0, -1), (-1, 0)])
_JUMPS = [np.concatenate([near * _SIDES, far * _SIDES]) for near, far in ((1, 8), (1, 3))]
#: The weight of a patch decreases by this factor with each pixel of its distance from the border of the hole.
_DEPTH_BASE = 1.4
#: Percentile of the distances at which the weight of a match is exp(-1).
_PERCENTILE = 90
#: Limits of the exponents, so that no weight is zero.
_MAX_DEPTH, _MAX_EXPONENT = 60, 30.0
#: Pixels of a layer that are filled together; weight of the smooth estimate, relative to known pixels.
_LAYER_CHUNK, _SMOOTH_WEIGHT = 64, 0.3


class PatchField:
    """The match of each patch that touches the hole of a scale with sources, found by PatchMatch.

    See Barnes et al., 2009, :DOI:`10.1145/1531326.1531330`. Patches are counted row by row through all
    patches of the scale. Unlike in the original, all are compared with the matches that the others had before
    the sweep, so threads do not change the result.
    """

    def __init__(self, scale: Scale, rng: np.random.Generator, threads: int) -> None:
        self._scale, self._rng, self._threads = scale, rng, threads
        is_target = touching(scale.hole)
        self.shape = (is_target.shape[0], is_target.shape[1])
        self.targets = np.flatnonzero(is_target)  #: The patches that touch the hole.
        self.numbers: Ints = np.full(is_target.size, -1)  #: Of each target, -1 for other patches.
        self.numbers[self.targets] = np.arange(len(self.targets))
        sources = scale.sources
        self.is_source = np.zeros(is_target.size, bool)
        self.is_source[sources] = True
        self.comparison = Comparison(scale)
        self.matches = sources[rng.integers(0, len(sources), len(self.targets))]
        self.distances = np.full(len(self.targets), np.inf)  #: When they were last compared.

    def inherit(self, coarser: "PatchField") -> None:
        """Start from the matches on the coarser scale, where these are sources."""
        y, x = np.divmod(self.targets, self.shape[1])
        height, width = coarser.shape
        parents = coarser.numbers[np.minimum(y // 2, height - 1) * width + np.minimum(x // 2, width - 1)]
        rows, columns = np.divmod(coarser.matches[parents], width)
        rows, columns = 2 * rows + y % 2, 2 * columns + x % 2
        inside = (parents >= 0) & (rows < self.shape[0]) & (columns < self.shape[1])
        places = np.where(inside, rows * self.shape[1] + columns, 0)
        self.matches = np.where(inside & self.is_source[places], places, self.matches)

    def search(self, n_sweeps: int) -> None:
        """Improve the matches, by those of neighbors and by random ones at smaller and smaller distances."""
        radii = 2.0 ** np.arange(np.floor(np.log2(max(self.shape))), -1, -1)
        for sweep in range(n_sweeps):
            before = self.matches.copy()
            shape = (len(radii), 2, len(self.targets))
            steps = np.rint(radii[:, None, None] * self._rng.uniform(-1, 1, shape)).astype(np.intp)
            steps = np.ascontiguousarray(steps.transpose(2, 0, 1))  # those of a target together
            work = partial(self._improve, before, _JUMPS[sweep % len(_JUMPS)], steps)
            for _ in map_chunks(work, len(self.targets), _CHUNK, self._threads):
                pass

    def _improve(self, before: Ints, jumps: Ints, steps: Ints, start: int, stop: int) -> None:
        part, compared, distances = slice(start, stop), self.comparison, np.empty(stop - start, np.int64)
        rows = compared.pixels.reshape(len(compared.pixels), -1)
        improve_matches(
            (rows, compared.texture, compared.sums, self.numbers, self.is_source),
            self.shape,
            self.targets[part],
            before,
            jumps,
            steps[part],
            self.matches[part],
            distances,
        )
        self.distances[part] = distances * compared.unit

    def search_all(self) -> None:
        """Find the best of all matches; for coarse scales."""
        sources = self._scale.sources
        source_vectors = self.comparison.vectors(sources)
        norms = np.vecdot(source_vectors, source_vectors)

        def work(start: int, stop: int) -> None:
            part = self.comparison.vectors(self.targets[start:stop])
            distances = norms - 2 * part @ source_vectors.T
            best = distances.argmin(axis=1)
            self.matches[start:stop] = sources[best]
            self.distances[start:stop] = np.maximum(distances.min(axis=1) + np.vecdot(part, part), 0)

        for _ in map_chunks(work, len(self.targets), _CHUNK // 8, self._threads):
            pass

    def offsets(self) -> Ints:
        """Return how many rows and columns the matches are from their targets: (N, 2)."""
        ends = (np.divmod(each, self.shape[1]) for each in (self.matches, self.targets))
        (rows, columns), (from_rows, from_columns) = ends
        return np.stack([rows - from_rows, columns - from_columns], axis=1)


def fill_by_layers(scale: Scale, threads: int) -> None:
    """Fill the hole of a coarse scale from outside: the "onion peel" of Newson et al., section 3.4.

    Each pixel becomes the middle of the source that is nearest to what is known or filled around it.
    """
    size, n_layers = PATCH_SIZE, scale.planes.shape[2]
    patches = sliding_window_view(scale.planes, (size, size), axis=(0, 1))
    unknown = scale.hole.copy()
    unknown_patches = sliding_window_view(unknown, (size, size))
    shape = unknown_patches.shape[:2]
    source_rows, source_columns = np.divmod(scale.sources, shape[1])
    sources = patches[source_rows, source_columns].reshape(len(source_rows), -1)
    squares = np.square(sources)
    trust = np.full((n_layers, 1), _SMOOTH_WEIGHT, np.float32)
    trust[-N_TEXTURE:] = 0  # there is none in the smooth estimate
    for layer in range(1, int(scale.depth.max()) + 1):
        y, x = np.nonzero(scale.depth == layer)
        top, left = (np.clip(at - size // 2, 0, n - 1) for at, n in zip((y, x), shape, strict=True))

        def nearest(start: int, stop: int, top: Ints = top, left: Ints = left) -> Ints:
            at = top[start:stop], left[start:stop]
            known = ~unknown_patches[at].reshape(len(at[0]), 1, -1)
            weights = np.where(known, np.float32(1), trust).reshape(len(known), -1)
            values = patches[at].reshape(len(known), -1) * weights
            return np.asarray((weights @ squares.T - 2 * values @ sources.T).argmin(axis=1))

        best = np.concatenate(list(map_chunks(nearest, len(y), _LAYER_CHUNK, threads)))
        scale.planes[y, x] = scale.planes[source_rows[best] + y - top, source_columns[best] + x - left]
        unknown[y, x] = False


def fill_by_best(scale: Scale, field: PatchField) -> None:
    """Fill the hole of a scale with the match of most weight at each pixel, which blurs nothing."""
    pixels = scale.planes.reshape(-1, scale.planes.shape[2])
    hole, best = np.flatnonzero(scale.hole), best_matches(scale, field)
    sources = hole + field.offsets()[best] @ np.array([scale.shape[1], 1])
    corrections = field.comparison.corrections(field.targets, field.matches)
    corrections = np.pad(corrections, [(0, 0), (0, N_TEXTURE)])
    pixels[hole] = pixels[sources] + corrections[best]


def best_matches(scale: Scale, field: PatchField) -> Ints:
    """Return which match has the most weight at each pixel of the hole, as its number in the field: (N,)."""
    weights, size = _weights(scale, field), scale.hole.size
    targets = np.ravel_multi_index(np.divmod(field.targets, field.shape[1]), scale.shape)
    largest, best = np.full(size, -1.0), np.zeros(size, np.intp)
    for down in range(PATCH_SIZE):
        for across in range(PATCH_SIZE):
            places = targets + down * scale.shape[1] + across
            better = np.flatnonzero(weights > largest[places])
            largest[places[better]], best[places[better]] = weights[better], better
    return np.asarray(best[scale.hole.ravel()])


def _weights(scale: Scale, field: PatchField) -> Floats:
    """Return the weight of each match: (N,)."""
    y, x = np.divmod(field.targets, field.shape[1])
    middle = PATCH_SIZE // 2
    depth = np.minimum(scale.depth[y + middle, x + middle], _MAX_DEPTH)
    weights = np.float32(_DEPTH_BASE) ** -depth.astype(np.float32)
    if np.isfinite(field.distances).all():
        usual = max(float(np.percentile(field.distances, _PERCENTILE)), 1e-8)
        weights *= np.exp(-np.minimum(field.distances / usual, _MAX_EXPONENT))
    return np.asarray(weights, np.float64)
