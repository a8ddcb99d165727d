"""The approximation guarantee of Replacement OMP and Replacement Greedy (theorems 4.1 to 4.3)."""

from dataclasses import dataclass
from itertools import combinations
from math import comb, exp

import numpy as np

from dictsel_core._validation import as_count, as_n_atoms
from dictsel_core.constraints import Constraint
from dictsel_core.ground_set import GroundSet

#: Maximum number of subsets for which the restricted concavity is computed exactly.
_MAX_SUBSETS = 20_000


@dataclass(frozen=True)
class ApproximationBound:
    """Guarantee for the result of `replacement_omp` and `replacement_greedy`.

    Attributes
    ----------
    ratio : float
        The objective of the result is at least this fraction of the optimum.
    smoothness : float
        M_{s,2}, as `GroundSet.smoothness`.
    concavity : float
        A lower bound on m_{2s} = sigma_min^2(A, 2s); 0 if 2s of the atoms may be dependent.
    replacement_sparsity : int
        The parameter p of the constraint.
    sparsity : int
        The maximum size s of a support under the constraint.
    """

    ratio: float
    smoothness: float
    concavity: float
    replacement_sparsity: int
    sparsity: int


def approximation_bound(
    ground_set: GroundSet,
    constraint: Constraint,
    *,
    n_points: int,
    n_atoms: int,
    n_steps: int | None = None,
) -> ApproximationBound:
    r"""Return the guarantee of theorems 4.1 to 4.3 for a ground set and a constraint.

    After k' steps the objective of the selected supports is at least

    .. math:: \frac{m_{2s}^2}{M_{s,2}^2} \Big(1 - \exp\Big(-\frac{k'}{p} \frac{M_{s,2}}{m_{2s}}\Big)\Big)

    times that of the best dictionary of k atoms. (In the paper, sigma_max and sigma_min are swapped in
    theorem 4.3.)

    Parameters
    ----------
    ground_set : GroundSet
    constraint : Constraint
    n_points : int
        The number T of patches.
    n_atoms : int
        The size k of the optimal dictionary.
    n_steps : int, optional
        The number k' of steps. Default is k.

    Returns
    -------
    ApproximationBound

    Notes
    -----
    m_{2s} is exact for small ground sets, and otherwise bounded by the coherence of the worst 2s atoms
    (Gershgorin). The standard ground set contains the constant atom once per basis, so its m_2 is 0 and
    nothing is guaranteed, although it works in practice. The bound is for fully observed patches: under a
    mask, any atoms may become dependent.

    Examples
    --------
    >>> from dictsel_core import IndividualSparsity, standard_ground_set
    >>> basis = standard_ground_set(bases=["dct"])
    >>> bound = approximation_bound(basis, IndividualSparsity(5), n_points=100, n_atoms=20)
    >>> round(bound.ratio, 3)  # 1 - 1/e for an orthonormal basis
    0.632
    """
    given: tuple[object, object] = (ground_set, constraint)
    if not isinstance(given[0], GroundSet) or not isinstance(given[1], Constraint):
        raise TypeError(
            "approximation_bound needs a GroundSet and a Constraint, "
            f"not {type(given[0]).__name__} and {type(given[1]).__name__}."
        )
    count = as_n_atoms(n_atoms, len(ground_set))
    points = as_count(n_points, "n_points")
    steps = count if n_steps is None else as_count(n_steps, "n_steps")
    constraint.check(points, len(ground_set))
    largest = min(max(count, steps), len(ground_set))  # dictionary size, ours or the optimal one
    sparsity = constraint.capacity(points, len(ground_set), largest)
    concavity = _restricted_concavity(ground_set, min(2 * sparsity, len(ground_set)))
    smoothness = ground_set.smoothness
    p = constraint.replacement_sparsity(largest)
    ratio = 0.0
    if concavity > 0.0:
        ratio = (concavity / smoothness) ** 2 * (1.0 - exp(-steps / p * smoothness / concavity))
    return ApproximationBound(ratio, smoothness, concavity, p, sparsity)


def _restricted_concavity(ground_set: GroundSet, size: int) -> float:
    """Return a lower bound on the smallest eigenvalue of the Gram matrix of any `size` atoms."""
    if size > ground_set.n_features or ground_set.coherence > 1.0 - 1e-12:
        return 0.0
    gram = ground_set.atoms.T @ ground_set.atoms
    if comb(len(ground_set), size) <= _MAX_SUBSETS:
        subsets = np.array(list(combinations(range(len(ground_set)), size)))
        blocks = gram[subsets[:, :, None], subsets[:, None, :]]
        smallest = float(np.linalg.eigvalsh(blocks)[:, 0].min())
        return smallest if smallest > 1e-12 else 0.0
    others = np.sort(np.abs(gram - np.eye(len(gram))), axis=0)[::-1]
    return max(0.0, 1.0 - float(others[: size - 1].sum(axis=0).max()))
