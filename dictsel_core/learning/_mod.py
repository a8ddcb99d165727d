"""MOD, the method of optimal directions: updates all atoms at once by least squares."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.runs import with_parameters_of
from dictsel_core.learning.run import LearnedDictionary, LearningRun, start_learning
from dictsel_core.learning.state import Array, LearningState

#: Ridge on the change of the atoms, relative to the largest sum of squared weights of an atom: what the data
#: do not determine stays as it is.
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

    Each iteration codes all patches by OMP and then computes the best dictionary for these codes,

    .. math:: \min_D \sum_t \lVert m_t \circ (y_t - D w_t) \rVert^2,

    where m_t is 1 on the observed entries and 0 elsewhere. With masks this is one least-squares problem for
    each row of D.

    Parameters
    ----------
    data, n_atoms, sparsity, mask, initial, max_iterations, tolerance, rng
        As in `ksvd`.

    Returns
    -------
    LearnedDictionary
        As that of `ksvd`.

    See Also
    --------
    iter_mod : The same, iteration by iteration.
    ksvd : Updates one atom at a time, together with its weights.
    replacement_omp : Selects atoms from a ground set instead of learning them.

    References
    ----------
    .. [1] K. Engan, S. O. Aase and J. H. Husøy, "Method of optimal directions for frame design", ICASSP 1999.
       :DOI:`10.1109/ICASSP.1999.760624`

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


@with_parameters_of(mod)
def iter_mod(**given: Any) -> LearningRun:  # noqa: ANN401  (checked by the run)
    """Start `mod`, and return its run, which makes one iteration per step.

    The parameters are those of `mod`, checked at the call. There is a result after every step.

    Examples
    --------
    >>> import numpy as np
    >>> run = iter_mod(np.random.default_rng(0).normal(size=(50, 16)), 8, 2)
    >>> next(run).objective < next(run).objective
    True
    """
    return start_learning(update_all_atoms, **given)
