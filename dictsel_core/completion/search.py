"""One sweep of the search for matches."""

from typing import TYPE_CHECKING

import numpy as np

from dictsel_core._support.compiled import is_enabled
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.completion._kernels import improve_matches

if TYPE_CHECKING:
    from dictsel_core.completion.field import PatchField


def improve(field: "PatchField", part: slice, before: Ints, jumps: Ints, steps: Ints) -> None:
    """Improve the matches of some targets by those of neighbors, then by random ones.

    Parameters
    ----------
    field : PatchField
    part : slice
        Of the targets.
    before : (T,) ndarray of int
        The matches of all targets before this sweep.
    jumps : (J, 2) ndarray of int
        How far down and to the right the neighbors are whose matches are tried.
    steps : (B, R, 2) ndarray of int
        How far from their matches other sources are tried.
    """
    compared = field.comparison
    if is_enabled():
        distances = np.empty(part.stop - part.start, np.int64)
        rows = compared.pixels.reshape(len(compared.pixels), -1)
        improve_matches(
            (rows, compared.texture, compared.sums, field.numbers, field.is_source),
            field.shape,
            field.targets[part],
            before,
            jumps,
            steps,
            field.matches[part],
            distances,
        )
    else:
        chunk = _Chunk(field, part)
        for jump in jumps:
            chunk.propagate(before, *jump)
        for step in steps.transpose(1, 2, 0):
            chunk.perturb(step)
        distances = chunk.distances
    field.distances[part] = distances * compared.unit


class _Chunk:
    """Some of the targets; their matches are those of the field."""

    def __init__(self, field: "PatchField", part: slice) -> None:
        self._field, self._targets, self._matches = field, field.targets[part], field.matches[part]
        self._described = field.comparison.described(self._targets)
        self._y, self._x = np.divmod(self._targets, field.shape[1])
        self.distances = self._compared(np.arange(len(self._targets)), self._matches)

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
        """Keep the sources that are nearer than the matches."""
        places, is_source = self._field.as_sources(rows, columns)
        at = np.flatnonzero(valid & is_source & (places != self._matches))
        distances = self._compared(at, places[at])
        nearer = distances < self.distances[at]
        self.distances[at[nearer]] = distances[nearer]
        self._matches[at[nearer]] = places[at][nearer]

    def _compared(self, at: Ints, places: Ints) -> Ints:
        """Return the squared distances of targets from sources."""
        difference = self._field.described_sources.take(self._field.source_numbers[places], axis=0)
        difference -= self._described[at]
        return self._field.comparison.distances(difference, self._targets[at], places)
