"""Orthogonal matching pursuit under the sparsity constraints of the selectors."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import read_only
from dictsel_core._util.parallel import as_thread_count
from dictsel_core._util.validation import Floats, Ints, ObservedData, as_counts
from dictsel_core.constraints import (
    AverageSparsity,
    BlockMatroidSparsity,
    BlockSparsity,
    Constraint,
    IndividualSparsity,
    Matroid,
    MatroidSparsity,
)
from dictsel_core.constraints.constraint import as_constraint
from dictsel_core.pursuit.codes import SparseCodes, as_coding_problem, code_points
from dictsel_core.pursuit.columns import CHUNK, Pursuit, Rule

#: A rule for each chunk (start, stop).
Rules = dict[tuple[int, int], Rule]


def constrained_omp(
    dictionary: ArrayLike,
    data: ArrayLike,
    constraint: Constraint,
    *,
    mask: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    indices: ArrayLike | None = None,
    threads: int | None = None,
) -> SparseCodes:
    r"""Code patches by orthogonal matching pursuit under a sparsity constraint (section 3).

    Data can be coded under the constraint under which their dictionary was selected.

    - Individual sparsity: `omp` with the cap of each patch.
    - Average sparsity: every patch is coded by OMP up to its cap; then the steps of all patches that explain
      most are kept within the budget. A step needs those before it, so none counts for more than an earlier
      one of its patch.
    - Block sparsity: all patches of a block select the same atom in each step, the one with the largest sum
      of :math:`(a^\top r_t)^2 / \lVert m_t \circ a \rVert^2` (simultaneous OMP [1]_).
    - Individual matroids: a patch selects among the atoms that leave its support independent; with block
      matroids, a block does.
    - Any other constraint: in each step every patch selects the best atom that `Constraint.is_feasible`
      allows, those that gain most first. This asks it for every selected atom at least, with all supports,
      which takes long for many patches.

    Parameters
    ----------
    dictionary, data, mask, weights, threads
        As in `omp`.
    constraint : Constraint
        Which supports are allowed.
    indices : (k,) array_like of int, optional
        Ground-set index of each column, as `Selection.indices`, to which matroids refer. Default is 0, 1, ...

    Returns
    -------
    SparseCodes
        Supports are columns of the dictionary. Under block sparsity, -1 may also be in between: where a patch
        cannot use an atom of its block.

    References
    ----------
    .. [1] J. A. Tropp, A. C. Gilbert and M. J. Strauss, "Algorithms for simultaneous sparse approximation.
       Part I: Greedy pursuit", Signal Processing 86(3), 2006. :DOI:`10.1016/j.sigpro.2005.05.030`

    Examples
    --------
    Three atoms for two patches, which go where they explain most:

    >>> import numpy as np
    >>> from dictsel_core import AverageSparsity
    >>> data = [[9.0, 8.0, 7.0], [3.0, 2.0, 1.0]]
    >>> constrained_omp(np.eye(3), data, AverageSparsity(None, 3)).n_used.tolist()
    [3, 0]
    >>> constrained_omp(np.eye(3), data, AverageSparsity(2, 3)).n_used.tolist()
    [2, 1]
    """
    as_constraint(constraint)
    matrix, points = as_coding_problem(dictionary, data, mask, weights)
    n_columns = matrix.shape[1]
    names = np.arange(n_columns) if indices is None else as_counts(indices, "indices", minimum=0)
    if len(names) != n_columns:
        raise ValueError(
            f"indices must name each column of dictionary, {n_columns}, but there are {len(names)}."
        )
    caps, rules = _caps_and_rules(matrix, points, constraint, names, as_thread_count(threads))
    pursuit = Pursuit(matrix, max(1, int(caps.max())))
    if not isinstance(constraint, BlockSparsity | BlockMatroidSparsity):
        return code_points(pursuit, points, caps, as_thread_count(threads), rules=rules)
    order = np.concatenate(constraint.members)  # the patches of a block are neighbors
    codes = code_points(pursuit, points.reordered(order), caps, as_thread_count(threads), rules=rules)
    back = np.argsort(order)
    coefficients, energies = codes.coefficients[back], codes.residual_energy[back]
    return SparseCodes(
        codes.dictionary, read_only(codes.supports[back]), read_only(coefficients), read_only(energies)
    )


def _caps_and_rules(
    matrix: Floats, points: ObservedData, constraint: Constraint, names: Ints, threads: int
) -> tuple[Ints, Rules | None]:
    """Return the sparsity of each patch, and how atoms are selected, unless by each patch alone."""
    n_points, n_columns = len(points), matrix.shape[1]
    if isinstance(constraint, MatroidSparsity | BlockSparsity | BlockMatroidSparsity):
        return _block_rules(*_blocks(constraint, n_points), names)
    constraint.check(n_points, n_columns)
    if not isinstance(constraint, IndividualSparsity | AverageSparsity):
        capacity = constraint.capacity(n_points, n_columns, n_columns)
        rule = _feasible_only(constraint, names)  # all patches in step
        return np.full(n_points, min(capacity, n_columns)), {(0, n_points): rule}
    caps = np.broadcast_to(n_columns if constraint.caps is None else constraint.caps, n_points)
    caps = np.minimum(caps, n_columns)
    if isinstance(constraint, AverageSparsity):
        caps = _within_budget(matrix, points, caps, constraint.budget, threads)
    return caps, None


def _within_budget(matrix: Floats, points: ObservedData, caps: Ints, budget: int, threads: int) -> Ints:
    """Return how many steps each patch makes if the best steps of all patches use up the budget."""
    pursuit = Pursuit(matrix, min(int(caps.max()), budget))
    path = np.empty((len(points), pursuit.capacity + 1), points.dtype)
    code_points(pursuit, points, caps, threads, path=path)
    worth = -np.diff(path, axis=1).T  # (steps, patches): of equal ones, earlier steps come first
    np.minimum.accumulate(worth, axis=0, out=worth)  # no step is worth more than the one it needs
    n_useful = np.count_nonzero(worth > 0)
    bought = np.argsort(-worth, axis=None, kind="stable")[: min(budget, n_useful)]
    return np.bincount(bought % len(points), minlength=len(points)).astype(np.intp)


def _blocks(
    constraint: MatroidSparsity | BlockSparsity | BlockMatroidSparsity, n_points: int
) -> tuple[list[int], Sequence[Matroid]]:
    """Return the numbers of patches that share a support, and the matroid of each; one each by default."""
    if isinstance(constraint, MatroidSparsity):
        constraint.matroids_with_rows(n_points)  # which refuses another number of patches
        matroids = constraint.matroids
        return [1] * n_points, [matroids] * n_points if isinstance(matroids, Matroid) else matroids
    constraint.check_count(n_points)
    return [len(members) for members in constraint.members], constraint.matroid_of_block


def _block_rules(sizes: list[int], matroids: Sequence[Matroid], names: Ints) -> tuple[Ints, Rules]:
    """Return caps and rules of patches in the order of their blocks."""
    try:
        ranks = {id(matroid): matroid.rank_of(names.tolist()) for matroid in matroids}
    except IndexError:
        raise ValueError(
            f"A matroid of constraint is for fewer atoms than there are: it does not know atom {names.max()}."
        ) from None
    rules = {}
    for first, ends in _chunks_of_blocks(sizes):
        own = matroids[first : first + len(ends) - 1]
        rules[int(ends[0]), int(ends[-1])] = _shared_scores(ends[:-1] - ends[0], own, names)
    return np.repeat([ranks[id(matroid)] for matroid in matroids], sizes), rules


def _chunks_of_blocks(sizes: Sequence[int]) -> list[tuple[int, Ints]]:
    """Return the first block of each chunk and the ends of its blocks; a chunk holds whole blocks."""
    ends = np.concatenate([[0], np.cumsum(sizes)])
    chunks, first = [], 0
    for last in range(1, len(ends)):
        if last == len(ends) - 1 or ends[last + 1] - ends[first] > CHUNK:
            chunks.append((first, ends[first : last + 1]))
            first = last
    return chunks


def _shared_scores(starts: Ints, matroids: Sequence[Matroid], names: Ints) -> Rule:
    """Return the rule by which the patches from each start on select the same allowed atom."""
    padded = np.append(names, -1)
    kinds = MatroidSparsity(matroids).matroids_with_rows(len(matroids))

    def share(scores: Floats, supports: Ints) -> None:
        sizes = np.diff(np.append(starts, len(scores)))
        sums = np.add.reduceat(scores, starts, axis=0)
        # Patches that cannot use an atom of their block have -1 in its place.
        unions = np.maximum.reduceat(supports, starts, axis=0)
        for matroid, rows in kinds:
            free, _ = matroid.exchanges(padded[unions[rows]], names)
            sums[rows] = np.where(free, sums[rows], -1)
        scores[...] = np.repeat(sums, sizes, axis=0)

    return share


def _feasible_only(constraint: Constraint, names: Ints) -> Rule:
    """Return the rule by which each patch selects the best atom that keeps all supports feasible."""

    def restrict(scores: Floats, supports: Ints) -> None:
        chosen = [names[row[row >= 0]] for row in supports]
        for point in np.argsort(-scores.max(axis=1), kind="stable"):
            before, best = chosen[point], -1
            for column in np.argsort(-scores[point], kind="stable"):
                if scores[point, column] <= 0:
                    break
                chosen[point] = np.append(before, names[column])
                if constraint.is_feasible(chosen):
                    best = int(column)
                    break
                chosen[point] = before
            own = scores[point, best]
            scores[point] = -1
            if best >= 0:
                scores[point, best] = own

    return restrict
