"""For each patch that touches a hole, a similar patch elsewhere."""

import numpy as np

from dictsel_core._threads import map_chunks
from dictsel_core._validation import Bools, Ints
from dictsel_core.completion.scale import N_TEXTURE, PATCH_SIZE, Scale, Single, touching

#: Patches that are compared together.
_CHUNK = 1024
#: Distances at which patches take over the matches of each other, sweep by sweep.
_JUMPS = ((1, 8), (1, 3))
#: Weight of the texture around a patch, as a multiple of that of one pixel.
_TEXTURE_WEIGHT = 100.0
#: Weight of a difference of means; the rest of it is corrected when a match is copied. Brightness may vary.
_MEAN_WEIGHT = 0.15


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
    distances : (N,) ndarray of float32
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
        self.described_sources = self._describe(sources)
        self.matches = sources[rng.integers(0, len(sources), len(self.targets))]
        self.distances = np.full(len(self.targets), np.inf, np.float32)

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
        described = self._describe(self.targets)
        self.distances = np.full(len(self.targets), np.inf, np.float32)
        radii = 2.0 ** np.arange(np.floor(np.log2(max(self.shape))), -1, -1)
        for sweep in range(n_sweeps):
            before = self.matches.copy()
            shape = (len(radii), 2, len(self.targets))
            steps = np.rint(radii[:, None, None] * self._rng.uniform(-1, 1, shape)).astype(np.intp)
            jumps = [
                (down * distance, across * distance)
                for distance in _JUMPS[sweep % len(_JUMPS)]
                for down, across in ((0, 1), (1, 0), (0, -1), (-1, 0))
            ]

            def work(
                start: int,
                stop: int,
                before: Ints = before,
                steps: Ints = steps,
                jumps: list[tuple[int, int]] = jumps,
            ) -> None:
                chunk = _Chunk(self, slice(start, stop), described[start:stop])
                for jump in jumps:
                    chunk.propagate(before, *jump)
                for step in steps[:, :, start:stop]:
                    chunk.perturb(step)

            for _ in map_chunks(work, len(self.targets), _CHUNK, self._threads):
                pass

    def search_all(self) -> None:
        """Find the best of all matches; for coarse scales."""
        described = self._describe(self.targets)
        norms = np.square(self.described_sources).sum(axis=1)
        sources = self._scale.sources

        def work(start: int, stop: int) -> None:
            part = described[start:stop]
            distances = norms - 2 * part @ self.described_sources.T
            best = distances.argmin(axis=1)
            self.matches[start:stop] = sources[best]
            self.distances[start:stop] = np.maximum(distances.min(axis=1) + np.vecdot(part, part), 0)

        for _ in map_chunks(work, len(self.targets), _CHUNK // 8, self._threads):
            pass

    def corrections(self) -> Single:
        """Return what is added to the channels of each match when it is copied: (N, C)."""
        patches, result = (
            self._scale.patches(),
            np.empty((len(self.targets), self._scale.n_channels), np.float32),
        )
        for start in range(0, len(result), _CHUNK):
            part = slice(start, start + _CHUNK)
            target, match = (
                patches[np.divmod(each[part], self.shape[1])].mean(axis=(2, 3))
                for each in (self.targets, self.matches)
            )
            result[part] = (1 - _MEAN_WEIGHT) * (target - match)
        return result

    def as_sources(self, rows: Ints, columns: Ints) -> tuple[Ints, Bools]:
        """Return patches by their number, and which are sources; the others have any number."""
        height, width = self.shape
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        places = np.where(inside, rows * width + columns, 0)
        return places, inside & (self.source_numbers[places] >= 0)

    def _describe(self, patches: Ints) -> Single:
        """Return what patches are compared by: (N, d)."""
        planes, n_channels = self._scale.planes, self._scale.n_channels
        all_patches, middle = self._scale.patches(), PATCH_SIZE // 2
        result = np.empty((len(patches), n_channels * PATCH_SIZE**2 + N_TEXTURE), np.float32)
        for start in range(0, len(patches), _CHUNK):
            part = result[start : start + _CHUNK]
            y, x = np.divmod(patches[start : start + _CHUNK], self.shape[1])
            values = all_patches[y, x].reshape(len(part), n_channels, -1)
            values -= (1 - np.sqrt(np.float32(_MEAN_WEIGHT))) * values.mean(axis=2, keepdims=True)
            part[:, :-N_TEXTURE] = values.reshape(len(part), -1)
            part[:, -N_TEXTURE:] = planes[y + middle, x + middle, n_channels:]
        result[:, -N_TEXTURE:] *= np.sqrt(_TEXTURE_WEIGHT * n_channels)
        return result


class _Chunk:
    """Some of the targets; their matches are those of the field."""

    def __init__(self, field: PatchField, part: slice, described: Single) -> None:
        self._field, self._described = field, described
        self._matches, self._distances = field.matches[part], field.distances[part]
        self._y, self._x = np.divmod(field.targets[part], field.shape[1])
        self._compare(np.arange(len(self._y)), self._matches)

    def propagate(self, matches: Ints, down: int, across: int) -> None:
        """Try the given matches of the patches this far before, moved by as much."""
        height, width = self._field.shape
        y, x = self._y - down, self._x - across
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        numbers = self._field.numbers[np.where(inside, y * width + x, 0)]
        rows, columns = np.divmod(matches[numbers], width)
        self._try(rows + down, columns + across, inside & (numbers >= 0))

    def perturb(self, step: Ints) -> None:
        """Try the patches this far from the matches: (2, N)."""
        rows, columns = np.divmod(self._matches, self._field.shape[1])
        self._try(rows + step[0], columns + step[1], np.asarray(step.any(axis=0)))

    def _try(self, rows: Ints, columns: Ints, valid: Bools) -> None:
        places, is_source = self._field.as_sources(rows, columns)
        at = np.flatnonzero(valid & is_source & (places != self._matches))
        self._compare(at, places[at])

    def _compare(self, at: Ints, places: Ints) -> None:
        """Compare targets with sources, and keep those that are nearer than the matches."""
        difference = self._field.described_sources.take(self._field.source_numbers[places], axis=0)
        difference -= self._described[at]
        distances = np.vecdot(difference, difference)
        nearer = distances < self._distances[at]
        self._distances[at[nearer]] = distances[nearer]
        self._matches[at[nearer]] = places[nearer]


def _numbered(places: Ints, n_places: int) -> Ints:
    """Return the number of each place in a list of places, -1 if it is not there: (n_places,)."""
    numbers: Ints = np.full(n_places, -1, np.intp)
    numbers[places] = np.arange(len(places))
    return numbers
