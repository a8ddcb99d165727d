"""Windows of a picture, and the median of all windows that cover a pixel."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from dictsel_core._threads import map_chunks
from dictsel_core._validation import Bools, Floats, Ints

Single = NDArray[np.float32]
Kind = TypeVar("Kind", bound=np.generic)

#: Most rebuilt window values held at once; bands are made as tall as this allows.
_BAND_VALUES = 1 << 22


def windows(plane: NDArray[Kind], size: int) -> NDArray[Kind]:
    """Return a view of all size x size windows: (H - size + 1, W - size + 1, size, size)."""
    return sliding_window_view(plane, (size, size))


def pad(plane: NDArray[Kind], size: int) -> NDArray[Kind]:
    """Mirror a plane at its borders so that size * size windows cover every pixel."""
    return np.pad(plane, size - 1, mode="symmetric")


def median_of_windows(
    shape: tuple[int, int],
    size: int,
    rebuild: Callable[[Ints, Ints], Floats],
    wanted: Bools,
    threads: int,
    *,
    checkered: bool = False,
) -> Iterator[tuple[slice, Floats]]:
    """Yield (rows, medians) for bands of a picture, top to bottom.

    Never more than a band of rebuilt windows is in memory.

    Parameters
    ----------
    shape : (int, int)
        Height and width H, W of the picture, without padding.
    size : int
        Window height and width. Window (i, j) of the *padded* picture covers the pixels from
        (i - size + 1, j - size + 1) to (i, j).
    rebuild : callable
        Takes window rows and columns, (B,) each, and returns their values (B, size * size); NaN where
        a window has nothing to say. Called from several threads.
    wanted : (H, W) ndarray of bool
        Pixels whose median is wanted; windows that cover none are not rebuilt.
    threads : int
    checkered : bool
        Use every second window only, those (i, j) with i + j even; `size` must be even.

    Yields
    ------
    rows : slice
        Rows of the picture.
    medians : (len(rows), W) ndarray of float32
        NaN where not wanted, or where no window has anything to say.
    """
    height, width = shape
    n_columns = width + size - 1
    band = min(height, max(2 * size, _BAND_VALUES // (n_columns * size * size)))
    useful = _useful_windows(wanted, size)
    if checkered:
        useful[0::2, 1::2] = useful[1::2, 0::2] = False
    rebuilt = np.full((band + size - 1, n_columns, size * size), np.nan, np.float32)
    for top in range(0, height, band):
        bottom = min(top + band, height)
        rebuilt[: size - 1] = rebuilt[band:]  # windows that the band before has rebuilt already
        rows = slice(size - 1 if top else 0, bottom - top + size - 1)
        _rebuild_rows(rebuilt, top, rows, useful, rebuild, threads)
        votes = _Votes(rebuilt, top, size, checkered)
        yield slice(top, bottom), _medians(votes, wanted[top:bottom], threads)


def _useful_windows(wanted: Bools, size: int) -> Bools:
    """Tell which windows cover a wanted pixel: (H + size - 1, W + size - 1)."""
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
    """Rebuild the useful windows of some rows of the band that begins at window row `top`."""
    at_row, at_column = np.nonzero(useful[top + rows.start : top + rows.stop])
    rebuilt[rows] = np.nan

    def work(start: int, stop: int) -> None:
        i, j = at_row[start:stop], at_column[start:stop]
        rebuilt[rows.start + i, j] = rebuild(top + rows.start + i, j)

    for _ in map_chunks(work, len(at_row), chunk, threads):
        pass


@dataclass(frozen=True)
class _Votes:
    """What the windows of a band say about its pixels.

    Window row r of `rebuilt` is row `top` + r of the padded picture.
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
                said = self.rebuilt[row : row + stop - start, column : column + width, i * self.size + j]
                if not self.checkered:
                    votes[:, :, i, j] = said
                    continue
                # Window and pixel differ by i + j steps: the window is there where that makes it even.
                for first in (0, 1):
                    second = (self.top + start + first + i + j) % 2
                    pixels = np.s_[first::2, second::2]
                    votes[:, :, i, j // 2][pixels] = said[pixels]
        return votes.reshape(stop - start, width, -1)


def _medians(votes: _Votes, wanted: Bools, threads: int) -> Single:
    """Medians of the wanted pixels among the first rows of a band."""
    n_rows, width = wanted.shape
    medians = np.full((n_rows, width), np.nan, np.float32)

    def work(start: int, stop: int) -> None:
        chosen = wanted[start:stop]
        medians[start:stop][chosen] = median_of_rows(votes.of_rows(start, stop, width)[chosen])

    for _ in map_chunks(work, n_rows, 16, threads):
        pass
    return medians


def median_of_rows(votes: Single) -> Single:
    """Median of each row without its NaN; NaN for a row of nothing else. Reorders `votes`."""
    n_votes = votes.shape[1]
    if not np.isnan(votes.min(initial=0)):
        low, high = (n_votes - 1) // 2, n_votes // 2
        votes.partition(sorted({low, high}), axis=1)
        return np.asarray((votes[:, low] + votes[:, high]) / 2, np.float32)
    votes.sort(axis=1)  # NaN go last
    counts = n_votes - np.isnan(votes).sum(axis=1)
    rows = np.arange(len(votes))
    # Without any vote both indices point to a NaN.
    middle = votes[rows, np.maximum(counts - 1, 0) // 2] + votes[rows, counts // 2]
    return np.asarray(middle / 2, np.float32)
