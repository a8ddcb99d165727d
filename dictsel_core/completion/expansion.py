"""One step of alpha expansion: which pixels are better off with another offset, all decided at once."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from dictsel_core._support.validation import Bools, Floats, Ints
from dictsel_core.completion.seams import Seams

#: Costs are counted in steps of 1 / this, and no more than so many of them.
_STEPS, _MAX_STEPS = 20_000.0, 2**24


class Expansion:
    """The offsets of all pixels, to which others are offered [1]_.

    Parameters
    ----------
    seams : Seams
    offsets : (H, W, 2) ndarray of int
        Changed in place.

    References
    ----------
    .. [1] Y. Boykov, O. Veksler and R. Zabih, "Fast approximate energy minimization via graph cuts", IEEE
       Transactions on Pattern Analysis and Machine Intelligence 23(11), 2001. :DOI:`10.1109/34.969114`
    """

    def __init__(self, seams: Seams, offsets: Ints) -> None:
        self._seams = seams
        self._offsets = offsets.reshape(-1, 2)
        self._alone = np.zeros(len(self._offsets))
        self._numbers = np.full(len(self._offsets), -1)  # of nodes; there is none between two offers
        pixels = np.flatnonzero(seams.hole)
        found, numbers = np.unique(self._offsets[pixels], axis=0, return_inverse=True)
        for number, offset in enumerate(found):
            own = pixels[numbers.ravel() == number]
            self._alone[own] = seams.alone(own, offset)

    def offer(self, offset: Ints, pixels: Ints) -> bool:
        """Give an offset to those of some pixels (N,) that lower the total cost; return whether any did."""
        allowed = self._seams.is_allowed(pixels, offset)
        nodes = pixels[allowed & (self._offsets[pixels] != offset).any(axis=1)]
        if not len(nodes):
            return False
        alone = self._seams.alone(nodes, offset)
        keep, take = self._alone[nodes].copy(), alone.copy()
        pairs = self._add_neighbors(nodes, offset, keep, take)
        takes = _least_cut(keep, take, *pairs)
        before = keep.sum() + pairs[1].sum()
        after = np.where(takes, take, keep).sum() + _pair_costs(takes, *pairs).sum()
        if not takes.any() or after >= before - 1e-9:
            return False
        self._offsets[nodes[takes]], self._alone[nodes[takes]] = offset, alone[takes]
        return True

    def _add_neighbors(
        self, nodes: Ints, offset: Ints, keep: Floats, take: Floats
    ) -> tuple[Ints, Floats, Floats, Floats]:
        """Add the costs of neighbors that cannot change to those of pixels, in place.

        Returns the pairs of neighbors that both can, as numbers of nodes (P, 2), and their costs if both
        keep their offsets, if the second alone takes the other one, and if the first alone does.
        """
        seams, current = self._seams, self._offsets
        numbers = self._numbers
        numbers[nodes] = np.arange(len(nodes))
        width = seams.shape[1]
        pairs = []
        for step in (1, width, -1, -width):
            first, second = seams.neighbors(nodes, step)
            outside, fixed = ~seams.hole[second], seams.hole[second] & (numbers[second] < 0)
            at, beyond = numbers[first[outside]], second[outside]
            keep[at] += seams.at_border(beyond, current[first[outside]])
            take[at] += seams.at_border(beyond, offset)
            first_fixed, second_fixed = first[fixed], second[fixed]
            at, others = numbers[first_fixed], current[second_fixed]
            keep[at] += seams.between(first_fixed, second_fixed, current[first_fixed], others)
            take[at] += seams.between(
                first_fixed, second_fixed, np.broadcast_to(offset, others.shape), others
            )
            if step > 0:
                both = numbers[second] >= 0
                pairs.append(np.stack([first[both], second[both]], axis=1))
        first, second = np.concatenate(pairs).T
        mine, theirs = current[first], current[second]
        new = np.broadcast_to(offset, mine.shape)
        both_ends = np.stack([numbers[first], numbers[second]], axis=1)
        numbers[nodes] = -1
        return (
            both_ends,
            seams.between(first, second, mine, theirs),
            seams.between(first, second, mine, new),
            seams.between(first, second, new, theirs),
        )


def _pair_costs(takes: Bools, pairs: Ints, keep: Floats, second: Floats, first: Floats) -> Floats:
    """Return the costs of pairs, given which nodes take the new offset."""
    mine, theirs = takes[pairs[:, 0]], takes[pairs[:, 1]]
    return np.where(mine, np.where(theirs, 0.0, first), np.where(theirs, second, keep))


def _least_cut(
    keep: Floats, take: Floats, pairs: Ints, both_keep: Floats, second_takes: Floats, first_takes: Floats
) -> Bools:
    """Return which nodes take the new offset for the least cost, by a minimum cut.

    Costs of pairs must be at most the sum of those of changing either; larger ones count as that sum.
    """
    n_nodes, (first, second) = len(keep), pairs.T
    both_keep = np.minimum(both_keep, second_takes + first_takes)
    # Each pair is a constant, costs of its nodes, and a cost if the first keeps and the second takes.
    take = take.copy()
    np.add.at(take, first, first_takes - both_keep)
    np.add.at(take, second, -first_takes)
    change = take - keep
    source, sink, nodes = n_nodes, n_nodes + 1, np.arange(n_nodes)
    rows = np.concatenate([np.full(n_nodes, source), nodes, first])
    columns = np.concatenate([nodes, np.full(n_nodes, sink), second])
    costs = np.concatenate(
        [np.maximum(change, 0), np.maximum(-change, 0), first_takes + second_takes - both_keep]
    )
    capacities = np.minimum(np.rint(costs * _STEPS), _MAX_STEPS).astype(np.int32)
    used = capacities > 0
    shape = (n_nodes + 2, n_nodes + 2)
    graph = csr_array(
        (capacities[used], (rows[used].astype(np.int32), columns[used].astype(np.int32))), shape=shape
    )
    rest = graph - maximum_flow(graph, source, sink).flow
    rest.data = (rest.data > 0).astype(np.int32)
    rest.eliminate_zeros()
    takes = np.ones(n_nodes + 2, bool)
    takes[breadth_first_order(rest, source, return_predecessors=False)] = False
    return takes[:n_nodes]
