"""K-SVD: one atom after the other, together with its weights, by a rank-one fit."""

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._validation import Ints
from dictsel_core.learning.codes import Array, LearningState, learning_state
from dictsel_core.learning.result import LearnedDictionary
from dictsel_core.learning.run import LearningRun

#: Alternation ends when the energy that the atom explains grows by less than this part of it ...
_SETTLED = 1e-6
#: ... or after so many rounds.
_MOST_ROUNDS = 20


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
) -> LearnedDictionary:
    r"""Learn a dictionary by K-SVD.

    Each iteration codes all patches by OMP and then goes through the atoms: with E_t what the other atoms
    leave over of patch t, atom and weights become the best rank-one fit over the patches that use it,

    .. math:: \min_{d, w} \sum_{t : j \in Z_t} \lVert m_t \circ (E_t - w_t d) \rVert^2,

    where m_t is 1 on the observed entries and 0 elsewhere. It is found by alternating between d and w,
    which is the power method for the leading singular vectors where nothing is missing.

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
    .. [1] M. Aharon, M. Elad and A. Bruckstein, "K-SVD: an algorithm for designing overcomplete dictionaries
       for sparse representation", IEEE Transactions on Signal Processing 54(11), 2006.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> data = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 16))  # in a space of three dimensions
    >>> learned = ksvd(data, 3, 3)
    >>> bool(learned.objective[-1] > 0.999999 * (data**2).sum() / 2)
    True
    """
    return iter_ksvd(
        data,
        n_atoms,
        sparsity,
        mask=mask,
        initial=initial,
        max_iterations=max_iterations,
        tolerance=tolerance,
        rng=rng,
    ).finish()


def iter_ksvd(
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

    Input is checked at the call. Parameters are those of `ksvd`.
    """
    state = learning_state(data, n_atoms, sparsity, mask, initial, rng)
    return LearningRun(state, update_each_atom, max_iterations, tolerance)


def update_each_atom(state: LearningState) -> None:
    """Fit each atom and its weights to what the other atoms leave over, in turn."""
    width = state.supports.shape[1]
    weights = state.coefficients.reshape(-1)
    atoms = np.ascontiguousarray(state.dictionary.T)
    for j, at in enumerate(_places(state)):
        rows = at // width
        left = state.residual[rows]
        observed = None if state.observed is None else state.observed[rows]
        left += _product(weights[at], atoms[j], observed)
        atoms[j], weights[at] = rank_one_fit(left, observed, atoms[j], weights[at])
        left -= _product(weights[at], atoms[j], observed)
        state.residual[rows] = left
    state.dictionary = np.ascontiguousarray(atoms.T)


def rank_one_fit(left: Array, observed: Array | None, atom: Array, weights: Array) -> tuple[Array, Array]:
    """Return a unit atom d and weights w that minimise the sum of |m_t (E_t - w_t d)|^2, from given ones on.

    Parameters
    ----------
    left : (B, d) ndarray
        The E_t, zero at missing entries.
    observed : (B, d) ndarray or None
        1.0 where observed and 0.0 where missing; None if nothing is missing.
    atom : (d,) ndarray
        Entries that no patch observes stay as they are, up to the scale.
    weights : (B,) ndarray
    """
    explained = -1.0
    for _ in range(_MOST_ROUNDS):
        best = weights @ left
        if observed is not None:
            seen = np.square(weights) @ observed
            best = np.where(seen > 0, best / np.where(seen > 0, seen, 1), atom)
        length = np.sqrt(best @ best)
        if length == 0:
            return atom, np.zeros_like(weights)
        atom = best / length
        weights = left @ atom
        gained = np.square(weights)
        if observed is not None:
            lengths = observed @ np.square(atom)
            lengths[lengths == 0] = 1
            weights /= lengths
            gained /= lengths
        before, explained = explained, gained.sum()
        if explained <= before * (1 + _SETTLED):
            break
    return atom, weights


def _places(state: LearningState) -> list[Ints]:
    """Return where each atom stands in the flattened supports."""
    flat = state.supports.ravel()
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat[order], np.arange(state.n_atoms))
    return np.split(order, starts)[1:]


def _product(weights: Array, atom: Array, observed: Array | None) -> Array:
    product = weights[:, None] * atom
    return product if observed is None else product * observed
