"""Where each pixel of a hole is copied from, so that copies fit together: cut out by graph cuts."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, distance_transform_edt

from dictsel_core._support.validation import Ints
from dictsel_core.completion.expansion import Expansion
from dictsel_core.completion.scale import Scale, Single
from dictsel_core.completion.seams import Seams

#: The offsets that most pixels have are offered to all of them; times that each of them is offered.
_N_OFFSETS, _N_SWEEPS = 80, 2
#: On finer scales, pixels this near to a seam may move to its other side.
_BAND = 3
#: By how much an offset may change when it is taken to the next finer scale.
_SHIFTS = np.array([(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)])


class Montage:
    """The offset of each pixel of a hole to the pixel that is copied there.

    Neighbors that have the same offset are neighbors in the picture, so a piece of it is copied as it is;
    where pieces meet, both should show the same. The sum of how much they differ there, and from the pixels
    around the hole, is minimized over the offsets by alpha expansion [1]_ [2]_.

    Parameters
    ----------
    scale : Scale
    offsets : (H, W, 2) ndarray of int
        Rows and columns to go from each pixel of the hole to one that may be copied; 0 elsewhere.
    guide : (H, W, C) ndarray of float32 or None
        What the hole looks like roughly, if that is known; pieces should resemble it.

    Attributes
    ----------
    offsets : (H, W, 2) ndarray of int

    References
    ----------
    .. [1] Y. Pritch, E. Kav-Venaki and S. Peleg, "Shift-map image editing", ICCV 2009.
       :DOI:`10.1109/ICCV.2009.5459159`
    .. [2] K. He and J. Sun, "Statistics of patch offsets for image completion", ECCV 2012.
       :DOI:`10.1007/978-3-642-33709-3_2`
    """

    def __init__(self, scale: Scale, offsets: Ints, guide: Single | None = None) -> None:
        self._scale = scale
        self.offsets = offsets
        self._seams = Seams(scale, guide)

    def cut(self) -> Iterator[None]:
        """Offer the most frequent offsets to all pixels; a pause after each of them."""
        hole = np.flatnonzero(self._scale.hole)
        expansion = Expansion(self._seams, self.offsets)
        found, counts = np.unique(self.offsets[self._scale.hole], axis=0, return_counts=True)
        common = found[np.argsort(-counts, kind="stable")[:_N_OFFSETS]]
        for _ in range(_N_SWEEPS):
            improved = False
            for offset in common:
                improved |= expansion.offer(offset, hole)
                yield
            if not improved:
                break

    def polish(self) -> Iterator[None]:
        """Shift pieces by at most one pixel, then move the seams between them; a pause after each piece."""
        for offset, piece in self._pieces():
            self._shift(offset, piece)
            yield
        expansion = Expansion(self._seams, self.offsets)
        for offset, piece in self._pieces():
            expansion.offer(offset, self._near(offset, piece))
            yield

    def finer(self, scale: Scale) -> "Montage":
        """Return the montage on the next finer scale, with the same pieces."""
        coarse = self._scale.hole
        nearest = distance_transform_edt(~coarse, return_distances=False, return_indices=True)
        rows, columns = (
            np.minimum(np.arange(n) // 2, m - 1) for n, m in zip(scale.shape, coarse.shape, strict=True)
        )
        parents = nearest[:, rows[:, None], columns[None, :]]
        offsets = np.where(scale.hole[:, :, None], 2 * self.offsets[parents[0], parents[1]], 0)
        return Montage(scale, _allowed(scale, offsets))

    def _pieces(self) -> list[tuple[Ints, Ints]]:
        """Return the offsets that pixels have (2,), each with these pixels."""
        hole = np.flatnonzero(self._scale.hole)
        offsets, numbers = np.unique(self.offsets[self._scale.hole], axis=0, return_inverse=True)
        order = np.argsort(numbers.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(numbers.ravel()))
        return list(zip(offsets, np.split(hole[order], ends[:-1]), strict=True))

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

    def _shift(self, offset: Ints, piece: Ints) -> None:
        """Give a piece the best of the offsets near its own."""
        costs = [self._seams.piece_cost(piece, offset + shift, self.offsets) for shift in _SHIFTS]
        self.offsets.reshape(-1, 2)[piece] = offset + _SHIFTS[int(np.argmin(costs))]


def _allowed(scale: Scale, offsets: Ints) -> Ints:
    """Return offsets of which those that lead to no source are replaced by the way to the nearest one."""
    height, width = scale.shape
    rows, columns = np.indices(scale.shape)
    targets = rows + offsets[:, :, 0], columns + offsets[:, :, 1]
    inside = (targets[0] >= 0) & (targets[0] < height) & (targets[1] >= 0) & (targets[1] < width)
    barred = scale.barred[np.where(inside, targets[0], 0), np.where(inside, targets[1], 0)]
    wrong = scale.hole & (~inside | barred)
    if not wrong.any():
        return offsets
    nearest: NDArray[np.int32] = distance_transform_edt(
        scale.barred, return_distances=False, return_indices=True
    )
    direct = np.stack([nearest[0] - rows, nearest[1] - columns], axis=2)
    return np.where(wrong[:, :, None], direct, offsets)
