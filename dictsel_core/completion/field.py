"""For each patch that touches a hole, a similar patch elsewhere."""

import numpy as np

from dictsel_core._support.threads import map_chunks
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.completion.comparison import Comparison
from dictsel_core.completion.scale import Scale, Single, touching
from dictsel_core.completion.search import improve

#: Patches that are compared together.
_CHUNK = 1024
#: Distances at which patches take over the matches of each other, sweep by sweep.
_JUMPS = [
    np.array(
        [
            (down * distance, across * distance)
            for distance in distances
            for down, across in ((0, 1), (1, 0), (0, -1), (-1, 0))
        ]
    )
    for distances in ((1, 8), (1, 3))
]


class PatchField:
    """The match of each patch that touches the hole, found by PatchMatch [1]_.

    Patches are counted row by row through all patches of the scale. Unlike in the original, all patches are
    compared at once, in whole-array operations, with the matches that the others had before.

    Parameters
    ----------
    scale : Scale
        With at least one source.
    rng : numpy.random.Generator
    threads : int
        The result does not depend on it.

    Attributes
    ----------
    shape : (int, int)
        Rows and columns of patches.
    targets : (N,) ndarray of int
        The patches that touch the hole.
    matches : (N,) ndarray of int
        The most similar source of each, so far.
    distances : (N,) ndarray of float64
        Weighted squared distances to these, when they were last compared; infinite before that.

    References
    ----------
    .. [1] C. Barnes, E. Shechtman, A. Finkelstein and D. B. Goldman, "PatchMatch: a randomized correspondence
       algorithm for structural image editing", ACM Transactions on Graphics 28(3), 2009.
       :DOI:`10.1145/1531326.1531330`
    """

    def __init__(self, scale: Scale, rng: np.random.Generator, threads: int) -> None:
        self._scale, self._rng, self._threads = scale, rng, threads
        is_target = touching(scale.hole)
        self.shape = (is_target.shape[0], is_target.shape[1])
        self.targets = np.flatnonzero(is_target)
        self.numbers = _numbered(self.targets, is_target.size)
        sources = scale.sources
        self.source_numbers = _numbered(sources, is_target.size)
        self.is_source = self.source_numbers >= 0
        self.comparison = Comparison(scale)
        self.matches = sources[rng.integers(0, len(sources), len(self.targets))]
        self.distances = np.full(len(self.targets), np.inf)

    def inherit(self, coarser: "PatchField") -> None:
        """Start from the matches on the coarser scale, where these are sources."""
        y, x = np.divmod(self.targets, self.shape[1])
        height, width = coarser.shape
        parents = coarser.numbers[np.minimum(y // 2, height - 1) * width + np.minimum(x // 2, width - 1)]
        rows, columns = np.divmod(coarser.matches[parents], width)
        places, is_source = self.as_sources(2 * rows + y % 2, 2 * columns + x % 2)
        self.matches = np.where(is_source & (parents >= 0), places, self.matches)

    def search(self, n_sweeps: int) -> None:
        """Improve the matches, by those of neighbors and by random ones at smaller and smaller distances."""
        radii = 2.0 ** np.arange(np.floor(np.log2(max(self.shape))), -1, -1)
        for sweep in range(n_sweeps):
            before = self.matches.copy()
            shape = (len(radii), 2, len(self.targets))
            steps = np.rint(radii[:, None, None] * self._rng.uniform(-1, 1, shape)).astype(np.intp)
            steps = np.ascontiguousarray(steps.transpose(2, 0, 1))  # those of a target together
            jumps = _JUMPS[sweep % len(_JUMPS)]

            def work(
                start: int, stop: int, before: Ints = before, jumps: Ints = jumps, steps: Ints = steps
            ) -> None:
                improve(self, slice(start, stop), before, jumps, steps[start:stop])

            for _ in map_chunks(work, len(self.targets), _CHUNK, self._threads):
                pass

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

    def corrections(self) -> Single:
        """Return what is added to the channels of each match when it is copied: (N, C)."""
        return self.comparison.corrections(self.targets, self.matches)

    def as_sources(self, rows: Ints, columns: Ints) -> tuple[Ints, Bools]:
        """Return patches by their number, and which are sources; the others have any number."""
        height, width = self.shape
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        places = np.where(inside, rows * width + columns, 0)
        return places, inside & (self.source_numbers[places] >= 0)


def _numbered(places: Ints, n_places: int) -> Ints:
    """Return the number of each place in a list of places, -1 if it is not there: (n_places,)."""
    numbers: Ints = np.full(n_places, -1, np.intp)
    numbers[places] = np.arange(len(places))
    return numbers
