"""Dictionary learning, the alternative to dictionary selection: atoms are optimized, not selected.

K-SVD and MOD, one iteration at a time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import read_only
from dictsel_core._util.parallel import SteppedRun, finished, step_by_step
from dictsel_core._util.validation import (
    Bools,
    Doubles,
    Floats,
    Ints,
    ObservedData,
    as_count,
    as_generator,
    as_matrix,
    as_nonnegative,
)
from dictsel_core.atoms.ground_set import unit_columns
from dictsel_core.pursuit.codes import code_data

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["LearnedDictionary", "LearningRun", "LearningStep", "iter_ksvd", "iter_mod", "ksvd", "mod"]

#: A rank-one fit ends when the energy that the atom explains grows by less than this fraction ...
_RELATIVE_TOLERANCE = 1e-6
#: ... or after this many rounds.
_MAX_ROUNDS = 20
#: Ridge on the change of the atoms, relative to the largest sum of squared weights of an atom: what the data
#: do not determine stays as it is.
_RIDGE = 1e-10
_STEPS = "which makes one iteration per step and always has a result"
#: A patch whose squared residual is below this fraction of its energy is explained.
_EXPLAINED = 1e-12


class LearningState:
    """Dictionary, codes and residuals of a learner: codes patches, and replaces unused atoms.

    Data and residual, (T, d), are zero at missing entries; `observed` is 0 there and 1 elsewhere, or None.
    Supports, (T, S), are columns of the dictionary padded with -1, coefficients padded with 0.
    """

    def __init__(
        self,
        data: ArrayLike,
        n_atoms: int,
        sparsity: int,
        mask: ArrayLike | None,
        initial: ArrayLike | None,
        rng: np.random.Generator | int | None,
    ) -> None:
        count, self._sparsity = as_count(n_atoms, "n_atoms"), as_count(sparsity, "sparsity")
        given = as_matrix(data, "data", "(points, features)")
        points = ObservedData(given, mask, given.shape[1])
        rows, observed = points.rows(0, len(points))
        self.data: Doubles = rows.astype(np.float64, copy=False)
        self.observed: Doubles | None = None if observed is None else observed.astype(np.float64, copy=False)
        if initial is None:
            self.dictionary = _random_patches(self.data, count, as_generator(rng))
        else:
            self.dictionary = unit_columns(as_matrix(initial, "initial", "(features, atoms)"), "initial")
            if self.dictionary.shape != (given.shape[1], count):
                raise ValueError(
                    f"initial must have the shape (features, atoms), {(given.shape[1], count)}, "
                    f"but its shape is {self.dictionary.shape}."
                )
        self._missing: Bools | None = None if self.observed is None else self.observed == 0
        self.residual = self.data.copy()
        self.supports = np.full((len(self.data), min(self._sparsity, *self.dictionary.shape)), -1)
        self.coefficients = np.zeros(self.supports.shape)
        self.energy = float(np.vecdot(self.data, self.data).sum()) / 2

    @property
    def objective(self) -> float:
        """Sum of |y_t|^2/2 - |r_t|^2/2 on the observed entries."""
        return self.energy - float(np.vecdot(self.residual, self.residual).sum()) / 2

    def code(self) -> None:
        """Code all patches by OMP; a patch keeps its old code if that is better.

        This makes learning monotone (Aharon, Elad and Bruckstein 2006, section IV.C).
        """
        codes = code_data(self.dictionary, self.data, self._sparsity, self._missing)
        better = codes.residual_energy < np.vecdot(self.residual, self.residual)
        self.supports[better] = codes.supports[better]
        self.coefficients[better] = codes.coefficients[better]
        self.refresh_residual()

    def refresh_residual(self) -> None:
        """Compute the residual of all patches from their codes."""
        self.residual = self.data - self.codes() @ self.dictionary.T
        if self.observed is not None:
            self.residual *= self.observed

    def codes(self) -> "csr_array":
        """Return the codes as a sparse matrix (T, k)."""
        return _sparse(self.supports >= 0, self.coefficients, self.supports, self.n_atoms)

    def set_atoms(self, dictionary: Doubles) -> None:
        """Set atoms of any length, and scale the codes; one of length zero keeps its direction only."""
        lengths = np.linalg.norm(dictionary, axis=0)
        alive = lengths > 0
        self.dictionary = np.where(alive, dictionary / np.where(alive, lengths, 1), self.dictionary)
        self.coefficients *= np.where(self.supports >= 0, lengths[self.supports], 0)
        self.refresh_residual()

    def replace_unused(self) -> bool:
        """Replace unused atoms by the patches with the largest residuals; return whether there were any."""
        unused = np.flatnonzero(np.bincount(self.supports[self.supports >= 0], minlength=self.n_atoms) == 0)
        if not unused.size:
            return False
        left: Doubles = np.square(self.residual).sum(axis=1)
        worst = np.argsort(-left, kind="stable")[: len(unused)]
        worst = worst[left[worst] > _EXPLAINED * np.square(self.data[worst]).sum(axis=1)]
        patches = self.data[worst].T
        self.dictionary[:, unused[: len(worst)]] = patches / np.linalg.norm(patches, axis=0)
        return bool(worst.size)

    @property
    def n_atoms(self) -> int:
        """The dictionary size k."""
        return int(self.dictionary.shape[1])

    def fitted(self) -> tuple[list[Ints], list[Doubles]]:
        """Return one index array and one weight array per patch."""
        used = self.supports >= 0
        ends = np.cumsum(used.sum(axis=1))[:-1]
        return np.split(self.supports[used], ends), np.split(self.coefficients[used], ends)


def _random_patches(data: Doubles, n_atoms: int, rng: np.random.Generator) -> Doubles:
    """Return k different nonzero patches, drawn at random, as unit columns."""
    usable = np.flatnonzero(np.vecdot(data, data) > 0)
    if len(usable) < n_atoms:
        raise ValueError(
            f"n_atoms is {n_atoms}, but there are only {len(usable)} nonzero patches to draw atoms from; "
            "give an initial dictionary as initial=..."
        )
    return unit_columns(data[rng.choice(usable, n_atoms, replace=False)].T, "data")


@dataclass(frozen=True)
class LearningStep:
    """One iteration, counted from 1: all patches coded, all atoms updated.

    The objective is the sum over patches of ``|y_t|^2/2 - |r_t|^2/2`` on the observed entries, which never
    decreases; `change` is its growth.
    """

    iteration: int
    objective: float
    change: float


@dataclass(frozen=True, eq=False)
class LearnedDictionary:
    """A learned dictionary and the codes of the patches, with the names of a `Selection`.

    Attributes
    ----------
    dictionary : (d, k) ndarray of float64, read-only
        Atoms as unit columns.
    supports : tuple of (n_t,) ndarray of int
        The columns of `dictionary` that each patch uses (those of a `Selection` index the ground set).
    coefficients : tuple of (n_t,) ndarray
        Their weights.
    objective : (n_iterations,) ndarray
        Value after each iteration.
    converged : bool
        Whether the objective grew by at most the tolerance in the last iteration.
    """

    dictionary: Doubles
    supports: tuple[Ints, ...]
    coefficients: tuple[Floats, ...]
    objective: Doubles
    converged: bool

    def __repr__(self) -> str:
        used = np.mean([len(support) for support in self.supports])
        reached = f", objective {self.objective[-1]:.4g}" if len(self.objective) else ""
        return (
            f"LearnedDictionary({self.dictionary.shape[1]} atoms, {len(self.supports)} patches using "
            f"{used:.3g} each, {len(self.objective)} iterations{reached})"
        )


class LearningRun(SteppedRun[LearningStep, LearnedDictionary]):
    """An iterator over the iterations of a learner; `result` is available after every one."""

    def __init__(
        self,
        state: LearningState,
        update: Callable[[LearningState], None],
        max_iterations: int,
        tolerance: float,
    ) -> None:
        super().__init__()
        self._state, self._update = state, update
        self._max_iterations = as_count(max_iterations, "max_iterations")
        self._tolerance = as_nonnegative(tolerance, "tolerance")
        self._converged = state.energy == 0.0

    def _is_finished(self) -> bool:
        return self._converged or len(self._steps) >= self._max_iterations

    def _advance(self) -> LearningStep:
        state, before = self._state, self._steps[-1].objective if self._steps else 0.0
        state.code()
        replaced = state.replace_unused()
        self._update(state)
        objective = state.objective
        change = objective - before
        # No code uses the new atoms before the next iteration.
        self._converged = change <= self._tolerance and not replaced
        return LearningStep(len(self._steps) + 1, objective, change)

    @property
    def result(self) -> LearnedDictionary:
        """The dictionary after the iterations made."""
        supports, coefficients = self._state.fitted()
        return LearnedDictionary(
            dictionary=read_only(self._state.dictionary.copy()),
            supports=tuple(map(read_only, supports)),
            coefficients=tuple(map(read_only, coefficients)),
            objective=read_only(np.array([step.objective for step in self._steps])),
            converged=self._converged,
        )


@finished
def ksvd(
    data: ArrayLike,
    n_atoms: int,
    sparsity: int,
    *,
    mask: ArrayLike | None = None,
    initial: ArrayLike | None = None,
    max_iterations: int = 200,
    tolerance: float = 1e-6,
    rng: np.random.Generator | int | None = None,
) -> LearningRun:
    r"""Learn a dictionary by K-SVD.

    Each iteration codes all patches by OMP and then updates the atoms in turn: with E_t the residual of
    patch t without the atom, atom and weights become the best rank-one fit to the patches that use the atom,

    .. math:: \min_{d, w} \sum_{t : j \in Z_t} \lVert m_t \circ (E_t - w_t d) \rVert^2,

    where m_t is 1 on the observed entries and 0 elsewhere. It is computed by alternating between d and w,
    which is the power method for the leading singular vectors if nothing is missing.

    Parameters
    ----------
    data : (T, d) array_like
        Patches as rows. Missing entries may have any value, NaN included.
    n_atoms : int
        The dictionary size k.
    sparsity : int
        Maximum number of atoms per patch, s.
    mask : (T, d) array_like of bool, optional
        True = missing: only observed entries count. By default nothing is missing.
    initial : (d, k) array_like, optional
        The initial dictionary. By default k different patches, drawn with `rng`.
    max_iterations : int, optional
        Default is 200, as in the paper's experiments (section 6.1).
    tolerance : float, optional
        Stop when the objective grows by at most this much, in units of squared data. Default is 1e-6.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the initial dictionary. Default is the seed 0.

    Returns
    -------
    LearnedDictionary
        Its objective never decreases: a patch keeps its code unless OMP finds a better one. Atoms that no
        patch uses are replaced by the patches with the largest residuals.

    References
    ----------
    .. [1] M. Aharon, M. Elad and A. Bruckstein, "K-SVD: an algorithm for designing overcomplete dictionaries
       for sparse representation", IEEE Transactions on Signal Processing 54(11), 2006.
       :DOI:`10.1109/TSP.2006.881199`
    """
    state = LearningState(data, n_atoms, sparsity, mask, initial, rng)
    return LearningRun(state, _update_each_atom, max_iterations, tolerance)


iter_ksvd = step_by_step(ksvd, LearningRun, _STEPS)


def _update_each_atom(state: LearningState) -> None:
    """Fit each atom and its weights to the residual without it, in turn."""
    width = state.supports.shape[1]
    weights = state.coefficients.reshape(-1)
    atoms = np.ascontiguousarray(state.dictionary.T)
    for j, at in enumerate(_positions(state)):
        rows = at // width
        left = state.residual[rows]
        observed = None if state.observed is None else state.observed[rows]
        left += _product(weights[at], atoms[j], observed)
        atoms[j], weights[at] = _rank_one_fit(left, observed, atoms[j], weights[at])
        left -= _product(weights[at], atoms[j], observed)
        state.residual[rows] = left
    state.dictionary = np.ascontiguousarray(atoms.T)


def _rank_one_fit(
    left: Doubles, observed: Doubles | None, atom: Doubles, weights: Doubles
) -> tuple[Doubles, Doubles]:
    """Return a unit atom d and weights w that minimize the sum of |m_t (E_t - w_t d)|^2.

    What is left, E_t, is zero at missing entries. Entries of the atom that no patch observes stay, up to the
    scale.
    """
    explained = -1.0
    for _ in range(_MAX_ROUNDS):
        best = weights @ left
        if observed is not None:
            seen = np.square(weights) @ observed
            best = np.where(seen > 0, best / np.where(seen > 0, seen, 1), atom)
        largest = np.abs(best).max()
        if largest == 0:
            return atom, np.zeros_like(weights)
        best /= largest  # whose square neither vanishes nor overflows
        atom = best / np.sqrt(best @ best)
        weights = left @ atom
        gained = np.square(weights)
        if observed is not None:
            lengths = observed @ np.square(atom)
            lengths[lengths == 0] = 1
            weights /= lengths
            gained /= lengths
        before, explained = explained, gained.sum()
        if explained <= before * (1 + _RELATIVE_TOLERANCE):
            break
    return atom, weights


def _positions(state: LearningState) -> list[Ints]:
    flat = state.supports.ravel()
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat[order], np.arange(state.n_atoms))
    return np.split(order, starts)[1:]


def _product(weights: Doubles, atom: Doubles, observed: Doubles | None) -> Doubles:
    product = weights[:, None] * atom
    return product if observed is None else product * observed


@finished
def mod(
    data: ArrayLike,
    n_atoms: int,
    sparsity: int,
    *,
    mask: ArrayLike | None = None,
    initial: ArrayLike | None = None,
    max_iterations: int = 200,
    tolerance: float = 1e-6,
    rng: np.random.Generator | int | None = None,
) -> LearningRun:
    r"""Learn a dictionary by the method of optimal directions [1]_.

    Each iteration codes all patches by OMP and then computes the best dictionary for these codes,

    .. math:: \min_D \sum_t \lVert m_t \circ (y_t - D w_t) \rVert^2,

    where m_t is 1 on the observed entries and 0 elsewhere. With masks this is one least-squares problem for
    each row of D. Parameters and result are those of `ksvd`.

    References
    ----------
    .. [1] K. Engan, S. O. Aase and J. H. Husøy, "Method of optimal directions for frame design", ICASSP 1999.
       :DOI:`10.1109/ICASSP.1999.760624`
    """
    state = LearningState(data, n_atoms, sparsity, mask, initial, rng)
    return LearningRun(state, _update_all_atoms, max_iterations, tolerance)


iter_mod = step_by_step(mod, LearningRun, _STEPS)


def _update_all_atoms(state: LearningState) -> None:
    """Move the dictionary to the least-squares optimum for the current codes."""
    codes = state.codes()
    slopes = (codes.T @ state.residual).T  # (d, k)
    if state.observed is None:
        gram = (codes.T @ codes).toarray()
        change = np.linalg.solve(_ridged(gram), slopes.T).T
    else:
        grams = _masked_grams(state, state.observed)
        change = np.linalg.solve(_ridged(grams), slopes[:, :, None])[:, :, 0]
    state.set_atoms(state.dictionary + change)


def _ridged(grams: Doubles) -> Doubles:
    """Add a small multiple of the unit matrix, in place."""
    diagonals = np.einsum("...kk->...k", grams)
    largest = diagonals.max()
    diagonals += _RIDGE * (largest if largest > 0 else 1.0)
    return grams


def _masked_grams(state: LearningState, observed: Doubles) -> Doubles:
    """Return the sums over t of m_ti w_t w_t^T for every entry i: (d, k, k)."""
    used, n_atoms = state.supports >= 0, state.n_atoms
    both = used[:, :, None] & used[:, None, :]
    columns = state.supports[:, :, None] * n_atoms + state.supports[:, None, :]
    products = state.coefficients[:, :, None] * state.coefficients[:, None, :]
    sums = (_sparse(both, products, columns, n_atoms**2).T @ observed).T
    return np.ascontiguousarray(sums).reshape(-1, n_atoms, n_atoms)


def _sparse(used: Bools, values: Doubles, columns: Ints, n_columns: int) -> "csr_array":
    """Return a sparse matrix of values in the columns of their rows, (T, ...), as far as they are used."""
    from scipy.sparse import csr_array  # noqa: PLC0415  (slow to import)

    ends = np.concatenate([[0], np.cumsum(used.reshape(len(used), -1).sum(axis=1))])
    return csr_array((values[used], columns[used], ends), shape=(len(used), n_columns))
