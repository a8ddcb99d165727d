"""Patches of planes that share a mask, coded in a dictionary and rebuilt from their codes."""

from dataclasses import dataclass

import numpy as np

from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core.patches import MirroredPatches
from dictsel_core.pursuit.codes import scatter_codes
from dictsel_core.pursuit.columns import Pursuit, duplicate_columns
from dictsel_core.restoration.canvas import Planes
from dictsel_core.restoration.coding._rebuild_kernels import (
    PatchLimits,
    PatchTables,
    PlaneTables,
    rebuild,
)

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
#: In a product of matrices, the rounding of a row depends on its number modulo this: kernels of BLAS compute
#: several rows at once, up to half of this number.
_ROW_PERIOD = 12


@dataclass(frozen=True, eq=False)
class FilledPlanes:
    """Planes that share a mask.

    Attributes
    ----------
    values : (H, W, C) ndarray
        With a first estimate of every missing pixel; C-contiguous.
    missing : (H, W) ndarray of bool
        C-contiguous, and writeable: kernels are compiled for such arrays.
    patches : MirroredPatches
    """

    values: Planes
    missing: Bools
    patches: MirroredPatches


class PatchRebuilder:
    """Codes patches in a dictionary, and rebuilds them; it may be called from several threads.

    Parameters
    ----------
    dictionary : (d, k) ndarray
        On patches of `size` x `size` pixels.
    size : int
    sparsity : int
        Maximum number of atoms per patch.
    fill_weight : float
        Weight of the fill at missing pixels.
    """

    def __init__(self, dictionary: Floats, size: int, sparsity: int, fill_weight: float) -> None:
        atoms = dictionary.astype(np.float32)
        self._weight = np.float32(max(fill_weight, _MIN_WEIGHT) if fill_weight else 0.0)
        # Without a constant atom the mean could not be represented, so it is coded separately.
        self._centered = not (np.abs(atoms.sum(axis=0)) > 0.999 * size).any()
        self._compiled: tuple[PatchTables, PatchLimits] | None = None
        if atoms.shape[1] <= _MAX_ATOMS:
            self._compiled = _tables(atoms, self._weight), self._limits(min(sparsity, *atoms.shape))
        else:
            self._pursuit = Pursuit(atoms, sparsity, weak=0 < fill_weight < 1)
        self._rows = np.ascontiguousarray(atoms.T)
        self.size, self.n_atoms = size, atoms.shape[1]

    def __call__(self, planes: FilledPlanes, rows: Ints, columns: Ints, out: Planes, first: int) -> Ints:
        """Write rebuilt patches, and return how many use each atom: (k,).

        Parameters
        ----------
        planes : FilledPlanes
        rows, columns : (n,) ndarray of int
            The patches.
        out : (C, N, d) ndarray
            NaN is written if a patch has too few observed pixels.
        first : int
            Where in it the first patch is.
        """
        if self._compiled is not None:
            hidden, usage = planes.missing.reshape(-1).view(np.uint8), np.zeros(self.n_atoms, np.intp)
            given = PlaneTables(planes.values.reshape(-1), hidden, *planes.patches.tables)
            rebuild(given, rows, columns, *self._compiled, first, out, usage)
            return usage
        order, places = aligned_patches(rows, columns)
        pixels = planes.patches.pixels(rows[order], columns[order])
        weights = np.where(planes.missing.reshape(-1).take(pixels), self._weight, np.float32(1))
        n_channels, values = len(out), planes.values.reshape(-1)
        pixels *= n_channels
        data = np.empty((n_channels, *pixels.shape), np.float32)
        for channel in range(n_channels):
            values[channel:].take(pixels, out=data[channel], mode="clip")
        rebuilt, supports = self._rebuild(data, weights)
        out[:, first : first + len(rows)] = rebuilt.take(places, axis=1)
        used = supports.take(places, axis=1)  # some patches are there twice
        return np.bincount(used[used >= 0], minlength=self.n_atoms)

    def _rebuild(self, values: Floats, weights: Floats) -> tuple[Floats, Ints]:
        """Return patches rebuilt from their weighted pixels, and their supports: (C, B, d) and (C, B, s).

        Parameters
        ----------
        values : (C, B, d) ndarray
            Overwritten.
        weights : (B, d) ndarray
            Shared by all channels.
        """
        means = np.zeros((*values.shape[:2], 1), np.float32)
        if self._centered:
            squares = np.square(weights)
            sums = np.maximum(squares.sum(axis=1), _MIN_WEIGHTS)
            means = (np.vecdot(values, squares) / sums)[:, :, None]
            values -= means
        values *= weights
        supports, coefficients, _ = self._pursuit(values.reshape(-1, values.shape[2]), weights)
        codes = np.zeros((len(supports), self.n_atoms), np.float32)
        scatter_codes(codes, supports, coefficients)
        rebuilt = (codes @ self._rows).reshape(values.shape)
        rebuilt += means
        if self._weight == 0:
            rebuilt[:, (weights > 0).sum(axis=1) < _MIN_OBSERVED] = np.nan
        return rebuilt, supports.reshape(*values.shape[:2], -1)

    def _limits(self, capacity: int) -> PatchLimits:
        """Return how the kernel codes patches."""
        return PatchLimits(
            self._weight * self._weight,
            np.float32(_DEPENDENCE_EPSILONS * np.finfo(np.float32).eps),
            self._centered,
            capacity,
            _MIN_OBSERVED if self._weight == 0 else 0,
        )


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


def aligned_patches(rows: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """Order patches so that the place of each, modulo `_ROW_PERIOD`, depends on its row and column alone.

    Their products are then rounded in the same way, whatever other patches are coded with them.

    Returns
    -------
    order : (B,) ndarray of int
        The patches, of which some are there twice: their number is a multiple of the period.
    places : (T,) ndarray of int
        Where each patch is.
    """
    phases = (5 * rows + columns // 2) % _ROW_PERIOD  # equally frequent in rows, columns and rectangles
    by_phase = np.argsort(phases.astype(np.uint8), kind="stable")
    counts = np.bincount(phases, minlength=_ROW_PERIOD)
    ranks = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.empty_like(by_phase)
    places[by_phase] = _ROW_PERIOD * ranks + phases[by_phase]
    order = np.zeros(_ROW_PERIOD * int(counts.max()), np.intp)
    order[places] = np.arange(len(rows))
    return order, places
