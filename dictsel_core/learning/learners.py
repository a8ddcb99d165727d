"""K-SVD and MOD."""

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.parallel import finished, step_by_step
from dictsel_core._util.validation import Ints
from dictsel_core.learning.run import Array, LearningRun, LearningState

#: A rank-one fit ends when the energy that the atom explains grows by less than this fraction ...
_RELATIVE_TOLERANCE = 1e-6
#: ... or after this many rounds.
_MAX_ROUNDS = 20
#: Ridge on the change of the atoms, relative to the largest sum of squared weights of an atom: what the data
#: do not determine stays as it is.
_RIDGE = 1e-10
_STEPS = "which makes one iteration per step and always has a result"


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
        True = missing. The loss counts observed entries only. By default nothing is missing.
    initial : (d, k) array_like, optional
        The initial dictionary. By default k different patches, drawn with `rng`.
    max_iterations : int, optional
        Default is 200, as in the paper's experiments (section 6.1).
    tolerance : float, optional
        Stop when the objective grows by at most this much; absolute, in the units of squared data. Default
        is 1e-6.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the initial dictionary. Default is the seed 0.

    Returns
    -------
    LearnedDictionary
        Its objective never decreases: a patch keeps its code unless OMP finds a better one. Atoms that no
        patch uses are replaced by the patches with the largest residuals.

    See Also
    --------
    iter_ksvd : The same, iteration by iteration.
    mod : Updates all atoms at once by least squares.
    replacement_omp : Selects atoms from a ground set instead of learning them.

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


def _rank_one_fit(left: Array, observed: Array | None, atom: Array, weights: Array) -> tuple[Array, Array]:
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
    """Return the positions of each atom in the flattened supports."""
    flat = state.supports.ravel()
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat[order], np.arange(state.n_atoms))
    return np.split(order, starts)[1:]


def _product(weights: Array, atom: Array, observed: Array | None) -> Array:
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

    See Also
    --------
    ksvd : Updates one atom at a time, together with its weights.

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


def _ridged(grams: Array) -> Array:
    """Add a small multiple of the unit matrix, in place."""
    diagonals = np.einsum("...kk->...k", grams)
    largest = diagonals.max()
    diagonals += _RIDGE * (largest if largest > 0 else 1.0)
    return grams


def _masked_grams(state: LearningState, observed: Array) -> Array:
    """Return the sums over t of m_ti w_t w_t^T for every entry i: (d, k, k)."""
    from scipy.sparse import csr_array  # noqa: PLC0415  (slow to import)

    n_points, n_atoms = len(state.supports), state.n_atoms
    used = state.supports >= 0
    both = used[:, :, None] & used[:, None, :]
    columns = state.supports[:, :, None] * n_atoms + state.supports[:, None, :]
    products = state.coefficients[:, :, None] * state.coefficients[:, None, :]
    ends = np.concatenate([[0], np.cumsum(both.sum(axis=(1, 2)))])
    pairs = csr_array((products[both], columns[both], ends), shape=(n_points, n_atoms**2))
    sums = (pairs.T @ observed).T
    return np.ascontiguousarray(sums).reshape(-1, n_atoms, n_atoms)
