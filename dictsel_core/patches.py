"""Patches of an image, and the median of all patches that cover a pixel."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from dictsel_core._arrays import Scalar
from dictsel_core._threads import map_chunks
from dictsel_core._validation import Bools, Floats, Ints

Single = NDArray[np.float32]

#: Maximum number of values of rebuilt patches in memory; bands are as tall as this allows.
_BAND_VALUES = 1 << 22


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
) -> Iterator[tuple[slice, Floats]]:
    """Yield (rows, medians) for bands of an image, top to bottom.

    At most a band of rebuilt patches is in memory at a time.

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
        Pixels whose median is wanted; patches that cover none of them are not rebuilt.
    threads : int
    checkered : bool
        Use every second patch only, those (i, j) with i + j even; `size` must be even.

    Yields
    ------
    rows : slice
        Rows of the image.
    medians : (len(rows), W) ndarray of float32
        NaN where not wanted, or where there is no estimate.
    """
    height, width = shape
    n_columns = width + size - 1
    band = min(height, max(2 * size, _BAND_VALUES // (n_columns * size * size)))
    useful = _useful_patches(wanted, size)
    if checkered:
        useful[0::2, 1::2] = useful[1::2, 0::2] = False
    rebuilt = np.full((band + size - 1, n_columns, size * size), np.nan, np.float32)
    for top in range(0, height, band):
        bottom = min(top + band, height)
        rebuilt[: size - 1] = rebuilt[band:]  # patches shared with the previous band
        rows = slice(size - 1 if top else 0, bottom - top + size - 1)
        _rebuild_rows(rebuilt, top, rows, useful, rebuild, threads)
        votes = _Votes(rebuilt, top, size, checkered)
        yield slice(top, bottom), _medians(votes, wanted[top:bottom], threads)


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


def _rebuild_rows(
    rebuilt: Single,
    top: int,
    rows: slice,
    useful: Bools,
    rebuild: Callable[[Ints, Ints], Floats],
    threads: int,
    chunk: int = 4096,
) -> None:
    """Rebuild the useful patches of some rows of the band that begins at row `top`."""
    patch_rows, patch_columns = np.nonzero(useful[top + rows.start : top + rows.stop])
    rebuilt[rows] = np.nan

    def work(start: int, stop: int) -> None:
        i, j = patch_rows[start:stop], patch_columns[start:stop]
        rebuilt[rows.start + i, j] = rebuild(top + rows.start + i, j)

    for _ in map_chunks(work, len(patch_rows), chunk, threads):
        pass


@dataclass(frozen=True)
class _Votes:
    """The estimates of the pixels of a band by all patches that cover them.

    Row r of `rebuilt` holds the patches of row `top` + r of the padded image.
    """

    rebuilt: Single
    top: int
    size: int
    checkered: bool

    def of_rows(self, start: int, stop: int, width: int) -> Single:
        """Return the votes for the pixels of some rows of the band: (rows, width, votes)."""
        n_slots = self.size // 2 if self.checkered else self.size
        votes = np.empty((stop - start, width, self.size, n_slots), np.float32)
        for i in range(self.size):
            for j in range(self.size):
                row, column = start + self.size - 1 - i, self.size - 1 - j
                values = self.rebuilt[row : row + stop - start, column : column + width, i * self.size + j]
                if not self.checkered:
                    votes[:, :, i, j] = values
                    continue
                # A patch is i + j steps away from the pixel; it was rebuilt if its row + column is even.
                for first in (0, 1):
                    second = (self.top + start + first + i + j) % 2
                    pixels = np.s_[first::2, second::2]
                    votes[:, :, i, j // 2][pixels] = values[pixels]
        return votes.reshape(stop - start, width, -1)


def _medians(votes: _Votes, wanted: Bools, threads: int) -> Single:
    """Return the medians of the wanted pixels among the first rows of a band."""
    n_rows, width = wanted.shape
    medians = np.full((n_rows, width), np.nan, np.float32)

    def work(start: int, stop: int) -> None:
        chosen = wanted[start:stop]
        medians[start:stop][chosen] = median_of_rows(votes.of_rows(start, stop, width)[chosen])

    for _ in map_chunks(work, n_rows, 16, threads):
        pass
    return medians


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
