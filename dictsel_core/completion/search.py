"""One sweep of the search for matches."""

from typing import TYPE_CHECKING

import numpy as np

from dictsel_core._support.validation import Ints
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
    field.distances[part] = distances * compared.unit
