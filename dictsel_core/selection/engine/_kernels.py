"""Fits by shared inner products, and squares of correlations: each one call, where NumPy takes many."""

import numpy as np

from dictsel_core._support.compiled import Kernel
from dictsel_core._support.validation import Bools, Floats, Ints


@Kernel
def solve_supports(
    rows: Ints,
    supports: Ints,
    inner: tuple[Floats, Floats, Ints],
    limits: tuple[float, float],
    fitted: tuple[Floats, Floats, Bools],
) -> None:
    """Solve the normal equations of patches by elimination.

    Parameters
    ----------
    rows : (B,) ndarray of int
    supports : (B, S) ndarray of int
        With -1, the last column of the inner products, in empty slots.
    inner : tuple of ndarray
        Inner products of all patches with the atoms, and of atoms with each other; the row in which those of
        each atom are.
    limits : tuple of float
        What is added to the diagonal, and the inverse determinant up to which a fit is reliable.
    fitted : tuple of ndarray
        What is written: weights (B, S), explained energies (B,), and whether they are reliable (B,).
    """
    moments, products, places = inner
    ridge, well_conditioned = limits
    weights, explained, reliable = fitted
    n_slots = supports.shape[1]
    system = np.empty((n_slots, n_slots + 1))
    for b in range(len(rows)):
        for i in range(n_slots):
            place = places[supports[b, i]]
            for j in range(n_slots):
                system[i, j] = products[place, supports[b, j]]
            system[i, i] = 1 + ridge
            system[i, n_slots] = moments[rows[b], supports[b, i]]
        determinant = 1.0
        for j in range(n_slots):
            determinant *= system[j, j]
            for k in range(j + 1, n_slots + 1):
                system[j, k] /= system[j, j]
            for i in range(n_slots):
                if i != j:
                    for k in range(j + 1, n_slots + 1):
                        system[i, k] -= system[i, j] * system[j, k]
        explained[b] = 0
        for i in range(n_slots):
            weights[b, i] = system[i, n_slots]
            explained[b] += weights[b, i] * moments[rows[b], supports[b, i]]
        reliable[b] = determinant * well_conditioned >= 1


@Kernel
def correlate(
    rows: Ints, supports: Ints, weights: Floats, inner: tuple[Floats, Floats, Ints], out: Floats
) -> None:
    """Put the inner products of residuals with all atoms into `out`, (B, n); see `solve_supports`."""
    moments, products, places = inner
    n_atoms = out.shape[1]
    left = np.empty(n_atoms)
    for b in range(len(rows)):
        left[:] = moments[rows[b], :n_atoms]
        for s in range(supports.shape[1]):
            weight, explained = weights[b, s], products[places[supports[b, s]]]
            if weight != 0:
                for a in range(n_atoms):
                    left[a] -= weight * explained[a]
        out[b] = left


@Kernel
def square_correlations(out: Floats, rounding: Floats, duplicates: Ints, supports: Ints) -> Floats:
    """Square correlations in place, and return the largest square of each patch: (B,).

    Parameters
    ----------
    out : (B, n) ndarray
        Correlations, then their squares: 0 for atoms in use and rounding errors, equal for equal atoms.
    rounding : (B,) ndarray
        Squares up to this are rounding errors.
    duplicates : (2, m) ndarray of int
        Atoms that equal an earlier one, and these.
    supports : (B, S) ndarray of int
        With -1 in empty slots.
    """
    largest = np.zeros(len(out), out.dtype)
    for b in range(len(out)):
        squares = out[b]
        for a in range(len(squares)):
            square = squares[a] * squares[a]
            squares[a] = square if square > rounding[b] else 0
        for m in range(duplicates.shape[1]):
            squares[duplicates[0, m]] = squares[duplicates[1, m]]
        for s in range(supports.shape[1]):
            if supports[b, s] >= 0:
                squares[supports[b, s]] = 0
        for a in range(len(squares)):
            largest[b] = max(largest[b], squares[a])
    return largest
