"""What additions and swaps would change in the utility of given supports, in float64."""

from abc import ABC, abstractmethod

import numpy as np

from dictsel_core._util.validation import Doubles, Floats, Ints
from dictsel_core.selection.problem import Problem

#: Singular values up to this fraction of the largest one are rounding error.
_NEGLIGIBLE = 1e-10
#: An atom of a support depends on the others if less than this fraction of its coordinate is its own.
_INDEPENDENT = 0.999
#: An atom is dependent on a support if less than this fraction of its squared length lies outside of it.
_DEPENDENCE_TOLERANCE = 1e-16
#: Below this fraction, the squared length outside is no longer accurate as a difference of squared lengths.
_MAX_CANCELLED = 1e-5
#: A difference below this fraction of the utility that is removed may be rounding error, and counts as 0.
_RELATIVE_ROUNDING = 1e-8


class Differences(ABC):
    """Utility differences of all additions and swaps, for the patches of a problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def of_supports(self, rows: Ints, supports: Ints) -> tuple[Floats, Floats]:
        """Return f(Z + a) - f(Z), (B, n), and f(Z - b + a) - f(Z), (B, S, n), of patches with supports Z.

        They are 0 and minus infinity for the atoms of a support, and minus infinity for empty slots.
        """
        additions, swaps = self._of_supports(rows, supports)
        for part in (additions, swaps):
            self._problem.equalize_duplicates(part)
        swaps[supports < 0] = -np.inf
        at, slots = np.nonzero(supports >= 0)
        members = supports[at, slots]
        additions[at, members], swaps[at, :, members] = 0, -np.inf
        return additions, swaps

    @abstractmethod
    def _of_supports(self, rows: Ints, supports: Ints) -> tuple[Floats, Floats]:
        """Return the same, with anything for the atoms of a support, for copies and for empty slots."""


class SquaredDifferences(Differences):
    r"""Those of the squared utility, in closed form.

    Of an atom b in Z, the direction u_b is what its removal takes from the span of Z: orthogonal to the other
    atoms, and 0 if b depends on them. Without b, the residual r and the part of an atom a outside the span
    grow by their parts along u_b, so that

    .. math:: f(Z - b + a) - f(Z) = \frac{(\langle r, a \rangle + \langle y, u_b \rangle \langle u_b, a
        \rangle)^2}{2 (|a_\perp|^2 + \langle u_b, a \rangle^2)} - \frac{\langle y, u_b \rangle^2}{2}

    with inner products over the observed entries. In an orthonormal basis of the span, the u_b are the rows
    of the inverse of the support, scaled to unit length.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        lengths = problem.masked_lengths().astype(np.float64, copy=False)
        self._lengths = np.broadcast_to(lengths, (len(problem), len(problem.ground_set)))

    def _of_supports(self, rows: Ints, supports: Ints) -> tuple[Floats, Floats]:
        problem, lengths = self._problem, self._lengths[rows]
        data = problem.data.take(rows, axis=0).astype(np.float64)
        basis, directions = _basis_and_directions(problem.columns(rows, supports))
        inside, loads = self._products(rows, basis), np.matvec(basis, data)
        residuals = _orthogonalized(data, basis)
        correlations = self._products(rows, residuals[:, None])
        outside = lengths - np.square(inside).sum(axis=1)
        cancelled = outside < _MAX_CANCELLED * lengths
        cancelled &= ~problem.ground_set.equal_or_copied(supports)  # nobody asks for their differences
        at, atoms = np.nonzero(cancelled)
        vectors = _orthogonalized(problem.columns(rows[at], atoms[:, None])[:, 0], basis[at])
        outside[at, atoms] = np.vecdot(vectors, vectors)
        along, lost = directions @ inside, np.matvec(directions, loads)[:, :, None]
        noise = problem.rounding[rows, None, None].astype(np.float64)
        limits = (lengths * _DEPENDENCE_TOLERANCE)[:, None], noise
        additions = _explained(correlations, outside[:, None], *limits)[:, 0]
        swaps = _explained(correlations + lost * along, outside.clip(0)[:, None] + along**2, *limits)
        swaps -= lost**2 / 2
        # Both terms of the difference are rounded, and so is the residual.
        swaps *= np.abs(swaps) > _RELATIVE_ROUNDING * lost**2 / 2 + np.sqrt(noise / 2) * np.abs(lost)
        return additions, swaps

    def _products(self, rows: Ints, vectors: Doubles) -> Doubles:
        """Return inner products of vectors (B, S, d) with all atoms, over the observed entries."""
        atoms = self._problem.ground_set.atoms  # float64: differences of lengths lose digits
        if self._problem.observed is not None:  # bases may have rounding errors at missing entries
            vectors = vectors * self._problem.observed[rows, None]
        flat = vectors.reshape(-1, len(atoms)) @ atoms  # one product is faster than one for each patch
        return np.asarray(flat.reshape(*vectors.shape[:2], -1))


def _basis_and_directions(columns: Doubles) -> tuple[Doubles, Doubles]:
    """Return orthonormal rows, or zeros, with the span of columns (B, S, d), and, in this basis, the u_b."""
    left, sizes, basis = np.linalg.svd(columns, full_matrices=False)
    visible = sizes > _NEGLIGIBLE * sizes[:, :1]
    left *= visible[:, None]
    duals = left / np.where(visible, sizes, 1)[:, None]
    is_own = np.vecdot(left, left) > _INDEPENDENT
    lengths = np.linalg.norm(duals, axis=2)
    directions = duals * np.divide(1, lengths, out=np.zeros_like(lengths), where=is_own)[:, :, None]
    return basis * visible[:, :, None], directions


def _orthogonalized(vectors: Doubles, basis: Doubles) -> Doubles:
    """Return what of vectors (P, d) is orthogonal to orthonormal rows (P, S, d)."""
    for _ in range(2):  # the second time removes the rounding errors of the first
        vectors = vectors - np.vecmat(np.matvec(basis, vectors), basis)
    return vectors


def _explained(correlations: Doubles, lengths: Doubles, at_least: Doubles, noise: Doubles) -> Doubles:
    """Return ``correlations^2 / 2 lengths``; zero for dependent atoms and rounding errors."""
    squares = np.square(correlations)
    is_clear = (lengths > at_least) & (squares > noise)
    return squares / np.where(is_clear, 2 * lengths, np.inf)
