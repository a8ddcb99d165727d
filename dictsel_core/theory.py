"""Theoretical guarantees of the selectors: approximation ratios (table 1) and regret (appendix D)."""

from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Literal, get_args

from dictsel_core._util.validation import as_count, as_n_atoms, as_positive
from dictsel_core.atoms.ground_set import GroundSet, as_ground_set
from dictsel_core.constraints.constraint import Constraint, as_constraint
from dictsel_core.utility import Utility, as_utility

__all__ = ["ApproximationBound", "RegretBound", "approximation_bound", "regret_bound"]

#: The offline selectors with a guarantee.
_OfflineName = Literal["replacement_omp", "replacement_greedy", "sds_ma", "sds_omp"]
#: The online selectors with a guarantee.
_OnlineName = Literal["replacement_omp", "replacement_greedy", "sds_ma"]


@dataclass(frozen=True)
class ApproximationBound:
    """Guarantee for the result of a selector.

    Attributes
    ----------
    ratio : float
        Fraction of the optimum that the objective of the result is at least.
    smoothness : float
        M_{s,2} as `GroundSet.smoothness`; for SDS_MA and SDS_OMP an upper bound on M_s.
    concavity : float
        A lower bound on m_{2s} = sigma_min^2(A, 2s), 0 if 2s different atoms may be dependent; for SDS_MA and
        SDS_OMP one on m_s.
    replacement_sparsity : int or None
        The parameter p of the constraint; k for SDS_MA and SDS_OMP. None if it is unknown, and nothing
        guaranteed.
    sparsity : int
        The maximum size s of a support under the constraint.
    """

    ratio: float
    smoothness: float
    concavity: float
    replacement_sparsity: int | None
    sparsity: int


@dataclass(frozen=True)
class RegretBound:
    """Guarantee for an online selector: the expected alpha-regret is at most `regret`.

    That is, alpha times the utility of the best dictionary in hindsight minus the expected utility of those
    played, over all rounds; alpha is the approximation ratio of the offline selector.
    """

    alpha: float
    regret: float


def approximation_bound(
    ground_set: GroundSet,
    constraint: Constraint,
    *,
    n_points: int,
    n_atoms: int,
    n_steps: int | None = None,
    accuracy: float = 1.0,
    selector: _OfflineName = "replacement_omp",
    utility: Utility | None = None,
) -> ApproximationBound:
    r"""Return the guarantee of table 1 for a ground set and a constraint.

    After k' steps of Replacement OMP or Replacement Greedy, the objective of the supports is at least

    .. math:: \frac{m_{2s}^2}{M_{s,2}^2}
        \Big(1 - \exp\Big(-\frac{\tau k'}{p} \frac{M_{s,2}}{m_{2s}}\Big)\Big)

    times that of the best dictionary of k atoms (theorems 4.1 and 4.2; remark 4.4 for the accuracy
    :math:`\tau`). For individual, matroid and block sparsity p is k, however many steps are made; for average
    sparsity it is 2k + k' - 1, or k + k' - 1 without individual sparsity (appendix B). The objective never
    falls, so if k' exceeds k, the ratio is the best over k, ..., k' steps.

    For SDS_MA the ratio is :math:`(1 - e^{-k'/k})\, m_1 m_s / M_1 M_s`, where m_1 = M_1 for the squared
    utility. For SDS_OMP it is :math:`m_s / k`, of the
    order that table 1 gives: its first atom alone reaches that much. It then refers to the best codes in the
    selected dictionary, not to those of OMP.

    Parameters
    ----------
    ground_set : GroundSet
    constraint : Constraint
    n_points : int
        The number T of patches.
    n_atoms : int
        The size k of the optimal dictionary.
    n_steps : int, optional
        The number k' of steps, which is the size of the selected dictionary. Default is k.
    accuracy : float, optional
        The fraction tau of the largest gain that each step reaches at least. Default is 1.
    selector : {"replacement_omp", "replacement_greedy", "sds_ma", "sds_omp"}, optional
        Default is "replacement_omp".
    utility : Utility, optional
        Multiplies m by its concavity and M by its smoothness. By default u is the squared utility, the only
        one for which SDS_OMP has a ratio.

    Notes
    -----
    m and M are exact for small ground sets, and otherwise bounded by the coherence of the worst atoms
    (Gershgorin). Of equal atoms only one counts, unless the constraint is by matroids, which may tell them
    apart. Still, some five atoms of the standard ground set are dependent, so that nothing is guaranteed in
    advance there; see `Selection.certificate`. The bound is for fully observed patches: under a mask, any
    atoms may become dependent.

    Examples
    --------
    >>> from dictsel_core import IndividualSparsity, standard_ground_set
    >>> basis = standard_ground_set(bases=["dct"])
    >>> for n_steps in (20, 40, 60):  # 1 - 1/e, 1 - 1/e^2, ... for an orthonormal basis
    ...     bound = approximation_bound(
    ...         basis, IndividualSparsity(5), n_points=100, n_atoms=20, n_steps=n_steps
    ...     )
    ...     print(round(bound.ratio, 3))
    0.632
    0.865
    0.95
    """
    as_ground_set(ground_set)
    as_constraint(constraint)
    _check_name(selector, get_args(_OfflineName))
    if utility is not None and selector == "sds_omp":
        raise ValueError("utility must be omitted for sds_omp, whose ratio is for the squared one only.")
    u = as_utility(utility)
    count = as_n_atoms(n_atoms, len(ground_set))
    points = as_count(n_points, "n_points")
    steps = count if n_steps is None else as_count(n_steps, "n_steps")
    tau = as_positive(accuracy, "accuracy", most=1)
    constraint.check(points, len(ground_set))
    if selector.startswith("sds"):
        sizes = [constraint.capacity(points, len(ground_set), number) for number in (count, steps)]
        return _sds_bound(ground_set, sizes, count, tau * steps, selector, u)
    numbers = _useful_numbers_of_steps(constraint, points, len(ground_set), count, steps)
    bounds = (_replacement_bound(ground_set, constraint, points, count, number, tau, u) for number in numbers)
    return max(bounds, key=lambda bound: bound.ratio)


def regret_bound(
    ground_set: GroundSet,
    *,
    sparsity: int,
    n_atoms: int,
    rounds: int,
    largest_energy: float,
    selector: _OnlineName = "replacement_omp",
    utility: Utility | None = None,
) -> RegretBound:
    r"""Return the guarantee of appendix D for an online selector with Hedge (theorems D.2, D.4 and D.6).

    The expected alpha-regret after T rounds is at most :math:`c\, k \sqrt{2 T \ln n}`, where alpha is the
    ratio of the offline selector and c the largest gain of a learner in units of the utility: half the
    largest energy of a patch, times m_1 / M_s for SDS_MA and times 1 / M for Replacement OMP.

    With another utility than the squared one, twice its largest value stands for the energy. By smoothness L
    of the utility its squared slopes are at most 2L times that value, so that the M of the gains of
    Replacement OMP is that of the ground set alone.

    Parameters
    ----------
    ground_set, sparsity, n_atoms, rounds, largest_energy, utility
        As in `OnlineSelector`; the number T of rounds and the largest energy must be given.
    selector : {"replacement_omp", "replacement_greedy", "sds_ma"}, optional
        Default is "replacement_omp".

    Examples
    --------
    >>> from dictsel_core import standard_ground_set
    >>> basis = standard_ground_set(bases=["dct"])
    >>> bound = regret_bound(basis, sparsity=5, n_atoms=20, rounds=2000, largest_energy=64.0)
    >>> round(bound.alpha, 3)
    0.632
    """
    as_ground_set(ground_set)
    _check_name(selector, get_args(_OnlineName))
    count = as_n_atoms(n_atoms, len(ground_set))
    s = min(as_count(sparsity, "sparsity"), count)
    learners = count * sqrt(2 * as_count(rounds, "rounds") * log(len(ground_set)))
    largest = as_positive(largest_energy, "largest_energy") / 2
    u = as_utility(utility)
    if selector == "sds_ma":
        bound = _sds_bound(ground_set, [s, s], count, count, selector, u)
        return RegretBound(bound.ratio, largest * u.concavity / bound.smoothness * learners)
    smoothness = ground_set.smoothness
    concavity = ground_set.smallest_eigenvalue(2 * s, merge_duplicates=True)
    if selector == "replacement_omp":
        largest /= smoothness
    alpha = _ratio(u.concavity * concavity, u.smoothness * smoothness, 1.0)
    return RegretBound(alpha, largest * learners)


def _replacement_bound(
    ground_set: GroundSet,
    constraint: Constraint,
    points: int,
    n_atoms: int,
    steps: int,
    tau: float,
    utility: Utility,
) -> ApproximationBound:
    n = len(ground_set)
    used = min(steps, n)
    sizes = [constraint.capacity(points, n, number) for number in (n_atoms, used)]
    p = constraint.replacement_sparsity(n_atoms, used)
    # The supports compared are one of the optimal dictionary and one of the selected one.
    concavity = ground_set.smallest_eigenvalue(sum(sizes), merge_duplicates=constraint.treats_atoms_alike)
    concavity *= utility.concavity
    smoothness = ground_set.smoothness * utility.smoothness
    ratio = 0.0 if p is None else _ratio(concavity, smoothness, tau * steps / p)
    return ApproximationBound(ratio, smoothness, concavity, p, max(sizes))


def _useful_numbers_of_steps(
    constraint: Constraint, points: int, n_candidates: int, n_atoms: int, steps: int
) -> list[int]:
    """Return the number of steps, and where it exceeds k, the last one for each smaller size of supports."""
    numbers = [*range(n_atoms, min(steps, n_candidates + 1)), steps]
    largest = {
        constraint.capacity(points, n_candidates, min(number, n_candidates)): number for number in numbers
    }
    return list(largest.values())


def _ratio(concavity: float, smoothness: float, rate: float) -> float:
    if concavity == 0.0:
        return 0.0
    return (concavity / smoothness) ** 2 * (1.0 - exp(-rate * smoothness / concavity))


def _sds_bound(
    ground_set: GroundSet, sizes: list[int], n_atoms: int, steps: float, selector: str, utility: Utility
) -> ApproximationBound:
    """Return the guarantee of SDS_MA or SDS_OMP; `sizes` are of the optimal supports, and of the selected."""
    # Both selectors are for constraints that treat atoms alike.
    concavity = ground_set.smallest_eigenvalue(sizes[0], merge_duplicates=True)
    smoothness = ground_set.largest_eigenvalue(sizes[1])
    concavity, smoothness = concavity * utility.concavity, smoothness * utility.smoothness
    if selector == "sds_omp":
        ratio = concavity / n_atoms
    else:  # single atoms are unit vectors: m_1 and M_1 are those of the utility
        single = utility.concavity / utility.smoothness
        ratio = single * concavity / smoothness * (1.0 - exp(-steps / n_atoms))
    return ApproximationBound(ratio, smoothness, concavity, n_atoms, max(sizes))


def _check_name(name: object, known: tuple[str, ...]) -> None:
    if name not in known:
        raise ValueError(f"selector must be one of {', '.join(known)}, not {name!r}.")
