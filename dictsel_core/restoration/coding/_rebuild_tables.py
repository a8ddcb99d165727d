"""What the kernels of `_rebuild_kernels` are given, and the memory that they use."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.validation import Bools
from dictsel_core._support.vectors import WIDTH

Single = NDArray[np.float32]
Indices = NDArray[np.uintp]

#: Entries of a row of the tables that are summed at the same time, in registers.
BLOCK = 8 * WIDTH
#: Sum of the squared weights of a patch, of which a mean is taken, at least.
MIN_WEIGHTS = np.float32(1e-6)


class PatchTables(NamedTuple):
    """What kernels need to know of a dictionary of k atoms of d entries.

    Attributes
    ----------
    pairs : (d, P) ndarray
        Products of all pairs of atoms, times one minus the squared weight of missing pixels; P is a multiple
        of `BLOCK`, the rest zero.
    complete : (P,) ndarray
        Sums of the products of all pairs over all entries.
    places : (k, k) ndarray of int
        Where the products of two atoms are.
    columns : (d, K) ndarray
        The atoms as columns; K is a multiple of 8, the rest zero.
    rows : (k, D) ndarray
        The atoms as rows; D is a multiple of `BLOCK`, the rest zero.
    usable : (k,) ndarray of bool
        Atoms that may be chosen.
    """

    pairs: Single
    complete: Single
    places: Indices
    columns: Single
    rows: Single
    usable: Bools


class PatchLimits(NamedTuple):
    """Numbers that say how patches are coded.

    Attributes
    ----------
    squared_weight : float
        Of missing pixels.
    threshold : float
        An atom is dependent if less than this part of its squared length is orthogonal to the others.
    centered : bool
        Whether the mean is coded separately.
    capacity : int
        Maximum number of atoms of a patch.
    min_observed : int
        Patches with fewer observed pixels become NaN.
    """

    squared_weight: np.float32
    threshold: np.float32
    centered: bool
    capacity: int
    min_observed: int


class PlaneTables(NamedTuple):
    """Planes, of which patches are gathered.

    Attributes
    ----------
    values : (H * W * C,) ndarray
        With a first estimate of every missing pixel.
    hidden : (H * W,) ndarray of int
        1 where missing, otherwise 0.
    down, across : ndarray of int
        Of the mirrored planes: the first pixel of each row, and the number of each column.
    """

    values: Single
    hidden: NDArray[np.uint8]
    down: Indices
    across: Indices


class Lanes(NamedTuple):
    """What is known of the patches of all lanes, entry by entry or atom by atom.

    Attributes
    ----------
    pixels : (d * WIDTH,) ndarray of int
    squares, data : (d * WIDTH,) ndarray
        Squared weights; values of a channel times these.
    n_observed : (WIDTH,) ndarray of int
    grams : (WIDTH * P,) ndarray
        Products of all pairs of atoms under each mask, lane by lane.
    inverse_lengths : (k * WIDTH,) ndarray
        One over the squared lengths of atoms; 0 of those that are not used.
    means, min_scores : (WIDTH,) ndarray
        Mean that is coded separately; squared correlations times `inverse_lengths` of rounding errors.
    rest : ((k + s) * WIDTH,) ndarray, or more
        Correlations of the residual with all atoms, then the coefficients, negative.
    vectors : (s * (k + s) * WIDTH,) ndarray
        The same of orthogonal vectors.
    inverse, overlaps : (s * WIDTH,) ndarray
        One over the squared lengths of these vectors; their overlaps with another one.
    supports : (s * WIDTH,) ndarray of int
        The number k stands for no atom.
    entries : (WIDTH * (d + 1),) ndarray of int
        Which entries of each lane are observed, or which are not if these are fewer.
    flags : (d,) ndarray of int
        Of a single lane: 1 where missing, otherwise 0.
    patch : (D,) ndarray
        Of a single lane.
    scores, steps, chosen : (WIDTH,) ndarray
        Of a step of the pursuit.
    atoms : (WIDTH,) ndarray of int
        The same as `chosen`.
    active : (WIDTH,) ndarray of bool
        Whether a patch may get another atom.
    """

    pixels: Indices
    squares: Single
    data: Single
    n_observed: Indices
    grams: Single
    inverse_lengths: Single
    means: Single
    min_scores: Single
    rest: Single
    vectors: Single
    inverse: Single
    overlaps: Single
    supports: Indices
    entries: Indices
    flags: NDArray[np.uint8]
    patch: Single
    scores: Single
    steps: Single
    chosen: Single
    atoms: Indices
    active: Bools
