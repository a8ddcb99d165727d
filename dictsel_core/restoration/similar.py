"""Groups of similar windows: for each reference window, those nearby that look most like it."""

from collections.abc import Iterator
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
        Members of a group lie at most so many pixels from their reference, up, down and sideways.
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
class Tile:
    """Neighbouring references, and the part of the picture that holds all their candidates.

    Attributes
    ----------
    rows, columns : slice
        That part of the picture.
    references : (B,) ndarray of int
        Windows are numbered within the part, row by row: (height - size + 1) x (width - size + 1).
    candidates : (B, c) ndarray of int
        The windows that each reference is compared with.
    """

    rows: slice
    columns: slice
    references: Ints
    candidates: Ints

    @property
    def height(self) -> int:
        """Rows of that part."""
        return int(self.rows.stop - self.rows.start)

    @property
    def width(self) -> int:
        """Columns of that part."""
        return int(self.columns.stop - self.columns.start)


def tile_rows(shape: tuple[int, int], search: Search, n_side: int = 8) -> Iterator[list[Tile]]:
    """Cut a picture into rows of tiles of up to `n_side` x `n_side` references, top to bottom."""
    down, across = (_references(length, search, n_side) for length in shape)
    for part_down in down:
        yield [_tile(part_down, part_across) for part_across in across]


@dataclass(frozen=True, eq=False)
class _Span:
    """One dimension of a tile: pixels [start, stop), references and first candidates within it."""

    start: int
    stop: int
    references: Ints
    first: Ints
    n_candidates: int
    n_windows: int


def _references(length: int, search: Search, n_side: int) -> list[_Span]:
    last = length - search.size
    positions = np.unique(np.append(np.arange(0, last + 1, search.stride), last))
    reach = min(2 * search.radius + 1, last + 1)
    first = np.clip(positions - search.radius, 0, last + 1 - reach)
    spans = []
    for at in range(0, len(positions), n_side):
        some, theirs = positions[at : at + n_side], first[at : at + n_side]
        start, stop = int(theirs[0]), int(theirs[-1]) + reach + search.size - 1
        spans.append(_Span(start, stop, some - start, theirs - start, reach, stop - start - search.size + 1))
    return spans


def _tile(down: _Span, across: _Span) -> Tile:
    width = across.n_windows

    def numbers(rows: Ints, columns: Ints) -> Ints:
        return (rows[:, None] * width + columns).ravel()

    around = numbers(np.arange(down.n_candidates), np.arange(across.n_candidates))
    return Tile(
        slice(down.start, down.stop),
        slice(across.start, across.stop),
        numbers(down.references, across.references),
        numbers(down.first, across.first)[:, None] + around,
    )


def rows_of_windows(part: NDArray[Kind], size: int) -> NDArray[Kind]:
    """Return all windows of some planes (h, w, C) as rows: (n_windows, C, size * size)."""
    return np.stack(
        [windows(part[:, :, c], size).reshape(-1, size * size) for c in range(part.shape[2])], axis=1
    )


def similar_windows(patches: Floats, tile: Tile, n_members: int, n_nearest: int) -> Ints:
    """Return the members of each reference's group: (B, n_members), the `n_nearest` in front.

    Parameters
    ----------
    patches : (n_windows, d) ndarray
        All windows of the tile; of a mean near 0, or the differences of distances lose digits.
    tile : Tile
        With B references.
    n_members : int
        At most as many as there are candidates.
    n_nearest : int
        How many of the nearest come first, in no particular order; the reference is one of them.
    """
    lengths = np.vecdot(patches, patches)
    distances = patches[tile.references] @ patches.T
    distances *= -2
    distances += lengths  # but for the length of the reference, which they all share
    theirs = np.take_along_axis(distances, tile.candidates, axis=1)
    theirs[tile.candidates == tile.references[:, None]] = -np.inf
    ends = sorted({n_nearest - 1, n_members - 1})
    nearest = np.argpartition(theirs, ends, axis=1)[:, :n_members]
    return np.take_along_axis(tile.candidates, nearest, axis=1)
