"""Patches of an image, and the median of all patches that cover a pixel."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from dictsel_core._arrays import Scalar
from dictsel_core._threads import map_chunks
from dictsel_core._validation import Bools, Floats, Ints

Single = NDArray[np.float32]

#: Maximum number of values of rebuilt patches in memory; bands are as tall as this allows.
_BAND_VALUES = 1 << 22
#: Patches that are rebuilt together, and pixels whose votes are gathered together.
_REBUILD_CHUNK, _VOTE_CHUNK = 4096, 4096


def all_patches(plane: NDArray[Scalar], size: int) -> NDArray[Scalar]:
    """Return a view of all size x size patches: (H - size + 1, W - size + 1, size, size)."""
    return sliding_window_view(plane, (size, size))


def pad(plane: NDArray[Scalar], size: int) -> NDArray[Scalar]:
    """Mirror a plane at its borders so that size * size patches cover every pixel."""
    return np.pad(plane, size - 1, mode="symmetric")


def median_of_patches(
    shape: tuple[int, int],
    size: int,
    rebuild: Callable[[Ints, Ints], Floats],
    wanted: Bools,
    threads: int,
    *,
    checkered: bool = False,
) -> Iterator[tuple[slice, Ints, Single]]:
    """Yield (rows, pixels, medians) for bands of an image, top to bottom.

    Only patches that cover a wanted pixel are rebuilt, and only wanted pixels get votes, so the work is in
    proportion to these. At most a band of rebuilt patches is in memory at a time.

    Parameters
    ----------
    shape : (int, int)
        Height and width H, W of the image, without padding.
    size : int
        Height and width of a patch. Patch (i, j) of the *padded* image covers the pixels from
        (i - size + 1, j - size + 1) to (i, j).
    rebuild : callable
        Takes rows and columns of patches, (B,) each, and returns their values (B, size * size); NaN for
        a patch without an estimate. Called from several threads.
    wanted : (H, W) ndarray of bool
        Pixels whose median is wanted.
    threads : int
    checkered : bool
        Use every second patch only, those (i, j) with i + j even; `size` must be even.

    Yields
    ------
    rows : slice
        Rows of the image.
    pixels : (N,) ndarray of int
        Wanted pixels of these rows, counted row by row through the image.
    medians : (N,) ndarray of float32
        NaN where there is no estimate.
    """
    width = shape[1]
    useful = _useful_patches(wanted, size)
    if checkered:
        useful[0::2, 1::2] = useful[1::2, 0::2] = False
    rebuilt = _RebuiltPatches(useful, size, rebuild, threads)
    offsets = _vote_offsets(size, useful.shape[1], checkered)
    for rows in _bands(useful, size):
        rebuilt.advance(rows)
        pixels = rows.start * width + np.flatnonzero(wanted[rows])
        medians = np.empty(len(pixels), np.float32)

        def work(start: int, stop: int, pixels: Ints = pixels, medians: Single = medians) -> None:
            row, column = np.divmod(pixels[start:stop], width)
            parity = (row + column) % len(offsets[0])
            votes = rebuilt.values(row, column, *(each.take(parity, axis=0) for each in offsets))
            medians[start:stop] = median_of_rows(votes)

        for _ in map_chunks(work, len(pixels), _VOTE_CHUNK, threads):
            pass
        yield rows, pixels, medians


def _useful_patches(wanted: Bools, size: int) -> Bools:
    """Return which patches cover a wanted pixel: (H + size - 1, W + size - 1)."""
    height, width = wanted.shape
    tall = np.zeros((height + size - 1, width), bool)
    for shift in range(size):
        tall[shift : shift + height] |= wanted
    useful = np.zeros((height + size - 1, width + size - 1), bool)
    for shift in range(size):
        useful[:, shift : shift + width] |= tall
    return useful


def _bands(useful: Bools, size: int) -> Iterator[slice]:
    """Divide the rows of an image so that a band has neither too many patches nor too many positions."""
    n_rows, n_columns = useful.shape
    height = n_rows - size + 1
    totals = np.concatenate([[0], np.cumsum(useful.sum(axis=1))])
    max_rows = max(2 * size, _BAND_VALUES // n_columns)
    top = 0
    while top < height:
        most = totals[top] + _BAND_VALUES // size**2
        fitting = int(np.searchsorted(totals, most, side="right")) - size
        bottom = min(max(fitting, top + 2 * size), top + max_rows, height)
        yield slice(top, bottom)
        top = bottom


def _vote_offsets(size: int, n_columns: int, checkered: bool) -> tuple[Ints, Ints]:
    """Return where the votes for a pixel are: offsets of its patches, and of the pixel within each of them.

    Both are (parities, votes): in a checkered pattern, pixels with an even and with an odd sum of row and
    column are covered by different patches.
    """
    down, right = (each.ravel() for each in np.indices((size, size)))
    patches, inner = down * n_columns + right, (size - 1 - down) * size + size - 1 - right
    if not checkered:
        return patches[None], inner[None]
    order = np.argsort((down + right) % 2, kind="stable")
    return patches[order].reshape(2, -1), inner[order].reshape(2, -1)


class _RebuiltPatches:
    """The rebuilt patches that cover the rows of a band, one after the other.

    Parameters
    ----------
    useful : (H + size - 1, W + size - 1) ndarray of bool
        Patches to rebuild.
    size : int
    rebuild : callable
    threads : int
    """

    def __init__(
        self, useful: Bools, size: int, rebuild: Callable[[Ints, Ints], Floats], threads: int
    ) -> None:
        self._useful, self._size, self._rebuild, self._threads = useful, size, rebuild, threads
        self._top, self._bottom = 0, 0  # rows of patches
        self._patches = np.empty((0, size * size), np.float32)
        self._slots = np.empty(0, np.int32)

    def advance(self, rows: slice) -> None:
        """Go on to the band with these rows of pixels; patches shared with the previous one are kept."""
        n_columns, stop = self._useful.shape[1], rows.stop + self._size - 1
        kept = self._patches[len(self._patches) - np.count_nonzero(self._useful[rows.start : self._bottom]) :]
        patch_rows, columns = np.nonzero(self._useful[self._bottom : stop])
        patch_rows += self._bottom
        patches = np.empty((len(kept) + len(columns), self._size**2), np.float32)
        patches[: len(kept)] = kept
        new = patches[len(kept) :]

        def work(start: int, stop: int) -> None:
            new[start:stop] = self._rebuild(patch_rows[start:stop], columns[start:stop])

        for _ in map_chunks(work, len(columns), _REBUILD_CHUNK, self._threads):
            pass
        self._top, self._bottom, self._patches = rows.start, stop, patches
        self._slots = np.zeros((stop - rows.start) * n_columns, np.int32)
        self._slots[np.flatnonzero(self._useful[rows.start : stop])] = np.arange(len(patches))

    def values(self, rows: Ints, columns: Ints, patches: Ints, inner: Ints) -> Single:
        """Return the values of pixels by several patches each: (N, votes).

        Parameters
        ----------
        rows, columns : (N,) ndarray of int
            Pixels.
        patches, inner : (N, votes) ndarray of int
            Offsets of the patches, and of the pixel within each of them.
        """
        patches += ((rows - self._top) * self._useful.shape[1] + columns)[:, None]
        inner += self._slots.take(patches).astype(np.intp) * self._size**2
        return self._patches.reshape(-1).take(inner)


def median_of_rows(votes: Single) -> Single:
    """Return the median of each row, ignoring NaN; NaN if there is nothing else. Reorders `votes`."""
    n_votes = votes.shape[1]
    if not np.isnan(votes.min(initial=0)):
        low, high = (n_votes - 1) // 2, n_votes // 2
        votes.partition(sorted({low, high}), axis=1)
        return np.asarray((votes[:, low] + votes[:, high]) / 2, np.float32)
    votes.sort(axis=1)  # NaN come last
    counts = n_votes - np.isnan(votes).sum(axis=1)
    rows = np.arange(len(votes))
    # Without any vote both indices point to a NaN.
    middle = votes[rows, np.maximum(counts - 1, 0) // 2] + votes[rows, counts // 2]
    return np.asarray(middle / 2, np.float32)
