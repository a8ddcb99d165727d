"""Replacement Greedy and SDS_OMP as defined in the papers: one regression or pursuit per candidate."""

import numpy as np

from benchmarks.data import Array
from dictsel_core import GroundSet
from dictsel_core.pursuit.codes import code_data


def literal_replacement_greedy(ground_set: GroundSet, data: Array, sparsity: int, n_atoms: int) -> list[int]:
    """Return the selected atoms under individual sparsity; every swap is a regression, s n T per step."""
    supports = np.full((len(data), sparsity), -1)
    rows = np.vstack([ground_set.atoms.T, np.zeros(ground_set.n_features)])  # -1 is the empty atom
    selected: list[int] = []
    for step in range(n_atoms):
        slots = [step] if step < sparsity else list(range(sparsity))
        now = _utilities(rows, supports, data)
        gains = np.full((len(ground_set), len(data)), -np.inf)
        best_slot = np.zeros(gains.shape, dtype=np.intp)
        for atom in set(range(len(ground_set))) - set(selected):
            for slot in slots:
                swapped = supports.copy()
                swapped[:, slot] = atom
                gain = _utilities(rows, swapped, data) - now
                best_slot[atom] = np.where(gain > gains[atom], slot, best_slot[atom])
                gains[atom] = np.maximum(gain, gains[atom])
        atom = int(np.maximum(gains, 0).sum(axis=1).argmax())
        better = np.flatnonzero(gains[atom] > 0)
        supports[better, best_slot[atom, better]] = atom
        selected.append(atom)
    return selected


def _utilities(rows: Array, supports: np.ndarray, data: Array) -> Array:
    """Solve one small regression per patch and return f_t(Z_t)."""
    columns = rows[supports]
    gram = columns @ columns.transpose(0, 2, 1) + 1e-12 * np.eye(columns.shape[1])
    products = np.matvec(columns, data)
    return np.asarray(np.vecdot(products, np.linalg.solve(gram, products[:, :, None])[:, :, 0]) / 2)


def literal_sds_omp(ground_set: GroundSet, data: Array, sparsity: int, n_atoms: int) -> list[int]:
    """Return the selected atoms; every candidate dictionary codes all patches, n T pursuits per step."""
    selected: list[int] = []
    for _ in range(n_atoms):
        left = np.full(len(ground_set), np.inf)
        for atom in set(range(len(ground_set))) - set(selected):
            dictionary = ground_set.atoms[:, [*selected, atom]]
            left[atom] = code_data(dictionary, data, sparsity).residual_energy.sum()
        selected.append(int(left.argmin()))
    return selected
