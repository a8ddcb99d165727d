"""Fits of patches on supports, and what all atoms would gain: compiled."""

import numpy as np

from dictsel_core._util.compiled import Kernel, PartialKernel
from dictsel_core._util.validation import Floats, Ints


@Kernel
def solve_supports(
    rows: Ints,
    state: tuple[Ints, Ints, Floats, Floats],
    inner: tuple[Floats, Floats, Ints],
    limits: tuple[float, float],
) -> Ints:
    """Solve the normal equations of patches by elimination, and return for which ones it is unreliable.

    The state is supports (T, S) and their sizes, and weights (T, S) and explained energies, which are
    written. `inner` has the inner products of patches with atoms, of atoms with each other, and the row where
    those of each atom are. The limits are what is added to the diagonal, and the inverse determinant up to
    which a fit is reliable.
    """
    supports, sizes, weights, explained = state
    moments, products, places = inner
    ridge, well_conditioned = limits
    system = np.empty((supports.shape[1], supports.shape[1] + 1))
    unreliable, n_unreliable = np.empty(len(rows), np.intp), 0
    for row in rows:
        support, size = supports[row], sizes[row]
        for i in range(size):
            place = places[support[i]]
            for j in range(size):
                system[i, j] = products[place, support[j]]
            system[i, i] = 1 + ridge
            system[i, size] = moments[row, support[i]]
        determinant = 1.0
        for j in range(size):
            determinant *= system[j, j]
            for k in range(j + 1, size + 1):
                system[j, k] /= system[j, j]
            for i in range(size):
                if i != j:
                    for k in range(j + 1, size + 1):
                        system[i, k] -= system[i, j] * system[j, k]
        explained[row] = 0
        for i in range(size):
            weights[row, i] = system[i, size]
            explained[row] += weights[row, i] * moments[row, support[i]]
        if determinant * well_conditioned < 1:
            unreliable[n_unreliable] = row
            n_unreliable += 1
    return unreliable[:n_unreliable]


@Kernel
def square_by_products(
    rows: Ints,
    state: tuple[Ints, Ints, Floats, Floats],
    inner: tuple[Floats, Floats, Ints],
    known: tuple[Floats, Ints],
    out: tuple[Floats, Floats],
) -> None:
    """Write squared correlations of patches with all atoms, (T, n), and the largest of each patch, (T,).

    For the arguments see `solve_supports` and, for rounding errors and duplicates, `square_correlations`.
    """
    supports, sizes, weights, _ = state
    moments, products, places = inner
    rounding, duplicates = known
    squares, largest = out
    n_atoms = squares.shape[1]
    left = np.empty(n_atoms)
    for row in rows:
        left[:] = moments[row, :n_atoms]
        for s in range(sizes[row]):
            weight, explained = weights[row, s], products[places[supports[row, s]]]
            if weight != 0:
                for a in range(n_atoms):
                    left[a] -= weight * explained[a]
        squares[row] = left
        largest[row] = _square(squares[row], rounding[row], duplicates, supports[row])


@Kernel
def square_correlations(out: Floats, rounding: Floats, duplicates: Ints, supports: Ints) -> Floats:
    """Square correlations (B, n) in place, and return the largest square of each patch: (B,).

    They become 0 for atoms in use and where they are rounding errors, and equal for equal atoms: the columns
    of `duplicates`, (2, m), are atoms that equal an earlier one, and these.
    """
    largest = np.empty(len(out), out.dtype)
    for b in range(len(out)):
        largest[b] = _square(out[b], rounding[b], duplicates, supports[b])
    return largest


@PartialKernel
def _square(squares: Floats, rounding: float, duplicates: Ints, support: Ints) -> float:
    """Square the correlations of one patch in place, and return the largest square."""
    for a in range(len(squares)):
        square = squares[a] * squares[a]
        squares[a] = square if square > rounding else 0
    return _finish(squares, duplicates, support)


@PartialKernel
def _finish(values: Floats, duplicates: Ints, support: Ints) -> float:
    """Make the values of equal atoms equal, and those of atoms in use zero; return the largest."""
    for m in range(duplicates.shape[1]):
        values[duplicates[0, m]] = values[duplicates[1, m]]
    for atom in support:
        if atom >= 0:
            values[atom] = 0
    largest: float = values[0]
    for a in range(len(values)):
        largest = max(largest, values[a])
    return largest


@Kernel
def divide_by_outside(
    correlations: Floats,
    inside: Floats,
    lengths: Floats,
    limits: tuple[float, Floats, Floats],
    duplicates: Ints,
    supports: Ints,
) -> Floats:
    """Turn correlations with residuals (B, n) into the gains of additions, in place; return the largest ones.

    Of squared lengths, (B or 1, n), parts are `inside` the span of a support. The limits are the fraction
    that lies outside, at least, squared correlations up to which they are rounding errors, (B,), and the
    energies of the residuals, (B,), which no gain exceeds. For duplicates see `square_correlations`.
    """
    number, largest = correlations.dtype.type, np.empty(len(correlations), correlations.dtype)
    least = number(limits[0])
    for b in range(len(correlations)):
        gains, hidden, known = correlations[b], inside[b], lengths[min(b, len(lengths) - 1)]
        noise, energy = limits[1][b], number(limits[2][b])
        # Rounding must not decide between atoms that explain all of the residual.
        everything = energy * number(1 - np.sqrt(np.finfo(gains.dtype).eps))
        for a in range(len(gains)):
            outside = max(known[a] - hidden[a], least * known[a])
            square = gains[a] * gains[a]
            gain = square / outside
            gain = energy if gain > everything else gain
            gains[a] = gain if (square > noise) & (outside > 0) else 0
        largest[b] = _finish(gains, duplicates, supports[b])
    return largest
