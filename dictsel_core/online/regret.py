"""The regret of an online player relative to a dictionary chosen in hindsight."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._util.validation import as_nonnegative, as_plain_array, as_real_array
from dictsel_core.pursuit.codes import code_data

Array = NDArray[np.float64]


def utilities(
    dictionary: ArrayLike, data: ArrayLike, sparsity: int, *, mask: ArrayLike | None = None
) -> Array:
    r"""Return the utility of a dictionary for each patch: :math:`|y_t|^2/2 - |r_t|^2/2`, (T,).

    The reward :math:`\max_{|w|_0 \le s} u(y_t, X w)` of a round is NP-hard to compute; as in the paper's
    experiments, the code is that of OMP, whose parameters these are. `data` may be a single patch, (d,).

    Examples
    --------
    >>> import numpy as np
    >>> utilities(np.eye(3)[:, :2], [[2.0, 1.0, 0.0], [0.0, 0.0, 1.0]], 1).tolist()
    [2.0, 0.0]
    """
    rows = np.atleast_2d(as_plain_array(data, "data"))
    missing = None if mask is None else np.atleast_2d(as_plain_array(mask, "mask"))
    codes = code_data(dictionary, rows, sparsity, missing)
    rows = rows.astype(np.float64)
    observed = rows if missing is None else np.where(missing, 0, rows)
    # Where nothing is explained, rounding may leave the residual longer than the patch.
    return np.asarray(np.maximum(np.square(observed).sum(axis=1) - codes.residual_energy, 0) / 2)


def alpha_regret(player: ArrayLike, reference: ArrayLike, alpha: float = 1.0) -> Array:
    r"""Return the regret after every round: :math:`\alpha \sum_\tau f_\tau(X^*) - \sum_\tau f_\tau(X_\tau)`.

    Divided by 1, ..., T it is the average regret.

    Parameters
    ----------
    player : (T,) array_like
        Utility of the dictionary played in each round.
    reference : (T,) array_like
        Utility of one dictionary chosen in hindsight, such as that of `replacement_omp` on all patches.
        The optimal dictionary of the definition (section 5) is NP-hard to find.
    alpha : float, optional
        Factor of the reference. Default is 1; in theorems D.2, D.4 and D.6 it is the offline approximation
        ratio.

    Examples
    --------
    >>> alpha_regret([1.0, 2.0, 3.0], [3.0, 3.0, 3.0]).tolist()
    [2.0, 3.0, 3.0]
    """
    played, best = as_real_array(player, "player"), as_real_array(reference, "reference")
    if played.ndim != 1 or played.shape != best.shape:
        raise ValueError(
            "player and reference must hold one utility per round each, but their shapes are "
            f"{played.shape} and {best.shape}."
        )
    return np.asarray(np.cumsum(as_nonnegative(alpha, "alpha") * best - played))
