"""Replacement OMP (section 4.2), the paper's own selector."""

from numpy.typing import ArrayLike

from dictsel_core._util.parallel import finished
from dictsel_core._util.validation import as_positive
from dictsel_core.atoms import GroundSet
from dictsel_core.constraints import Constraint
from dictsel_core.selection.engine import OMPEngine, Repeats, Selector, as_max_repeats, as_smoothness
from dictsel_core.selection.run import SelectionRun, iterate
from dictsel_core.utility import Utility


@finished
def replacement_omp(  # noqa: PLR0913  (options by keyword)
    ground_set: GroundSet,
    data: ArrayLike,
    constraint: Constraint,
    n_atoms: int,
    *,
    mask: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    utility: Utility | None = None,
    smoothness: float | None = None,
    decay: bool = False,
    repeats: Repeats | None = None,
    accuracy: float = 1.0,
) -> SelectionRun:
    r"""Select a dictionary by Replacement OMP (algorithm 1, section 4.2).

    Starting from empty supports, each step selects the atom a with the largest

    .. math:: \max_{(Z'_1, \dots, Z'_T) \in \mathcal{F}_a} \left\{ \frac{1}{M}
        \sum_t \lVert (A^\top r_t)_{Z'_t \setminus Z_t} \rVert^2
        - M \sum_t \lVert (w_t)_{Z_t \setminus Z'_t} \rVert^2 \right\}

    over the feasible replacements of the current supports (eqs. 3 and 5), applies the best replacement, and
    refits the weights w_t by least squares on the observed entries, which gives the residuals r_t.

    Parameters
    ----------
    ground_set : GroundSet
        The n candidate atoms.
    data : (T, d) array_like
        Patches as rows. Missing entries may have any value, NaN included.
    constraint : Constraint
        Which supports are allowed.
    n_atoms : int
        The dictionary size k.
    mask : (T, d) array_like of bool, optional
        True = missing: only observed entries count. By default nothing is missing.
    weights : (T, d) or (T,) array_like, optional
        How many times the squared error of each entry, or patch, counts. Default is 1; 0 is missing.
    utility : Utility, optional
        Another utility u than the squared one, such as `HuberUtility`: then :math:`A^\top r_t` stands for the
        gradient of u, M is multiplied by its smoothness, and refits maximize u, which takes far longer.
    smoothness : float, optional
        M. By default that of the ground set, for which theorem 4.2 holds. With a smaller one, more
        replacements happen, and the objective may decrease in some steps.
    decay : bool, optional
        True is ROMPd (section 6.1): M decreases as :math:`M / \sqrt{i}` in iteration i, so that gains
        do not all reach zero. The objective may then decrease in some steps. Default is False.
    repeats : {"extra", "steps", "none"}, optional
        What happens if an atom that is already selected wins again. "extra": the iteration is part of the
        next step, and up to k are made. "steps": it is a step, as in algorithm 1 taken literally; the
        dictionary may then have fewer than k atoms. "none": only new atoms compete. Default is "extra", and
        "none" with decay.
    accuracy : float, optional
        Each step reaches at least this fraction of the largest gain (remark 4.4). Default is 1.

    Returns
    -------
    Selection
        With exactly k atoms, unless repeats are steps. `objective` is the sum of f_t(Z_t), `gains` the maxima
        above. Without decay, the objective grows by at least half the gain of each step.

    See Also
    --------
    replacement_ols : Uses exact gains and costs; selects better dictionaries if much is missing.
    replacement_greedy : Uses exact differences; slower, and not for average sparsity.
    chunked_replacement_omp : The same on several threads or machines.

    Notes
    -----
    With "extra" and "steps" the first k iterations are those of the paper, and theorem 4.2 holds. If no
    replacement has a positive gain, the new atom with the largest summed squared correlation joins the
    dictionary without being used. Of atoms that are equal up to sign, the first one wins.

    One step costs O(dn) for each patch that the previous step has changed, and O(ds^2) for its refit; if
    nothing is missing and the dictionary small, O(kn) and O(s^3). Any other patch costs O(n) at most.

    Examples
    --------
    Data made of three atoms, which are recovered:

    >>> import numpy as np
    >>> from dictsel_core import IndividualSparsity, replacement_omp, standard_ground_set
    >>> ground_set = standard_ground_set(bases=["dct"])
    >>> weights = np.random.default_rng(0).normal(size=(50, 3))
    >>> data = weights @ ground_set.atoms[:, [5, 17, 40]].T
    >>> selection = replacement_omp(ground_set, data, IndividualSparsity(3), 3)
    >>> sorted(selection.indices.tolist())
    [5, 17, 40]

    Half of the entries missing, and a budget of two atoms per patch on average:

    >>> from dictsel_core import AverageSparsity
    >>> mask = np.random.default_rng(1).random(data.shape) < 0.5
    >>> average = replacement_omp(ground_set, data, AverageSparsity(3, 100), 3, mask=mask)
    >>> sum(len(support) for support in average.supports)
    100
    """
    if repeats is not None:
        as_max_repeats(repeats, 0)
    problem = ground_set, data, constraint, n_atoms, mask, weights, utility
    tau, constant = as_positive(accuracy, "accuracy", most=1), as_smoothness(smoothness, ground_set)
    return Selector("replacement_omp", OMPEngine).start(
        *problem, smoothness=constant, decay=decay, repeats=repeats, accuracy=tau
    )


iter_replacement_omp = iterate(replacement_omp)
