"""How well copied pieces of an image fit together."""

import numpy as np
from scipy.ndimage import binary_dilation, gaussian_filter, uniform_filter

from dictsel_core._util.compiled import Kernel
from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.completion.scale import Scale, Single, texture_levels

#: Weight of a pixel around the hole, relative to one of another piece; how far around it counts.
_BORDER_WEIGHT, _REACH = 2.0, 3
#: Weight of the difference from the guide, and the standard deviation in pixels of what is compared.
_GUIDE_WEIGHT, _GUIDE_SCALE = 0.3, 1.5
#: Weight of the squared difference of texture levels from those that go on from around the hole, and its
#: fraction where there is more texture than that. A smooth piece has cheap seams, and would be cut too often.
_TEXTURE_WEIGHT, _MORE_TEXTURE = 0.1, 0.2
#: Seams count less where much happens: half if the lengths of the gradients of both sides add up to this.
_BUSY = 0.05
#: Squared differences of pixels that cannot be compared, as one of them may not be copied; and of any seam.
_UNKNOWN, _SEAM = 0.1, 0.002
#: Squared differences are sums over as many channels.
_N_CHANNELS = 3


class Seams:
    """Costs of offsets on a scale, with the guide of a `Montage`. Pixels are counted row by row."""

    def __init__(self, scale: Scale, guide: Single | None = None) -> None:
        self.shape = scale.shape
        self.hole = scale.hole.ravel()
        self._barred = scale.barred
        unit = np.float32(np.sqrt(_N_CHANNELS / scale.n_channels))
        planes = scale.planes[:, :, : scale.n_channels] * unit
        # Pixels, and their differences from those above and to the left.
        steps = [np.diff(planes, axis=axis, prepend=np.take(planes, [0], axis)) for axis in (0, 1)]
        self._features = np.concatenate([planes, *steps], axis=2).reshape(self.hole.size, -1)
        self._planes = planes.reshape(self.hole.size, -1)
        square = np.ones((3, 3), bool)
        self._rim = binary_dilation(scale.hole, square, iterations=_REACH) & ~scale.hole & ~scale.unknown
        self._guide = None
        if guide is not None:
            soft = gaussian_filter(guide, (_GUIDE_SCALE, _GUIDE_SCALE, 0))
            self._guide = (soft * unit).reshape(self.hole.size, -1)
            texture = np.where(scale.hole[:, :, None], scale.texture_around, scale.texture)
            self._texture = texture_levels(texture).reshape(self.hole.size, -1)

    def is_allowed(self, pixels: Ints, offsets: Ints) -> Bools:
        """Return which pixels (N,) may be copied from where offsets (2,) or (N, 2) lead."""
        height, width = self.shape
        rows, columns = pixels // width + offsets[..., 0], pixels % width + offsets[..., 1]
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        return np.asarray(inside & ~self._barred[np.where(inside, rows, 0), np.where(inside, columns, 0)])

    def between(self, first: Ints, second: Ints, offsets: Ints, others: Ints) -> Floats:
        """Return the costs of neighbors (N,), if the first has an offset, and the second another one.

        It is the squared difference of what both offsets show at the two pixels, less where much happens:
        Kwatra et al., "Graphcut textures", 2003, :DOI:`10.1145/882262.882264`.
        """
        costs = np.empty(len(first))
        places = first, second, np.ascontiguousarray(offsets), np.ascontiguousarray(others)
        _set_seam_costs(self._features, self._planes.shape[1], self._barred, places, costs)
        return costs

    def at_border(self, outside: Ints, offsets: Ints) -> Floats:
        """Return the costs of pixels outside the hole (N,) whose neighbors in it have offsets."""
        squares = np.square(self._shown(outside, offsets) - self._features[outside]).sum(axis=1)
        return np.where(self.is_allowed(outside, offsets), _BORDER_WEIGHT * squares, 2 * _UNKNOWN)

    def alone(self, pixels: Ints, offset: Ints) -> Floats:
        """Return the costs of an offset for pixels of the hole (N,), from what is around and the guide."""
        costs = self._around(pixels, offset)
        if self._guide is not None:
            height, width = self.shape
            sources = np.clip(pixels + offset[0] * width + offset[1], 0, height * width - 1)
            costs = costs + _GUIDE_WEIGHT * np.square(self._guide[pixels] - self._guide[sources]).sum(axis=1)
            more = self._texture[sources] - self._texture[pixels]
            weights = np.where(more > 0, _MORE_TEXTURE * _TEXTURE_WEIGHT, _TEXTURE_WEIGHT)
            costs = costs + (weights * np.square(more)).sum(axis=1)
        return np.asarray(costs, np.float64)

    def piece_cost(self, piece: Ints, offset: Ints, offsets: Ints) -> float:
        """Return the cost of an offset for all pixels of a piece; infinite where it is not allowed."""
        if not self.is_allowed(piece, offset).all():
            return np.inf
        current = offsets.reshape(-1, 2)
        cost = float(self.alone(piece, offset).sum())
        for step in (1, self.shape[1], -1, -self.shape[1]):
            first, second = self.neighbors(piece, step)
            outside = ~self.hole[second]
            beyond = self.hole[second] & (current[second] != current[piece[0]]).any(axis=1)
            own = np.broadcast_to(offset, (int(beyond.sum()), 2))
            cost += float(self.at_border(second[outside], offset).sum())
            cost += float(self.between(first[beyond], second[beyond], own, current[second[beyond]]).sum())
        return cost

    def neighbors(self, pixels: Ints, step: int) -> tuple[Ints, Ints]:
        """Return the pixels that have a neighbor at a step in the order of pixels, and these."""
        height, width = self.shape
        columns, others = pixels % width, pixels + step
        is_there = (others >= 0) & (others < height * width)
        if abs(step) == 1:
            is_there &= (columns + step >= 0) & (columns + step < width)
        return pixels[is_there], others[is_there]

    def _shown(self, pixels: Ints, offsets: Ints) -> Single:
        """Return pixels and gradients where offsets lead; any if that is outside of the image."""
        places = pixels + offsets[..., 0] * self.shape[1] + offsets[..., 1]
        return np.asarray(self._features[np.clip(places, 0, len(self._features) - 1)])

    def _around(self, pixels: Ints, offset: Ints) -> Floats:
        """Return the mean squared differences of what an offset shows of the pixels near the hole: (N,)."""
        rows, columns = np.divmod(pixels, self.shape[1])
        box = tuple(
            slice(max(int(each.min()) - _REACH, 0), min(int(each.max()) + _REACH + 1, length))
            for each, length in zip((rows, columns), self.shape, strict=True)
        )
        if not self._rim[box].any():
            return np.zeros(len(pixels))
        near = np.flatnonzero(self._rim[box])
        down, across = np.divmod(near, box[1].stop - box[1].start)
        places = (down + box[0].start) * self.shape[1] + across + box[1].start
        is_compared = self.is_allowed(places, offset)
        near, places = near[is_compared], places[is_compared]
        difference = self._planes[places] - self._planes[places + offset[0] * self.shape[1] + offset[1]]
        squares, counted = (np.zeros(self._rim[box].shape, np.float32) for _ in range(2))
        squares.ravel()[near], counted.ravel()[near] = np.square(difference).sum(axis=1), 1
        size, at = 2 * _REACH + 1, (rows - box[0].start, columns - box[1].start)
        sums, counts = (uniform_filter(each, size, mode="constant")[at] for each in (squares, counted))
        weights = _BORDER_WEIGHT * np.minimum(counts * size, 1)
        return np.asarray(weights * np.maximum(sums, 0) / np.maximum(counts, 0.5 / size**2))


@Kernel
def _set_seam_costs(
    features: Single, n_channels: int, barred: Bools, places: tuple[Ints, Ints, Ints, Ints], costs: Floats
) -> None:
    """Write the costs of `Seams.between`; features are pixels, and behind them gradients."""
    first, second, offsets, others = places
    n_pixels, n_features = features.shape
    width = barred.shape[1]
    for i in range(len(first)):
        if offsets[i, 0] == others[i, 0] and offsets[i, 1] == others[i, 1]:
            costs[i] = 0
            continue
        cost, busy = 0.0, _BUSY
        for pixel in (first[i], second[i]):
            shown = min(max(pixel + offsets[i, 0] * width + offsets[i, 1], 0), n_pixels - 1)
            other = min(max(pixel + others[i, 0] * width + others[i, 1], 0), n_pixels - 1)
            steps, other_steps = 0.0, 0.0
            for k in range(n_features):
                difference = features[shown, k] - features[other, k]
                cost += difference * difference
                if k >= n_channels:
                    steps += features[shown, k] * features[shown, k]
                    other_steps += features[other, k] * features[other, k]
            busy += (np.sqrt(steps) + np.sqrt(other_steps)) / 2
        ways = (second[i], offsets[i, 0], offsets[i, 1]), (first[i], others[i, 0], others[i, 1])
        for pixel, down, across in ways:
            row, column = pixel // width + down, pixel % width + across
            if row < 0 or row >= len(barred) or column < 0 or column >= width or barred[row, column]:
                cost = max(cost, _UNKNOWN)
        costs[i] = cost * _BUSY / busy + _SEAM
