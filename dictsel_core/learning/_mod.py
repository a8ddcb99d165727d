"""MOD, the method of optimal directions: updates all atoms at once by least squares."""

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._support.runs import stepwise
from dictsel_core.learning.codes import Array, LearningState
from dictsel_core.learning.result import LearnedDictionary
from dictsel_core.learning.run import LearningMethod

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


_METHOD = LearningMethod(update_all_atoms)
iter_mod = stepwise(mod, _METHOD.start)
