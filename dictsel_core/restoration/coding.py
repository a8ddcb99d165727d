"""Sparse coding: patches are coded, rebuilt, and a pixel becomes the median of all that cover it."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.arrays import any_in_windows, nonzero_2d
from dictsel_core._util.compiled import Kernel
from dictsel_core._util.parallel import map_chunks
from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.atoms.ground_set import duplicate_columns
from dictsel_core.pursuit.codes import scatter_codes
from dictsel_core.pursuit.columns import Pursuit
from dictsel_core.restoration._rebuild_kernels import PatchLimits, PatchTables, PlaneTables, rebuild
from dictsel_core.restoration.image import Planes

#: Writes patches with these rows and columns into an array, from some place on.
Rebuild = Callable[[Ints, Ints, Planes, int], None]

#: Maximum number of values of rebuilt patches in memory; bands are as tall as this allows.
_BAND_VALUES = 1 << 22
#: Patches that are rebuilt together, and pixels whose votes are gathered together.
_REBUILD_CHUNK, _VOTE_CHUNK = 4096, 4096
#: Largest dictionary that is coded by Gram matrices, which is faster up to there.
_MAX_ATOMS = 64
#: An atom is dependent on the selected ones if less than this many machine epsilons of its squared length are
#: orthogonal to them.
_DEPENDENCE_EPSILONS = 1e3
#: Minimum number of observed pixels of a patch if its missing pixels have no weight.
_MIN_OBSERVED = 4
#: Sum of the squared weights of a patch, of which a mean is taken, at least.
_MIN_WEIGHTS = np.float32(1e-6)
#: Smallest weight of missing pixels that have one: too small to matter beside observed pixels, and so large
#: that its fourth power does not vanish in float32.
_MIN_WEIGHT = 1e-6


class MirroredPatches:
    """The patches of an image that is mirrored at its borders, so that they cover every pixel equally often.

    Patch (i, j) covers the pixels from (i - size + 1, j - size + 1) to (i, j).
    """

    def __init__(self, shape: tuple[int, int], size: int) -> None:
        rows, columns = (np.pad(np.arange(length), size - 1, mode="symmetric") for length in shape)
        self._rows, self._columns = rows * shape[1], columns  # where rows begin, and numbers of columns
        self.size, self._offsets, self._shape = size, np.arange(size), shape

    @property
    def tables(self) -> tuple[NDArray[np.uintp], NDArray[np.uintp]]:
        """Where each row of the mirrored image begins, and the number of each column, for kernels."""
        return self._rows.view(np.uintp), self._columns.view(np.uintp)

    def are_inside(self, rows: Ints, columns: Ints) -> Bools:
        """Return which patches do not extend beyond the image: (B,)."""
        first, (height, width) = self.size - 1, self._shape
        inside: Bools = (rows >= first) & (rows < height) & (columns >= first) & (columns < width)
        return inside

    def pixels(self, rows: Ints, columns: Ints) -> Ints:
        """Return the pixels of some patches, counted row by row through the image: (B, size * size)."""
        down = self._rows.take(rows[:, None] + self._offsets)
        across = self._columns.take(columns[:, None] + self._offsets)
        return (down[:, :, None] + across[:, None, :]).reshape(len(rows), -1)


class SparseCoder:
    """Codes patches in a dictionary, rebuilds them, and counts how often each atom is used.

    The dictionary is (d, k) on square patches, of which a thinning of 1, 2 or 4 codes every one, every second
    or every fourth; every one if their height, `size`, is odd. `fill_weight` is that of the first estimate
    at missing pixels. With `literal`, every patch inside the image is coded, without a mean of its own.
    """

    def __init__(
        self,
        dictionary: Floats,
        sparsity: int,
        fill_weight: float,
        *,
        literal: bool = False,
        thinning: int = 1,
        threads: int = 1,
    ) -> None:
        atoms = dictionary.astype(np.float32)
        self.size, self._n_atoms = round(len(atoms) ** 0.5), atoms.shape[1]
        self._weight = np.float32(max(fill_weight, _MIN_WEIGHT) if fill_weight else 0.0)
        # Without a constant atom the mean could not be represented, so it is coded separately.
        self._literal = literal
        self._centered = not literal and not (np.abs(atoms.sum(axis=0)) > 0.999 * self.size).any()
        self._compiled: tuple[PatchTables, PatchLimits] | None = None
        if self._n_atoms <= _MAX_ATOMS:
            limits = PatchLimits(
                self._weight * self._weight,
                np.float32(_DEPENDENCE_EPSILONS * np.finfo(np.float32).eps),
                self._centered,
                min(sparsity, *atoms.shape),
                _MIN_OBSERVED if self._weight == 0 else 0,
            )
            self._compiled = _tables(atoms, self._weight), limits
        else:
            self._pursuit = Pursuit(atoms, sparsity)
            self._rows = np.ascontiguousarray(atoms.T)
        self._thinning, self._threads = 1 if literal or self.size % 2 else thinning, threads
        self._counts: list[tuple[Ints, int]] = []  # by chunk, appended to by all threads

    @property
    def usage(self) -> Ints:
        """How many of the coded patches use each atom: (k,)."""
        return sum((used for used, _ in self._counts), np.zeros(self._n_atoms, dtype=np.intp))

    @property
    def n_coded_patches(self) -> int:
        """How many patches have been coded."""
        return sum(count for _, count in self._counts)

    def estimates(
        self, filled: Planes, missing: Bools, wanted: Bools
    ) -> Iterator[tuple[slice, Ints, Planes]]:
        """Estimate the wanted pixels of planes that share a mask, band by band.

        Planes (H, W, C) are filled with a first estimate of every missing pixel, and C-contiguous. Yields as
        `median_of_patches` does, with values as in `filled` if no patch has an estimate.
        """
        n_channels = filled.shape[2]
        hidden = np.require(missing, requirements=["C", "W"])  # kernels are compiled for such arrays
        patches = MirroredPatches(missing.shape, self.size)

        def write(rows: Ints, columns: Ints, out: Planes, first: int) -> None:
            used = self.rebuild(filled, hidden, patches, rows, columns, out, first)
            self._counts.append((used, n_channels * len(rows)))
            if self._literal:
                out[:, first : first + len(rows)][:, ~patches.are_inside(rows, columns)] = np.nan

        for rows, pixels, medians in median_of_patches(
            wanted, self.size, n_channels, write, self._threads, thinning=self._thinning
        ):
            known = filled.reshape(-1, n_channels)[pixels]
            yield rows, pixels, np.where(np.isnan(medians), known, medians)

    def rebuild(
        self,
        filled: Planes,
        missing: Bools,
        patches: MirroredPatches,
        rows: Ints,
        columns: Ints,
        out: Planes,
        first: int,
    ) -> Ints:
        """Code patches, write them as they are rebuilt, and return how many use each atom: (k,).

        They are written to `out`, (C, N, d), from `first` on: NaN if too few of their pixels are observed. It
        may be called from several threads.
        """
        flat, hidden = filled.reshape(-1), missing.reshape(-1)
        if self._compiled is not None:
            usage, given = np.zeros(self._n_atoms, np.intp), hidden.view(np.uint8)
            rebuild(
                PlaneTables(flat, given, *patches.tables), rows, columns, *self._compiled, first, out, usage
            )
            return usage
        pixels = patches.pixels(rows, columns)
        weights = np.where(hidden.take(pixels), self._weight, np.float32(1))
        data = np.stack([filled[:, :, channel].take(pixels) for channel in range(len(out))])
        out[:, first : first + len(rows)], supports = self._rebuild_large(data, weights)
        return np.bincount(supports[supports >= 0], minlength=self._n_atoms)

    def _rebuild_large(self, values: Planes, weights: Planes) -> tuple[Planes, Ints]:
        """Return patches (C, B, d), whose channels share weights (B, d), rebuilt, and their supports."""
        means = np.zeros((*values.shape[:2], 1), np.float32)
        if self._centered:
            squares = np.square(weights)
            sums = np.maximum(squares.sum(axis=1), _MIN_WEIGHTS)
            means = (np.vecdot(values, squares) / sums)[:, :, None]
        weighted = (values - means) * weights
        rebuilt, found = np.empty_like(values), []
        for channel, data in enumerate(weighted):
            supports, coefficients, _ = self._pursuit(data, weights)
            codes = np.zeros((len(supports), self._n_atoms), np.float32)
            scatter_codes(codes, supports, coefficients)
            rebuilt[channel] = codes @ self._rows + means[channel]
            found.append(supports)
        if self._weight == 0:
            rebuilt[:, (weights > 0).sum(axis=1) < _MIN_OBSERVED] = np.nan
        return rebuilt, np.concatenate(found)


def _tables(atoms: Floats, weight: np.float32) -> PatchTables:
    """Return what the kernel needs to know of a dictionary (d, k), given the weight of missing pixels."""
    n_atoms = atoms.shape[1]
    rows, columns = np.triu_indices(n_atoms)
    pairs, places = atoms[:, rows] * atoms[:, columns], np.empty((n_atoms, n_atoms), np.uintp)
    places[rows, columns] = places[columns, rows] = np.arange(len(rows))
    return PatchTables(
        np.concatenate([(pairs * (1 - weight * weight)).ravel(), np.zeros(len(rows), np.float32)]),
        pairs.sum(axis=0),
        places.ravel(),
        np.ascontiguousarray(atoms.T).ravel(),
        ~duplicate_columns(atoms),
    )


def median_of_patches(
    wanted: Bools, size: int, n_channels: int, rebuild: Rebuild, threads: int, *, thinning: int = 1
) -> Iterator[tuple[slice, Ints, Planes]]:
    """Yield (rows, pixels, medians) for bands of an image, top to bottom.

    Only patches that cover a wanted pixel (H, W) are rebuilt, and only wanted pixels get votes, so the work
    is in proportion to these. They are counted row by row through the image, and their medians are (N, C),
    NaN where there is no estimate. At most a band of rebuilt patches is in memory at a time. The pixels of a
    band may be overwritten as soon as it is yielded: no patch that is rebuilt later covers them. `rebuild` is
    called from several threads. A thinning of 1 uses every patch; 2 every second one, as on a checkerboard,
    and 4 those of even rows and columns, for which `size` must be even.
    """
    width = wanted.shape[1]
    useful = _useful_patches(wanted, size, thinning)
    rebuilt = _RebuiltPatches(useful, size, n_channels, rebuild, threads)
    offsets = _vote_offsets(size, useful.shape[1], thinning)
    bands = list(_bands(useful, size, n_channels))
    rebuilt.advance(bands[0])
    for rows, following in zip(bands, [*bands[1:], None], strict=True):
        pixels = rows.start * width + np.flatnonzero(wanted[rows])
        medians = np.empty((len(pixels), n_channels), np.float32)

        def work(start: int, stop: int, pixels: Ints = pixels, medians: Planes = medians) -> None:
            row, column = np.divmod(pixels[start:stop], width)
            for votes, channel in rebuilt.votes(row, column, _phase(row, column, thinning), offsets):
                medians[start:stop, channel] = median_of_rows(votes)

        for _ in map_chunks(work, len(pixels), _VOTE_CHUNK, threads):
            pass
        if following is not None:
            rebuilt.advance(following)
        yield rows, pixels, medians


def _phase(rows: Ints, columns: Ints, thinning: int) -> Ints:
    """Return which of the `thinning` interleaved patterns of patches or pixels each position belongs to."""
    if thinning == 4:
        return 2 * (rows % 2) + columns % 2
    return (rows + columns) % thinning


def _useful_patches(wanted: Bools, size: int, thinning: int) -> Bools:
    """Return which patches are used and cover a wanted pixel: (H + size - 1, W + size - 1)."""
    useful = any_in_windows(np.pad(wanted, size - 1), size)
    if thinning > 1:
        useful[0::2, 1::2] = useful[1::2, 0::2] = False
    if thinning == 4:
        useful[1::2, 1::2] = False
    return useful


def _bands(useful: Bools, size: int, n_channels: int) -> Iterator[slice]:
    """Divide the rows of an image so that a band has neither too many patches nor too many positions."""
    n_rows, n_columns = useful.shape
    height = n_rows - size + 1
    totals = np.concatenate([[0], np.cumsum(useful.sum(axis=1))])
    max_rows = max(2 * size, _BAND_VALUES // n_columns)
    top = 0
    while top < height:
        most = totals[top] + _BAND_VALUES // (size**2 * n_channels)
        fitting = int(np.searchsorted(totals, most, side="right")) - size
        bottom = min(max(fitting, top + 2 * size), top + max_rows, height)
        yield slice(top, bottom)
        top = bottom


def _vote_offsets(size: int, n_columns: int, thinning: int) -> tuple[Ints, Ints]:
    """Return where the votes for a pixel are: offsets of its patches, and of the pixel within each of them.

    Both are (thinning, votes): which patches cover a pixel depends on its phase.
    """
    down, right = (each.ravel() for each in np.indices((size, size)))
    patches, inner = down * n_columns + right, (size - 1 - down) * size + size - 1 - right
    order = np.argsort(_phase(down, right, thinning), kind="stable")
    return patches[order].reshape(thinning, -1), inner[order].reshape(thinning, -1)


class _RebuiltPatches:
    """The rebuilt patches that cover the rows of a band, one after the other.

    Those to rebuild are given by their positions: (H + size - 1, W + size - 1).
    """

    def __init__(self, useful: Bools, size: int, n_channels: int, rebuild: Rebuild, threads: int) -> None:
        self._useful, self._size, self._rebuild, self._threads = useful, size, rebuild, threads
        self._top, self._bottom = 0, 0  # rows of patches
        self._patches = np.empty((n_channels, 0, size * size), np.float32)
        self._slots = np.empty(0, np.int32)

    def advance(self, rows: slice) -> None:
        """Go on to the band with these rows of pixels; patches shared with the previous one are kept."""
        (n_channels, n_before, d), stop = self._patches.shape, rows.stop + self._size - 1
        n_kept = int(np.count_nonzero(self._useful[rows.start : self._bottom]))
        patch_rows, columns = nonzero_2d(self._useful[self._bottom : stop])
        patch_rows += self._bottom
        patches = np.empty((n_channels, n_kept + len(columns), d), np.float32)
        patches[:, :n_kept] = self._patches[:, n_before - n_kept :]

        def work(start: int, stop: int) -> None:
            self._rebuild(patch_rows[start:stop], columns[start:stop], patches, n_kept + start)

        for _ in map_chunks(work, len(columns), _REBUILD_CHUNK // n_channels, self._threads):
            pass
        self._top, self._bottom, self._patches = rows.start, stop, patches
        self._slots = np.zeros((stop - rows.start) * self._useful.shape[1], np.int32)
        self._slots[np.flatnonzero(self._useful[rows.start : stop])] = np.arange(patches.shape[1])

    def votes(
        self, rows: Ints, columns: Ints, phases: Ints, offsets: tuple[Ints, Ints]
    ) -> Iterator[tuple[Planes, int]]:
        """Yield all values of some pixels, (N, votes), and their channel; until the next one is asked for."""
        first = (rows - self._top) * self._useful.shape[1] + columns
        votes = np.empty((len(rows), offsets[0].shape[1]), np.float32)
        for channel, values in enumerate(self._patches):
            _gather_votes(values, self._slots, first, phases, offsets, votes)
            yield votes, channel


@Kernel
def _gather_votes(
    values: Planes,
    slots: NDArray[np.int32],
    first: Ints,
    phases: Ints,
    offsets: tuple[Ints, Ints],
    votes: Planes,
) -> None:
    """Write all values of pixels (B, votes), from patches (n, d), of which slots are the positions.

    Of a pixel, `first` is the position of its first patch; those of all its patches, and its place in each,
    are offsets, (phases, votes), which depend on its phase.
    """
    steps, inner = offsets
    for b in range(len(first)):
        position, phase = first[b], phases[b]
        for vote in range(votes.shape[1]):
            votes[b, vote] = values[slots[position + steps[phase, vote]], inner[phase, vote]]


def median_of_rows(votes: Planes) -> Planes:
    """Return the median of each row, ignoring NaN; NaN if there is nothing else. Reorders `votes`."""
    n_votes = votes.shape[1]
    votes.sort(axis=1)  # several times faster than to find both middle values; NaN come last
    if not np.isnan(votes[:, -1]).any():
        return np.asarray((votes[:, (n_votes - 1) // 2] + votes[:, n_votes // 2]) / 2, np.float32)
    counts = n_votes - np.isnan(votes).sum(axis=1)
    rows = np.arange(len(votes))
    # Without any vote both indices point to a NaN.
    middle = votes[rows, np.maximum(counts - 1, 0) // 2] + votes[rows, counts // 2]
    return np.asarray(middle / 2, np.float32)
