"""Where each pixel of a hole is copied from, so that copies fit together: cut out by graph cuts."""

from collections.abc import Iterator

import numpy as np
from scipy.ndimage import binary_dilation, distance_transform_edt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.completion.scale import Scale, Single
from dictsel_core.completion.seams import Seams

#: The offsets that most pixels have are offered to all of them; times that each of them is offered.
_N_OFFSETS, _N_SWEEPS = 80, 2
#: On finer scales, pixels this near to a seam may move to its other side.
_BAND = 3
#: By how much an offset may change when it is taken to the next finer scale.
_SHIFTS = np.array([(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)])
#: Costs are counted in steps of 1 / this, and no more than so many of them.
_STEPS, _MAX_STEPS = 20_000.0, 2**24


class Montage:
    """The offset of each pixel of a hole to the pixel that is copied there.

    Offsets, (H, W, 2), are rows and columns to go, 0 outside the hole. Neighbors that have the same offset
    are neighbors in the picture, so a piece of it is copied as it is; where pieces meet, both should show the
    same. The sum of how much they differ there, and from the pixels around the hole, is minimized over the
    offsets by alpha expansion (Pritch et al., 2009, :DOI:`10.1109/ICCV.2009.5459159`; He and Sun, 2012,
    :DOI:`10.1007/978-3-642-33709-3_2`). Pieces should resemble the guide, (H, W, C), if there is one.
    """

    def __init__(self, scale: Scale, offsets: Ints, guide: Single | None = None) -> None:
        self._scale = scale
        self.offsets = offsets
        self._seams = Seams(scale, guide)

    def cut(self) -> Iterator[None]:
        """Offer the most frequent offsets to all pixels; a pause after each of them."""
        hole = np.flatnonzero(self._scale.hole)
        expansion = Expansion(self._seams, self.offsets)
        common = sorted(_pieces(self._seams, self.offsets), key=lambda each: -len(each[1]))[:_N_OFFSETS]
        for _ in range(_N_SWEEPS):
            improved = False
            for offset, _ in common:
                improved |= expansion.offer(offset, hole)
                yield
            if not improved:
                break

    def polish(self) -> Iterator[None]:
        """Shift pieces by at most one pixel, then move the seams between them; a pause after each piece."""
        for offset, piece in _pieces(self._seams, self.offsets):
            costs = [self._seams.piece_cost(piece, offset + shift, self.offsets) for shift in _SHIFTS]
            self.offsets.reshape(-1, 2)[piece] = offset + _SHIFTS[int(np.argmin(costs))]
            yield
        expansion = Expansion(self._seams, self.offsets)
        for offset, piece in _pieces(self._seams, self.offsets):
            expansion.offer(offset, self._near(offset, piece))
            yield

    def copied(self) -> Single:
        """Return the image with the pieces in its hole, not blended: (H, W, C)."""
        planes = self._scale.planes[:, :, : self._scale.n_channels].copy()
        rows, columns = np.nonzero(self._scale.hole)
        down, across = self.offsets[rows, columns].T
        planes[rows, columns] = planes[rows + down, columns + across]
        return planes

    def finer(self, scale: Scale) -> "Montage":
        """Return the montage on the next finer scale, with the same pieces."""
        coarse = self._scale.hole
        nearest = distance_transform_edt(~coarse, return_distances=False, return_indices=True)
        rows, columns = (
            np.minimum(np.arange(n) // 2, m - 1) for n, m in zip(scale.shape, coarse.shape, strict=True)
        )
        parents = nearest[:, rows[:, None], columns[None, :]]
        offsets = np.where(scale.hole[:, :, None], 2 * self.offsets[parents[0], parents[1]], 0)
        montage = Montage(scale, offsets)
        montage._go_to_sources()
        return montage

    def _go_to_sources(self) -> None:
        """Replace offsets that lead to no source by the way to the nearest one."""
        hole, offsets = np.flatnonzero(self._scale.hole), self.offsets.reshape(-1, 2)
        wrong = hole[~self._seams.is_allowed(hole, offsets[hole])]
        if wrong.size:
            nearest = distance_transform_edt(self._scale.barred, return_distances=False, return_indices=True)
            places = np.divmod(wrong, self._scale.shape[1])
            offsets[wrong] = np.transpose(nearest[:, *places] - np.array(places))

    def _near(self, offset: Ints, piece: Ints) -> Ints:
        """Return the pixels of the hole in and near a piece."""
        width = self._scale.shape[1]
        rows, columns = (
            slice(max(int(each.min()) - _BAND, 0), int(each.max()) + _BAND + 1)
            for each in np.divmod(piece, width)
        )
        hole = self._scale.hole[rows, columns]
        is_piece = (self.offsets[rows, columns] == offset).all(axis=2) & hole
        down, across = np.nonzero(binary_dilation(is_piece, iterations=_BAND) & hole)
        return np.asarray((down + rows.start) * width + across + columns.start)


def _pieces(seams: Seams, offsets: Ints) -> list[tuple[Ints, Ints]]:
    """Return the offsets that pixels of the hole have (2,), each with these pixels."""
    hole = np.flatnonzero(seams.hole)
    found, numbers = np.unique(offsets.reshape(-1, 2)[hole], axis=0, return_inverse=True)
    order = np.argsort(numbers.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(numbers.ravel()))
    return list(zip(found, np.split(hole[order], ends[:-1]), strict=True))


class Expansion:
    """The offsets of all pixels, changed in place when others are offered.

    See Boykov et al., "Fast approximate energy minimization via graph cuts", 2001, :DOI:`10.1109/34.969114`.
    """

    def __init__(self, seams: Seams, offsets: Ints) -> None:
        self._seams = seams
        self._offsets = offsets.reshape(-1, 2)
        self._alone = np.zeros(len(self._offsets))
        self._numbers = np.full(len(self._offsets), -1)  # of nodes; there is none between two offers
        for offset, piece in _pieces(seams, offsets):
            self._alone[piece] = seams.alone(piece, offset)

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
        ends, keep_both, second_takes, first_takes = pairs
        mine, theirs = takes[ends].T
        costs = np.where(mine, np.where(theirs, 0, first_takes), np.where(theirs, second_takes, keep_both))
        after = np.where(takes, take, keep).sum() + costs.sum()
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
