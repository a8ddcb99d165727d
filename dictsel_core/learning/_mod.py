"""MOD, the method of optimal directions: all atoms at once by least squares."""

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core.learning.codes import Array, LearningState, learning_state
from dictsel_core.learning.result import LearnedDictionary
from dictsel_core.learning.run import LearningRun

#: Ridge on the change of the atoms, as a part of the largest squared weight of one: what the data do not
#: determine stays as it is.
_RIDGE = 1e-10


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
) -> LearnedDictionary:
    r"""Learn a dictionary by the method of optimal directions.

    Each iteration codes all patches by OMP and then takes the dictionary that is best for these codes,

    .. math:: \min_D \sum_t \lVert m_t \circ (y_t - D w_t) \rVert^2,

    where m_t is 1 on the observed entries and 0 elsewhere. With masks this is one least-squares problem for
    each row of D.

    Parameters
    ----------
    data : (T, d) array_like
        Patches as rows; missing entries may hold anything.
    n_atoms : int
        The dictionary size k.
    sparsity : int
        Most atoms one patch may use, s.
    mask : (T, d) array_like of bool, optional
        True = missing. The loss counts observed entries only.
    initial : (d, k) array_like, optional
        The dictionary to begin with; different patches drawn with `rng` if left out.
    max_iterations : int
        200 in the paper's experiments (section 6.1).
    tolerance : float
        Stop when the objective changes by no more than this; absolute, in the units of squared data.
    rng : numpy.random.Generator or int, optional
        For the initial dictionary; seeded with 0 if left out.

    Returns
    -------
    LearnedDictionary
        Its objective never falls: a patch keeps its old code where OMP finds no better one. Atoms that no
        patch uses are replaced by the patches that are explained worst.

    References
    ----------
    .. [1] K. Engan, S. O. Aase and J. H. Husøy, "Method of optimal directions for frame design", ICASSP 1999.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> data = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 16))  # in a space of three dimensions
    >>> learned = mod(data, 3, 3)
    >>> bool(learned.objective[-1] > 0.999999 * (data**2).sum() / 2)
    True
    """
    return iter_mod(
        data,
        n_atoms,
        sparsity,
        mask=mask,
        initial=initial,
        max_iterations=max_iterations,
        tolerance=tolerance,
        rng=rng,
    ).finish()


def iter_mod(
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
    """Learn step by step: an iterator over one `LearningStep` per iteration.

    Input is checked at the call. Parameters are those of `mod`.
    """
    state = learning_state(data, n_atoms, sparsity, mask, initial, rng)
    return LearningRun(state, update_all_atoms, max_iterations, tolerance)


def update_all_atoms(state: LearningState) -> None:
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
