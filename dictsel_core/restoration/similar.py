"""Groups of similar windows: for each reference window, those nearby that look most like it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictsel_core._validation import Floats, Ints
from dictsel_core.patches import Kind, windows


@dataclass(frozen=True)
class Search:
    """How windows are grouped.

    Attributes
    ----------
    size : int
        Height and width of a window.
    radius : int
        Members of a group lie at most so many pixels from their reference, up, down and sideways; near
        a border the search reaches as much further inwards.
    n_members : int
        Windows in a group, the reference among them.
    """

    size: int
    radius: int
    n_members: int

    @property
    def stride(self) -> int:
        """Distance of references: their windows overlap by half."""
        return self.size // 2


@dataclass(frozen=True, eq=False)
class Span:
    """Neighbouring references along one side of a picture, and the pixels of all their candidates.

    Attributes
    ----------
    start, stop : int
        These pixels.
    n_windows : int
        How many windows fit in there; they are counted from `start`.
    references : (b,) ndarray of int
    first : (b,) ndarray of int
        Each reference's first candidate; the others follow it.
    n_candidates : int
    """

    start: int
    stop: int
    n_windows: int
    references: Ints
    first: Ints
    n_candidates: int


@dataclass(frozen=True, eq=False)
class Tile:
    """Neighbouring references, and the part of the picture that holds all their candidates.

    Windows are numbered within that part, row by row: (height - size + 1) x (width - size + 1).
    """

    down: Span
    across: Span

    @property
    def place(self) -> tuple[slice, slice]:
        """Rows and columns of that part."""
        return slice(self.down.start, self.down.stop), slice(self.across.start, self.across.stop)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of that part."""
        return self.down.stop - self.down.start, self.across.stop - self.across.start

    @property
    def references(self) -> Ints:
        """Numbers of the references: (B,)."""
        return self._numbers(self.down.references, self.across.references)

    @property
    def candidates(self) -> Ints:
        """Numbers of the windows that each reference is compared with: (B, c)."""
        around = self._numbers(np.arange(self.down.n_candidates), np.arange(self.across.n_candidates))
        return self._numbers(self.down.first, self.across.first)[:, None] + around

    def _numbers(self, rows: Ints, columns: Ints) -> Ints:
        return (rows[:, None] * self.across.n_windows + columns).ravel()


def spans(length: int, search: Search, n_side: int = 16) -> list[Span]:
    """Return up to `n_side` references each, from one end of a side to the other."""
    last = length - search.size
    positions = np.unique(np.append(np.arange(0, last + 1, search.stride), last))
    reach = min(2 * search.radius + 1, last + 1)
    first = np.clip(positions - search.radius, 0, last + 1 - reach)
    parts = []
    for at in range(0, len(positions), n_side):
        some, theirs = positions[at : at + n_side], first[at : at + n_side]
        start, stop = int(theirs[0]), int(theirs[-1]) + reach + search.size - 1
        n_windows = stop - start - search.size + 1
        parts.append(Span(start, stop, n_windows, some - start, theirs - start, reach))
    return parts


def rows_of_windows(part: NDArray[Kind], size: int) -> NDArray[Kind]:
    """Return all windows of some planes (h, w, C) as rows: (n_windows, C, size * size)."""
    return np.stack(
        [windows(part[:, :, c], size).reshape(-1, size * size) for c in range(part.shape[2])], axis=1
    )


def similar_windows(
    patches: Floats, references: Ints, candidates: Ints, n_members: int, n_nearest: int
) -> Ints:
    """Return the members of each reference's group: (B, n_members), the `n_nearest` in front.

    Parameters
    ----------
    patches : (n_windows, d) ndarray
        All windows of a tile; of a mean near 0, or the differences of distances lose digits.
    references : (B,) ndarray of int
    candidates : (B, c) ndarray of int
        Windows that each is compared with, itself among them.
    n_members : int
        At most c.
    n_nearest : int
        How many of the nearest come first, in no particular order; the reference is one of them.
    """
    lengths = np.vecdot(patches, patches)
    distances = patches[references] @ patches.T
    distances *= -2
    distances += lengths  # but for the length of the reference, which they all share
    theirs = np.take_along_axis(distances, candidates, axis=1)
    theirs[candidates == references[:, None]] = -np.inf
    ends = sorted({n_nearest - 1, n_members - 1})
    nearest = np.argpartition(theirs, ends, axis=1)[:, :n_members]
    return np.take_along_axis(candidates, nearest, axis=1)
