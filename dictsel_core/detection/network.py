"""The network that tells damage from the picture: convolutions as matrix products.

``experiments/detector`` trains it and says what the layers are.
"""

from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import product
from typing import IO

import numpy as np
from numpy.typing import NDArray

from dictsel_core.detection.plane import Single

#: Sides of what the network is given are multiples of this.
MULTIPLE = 32
#: Values of a product that are computed at once, so that what it needs stays in the cache.
_COLUMNS = 4608
#: Tints are this much smaller than differences in brightness.
_TINT_SCALE = np.float32(4)


class _Layer:
    """A convolution: weights as a matrix, (outputs, inputs times places), and biases.

    They are kept as whole numbers, times a scale for each output.
    """

    def __init__(
        self, weight: NDArray[np.int8], scale: NDArray[np.float32], bias: NDArray[np.float32]
    ) -> None:
        n_out, n_in, self.side, _ = weight.shape
        by_place = (weight * scale[:, None, None, None]).transpose(0, 2, 3, 1)
        self.weight = np.ascontiguousarray(by_place.reshape(n_out, self.side * self.side * n_in))
        self.bias = bias[:, None]


class Network:
    """A U-Net that works at half the size of the picture.

    Maps of features are (channels, rows, columns) with a frame of zeros one pixel wide.
    """

    def __init__(self, layers: Sequence[_Layer], confidence: NDArray[np.float64]) -> None:
        self._layers = layers
        #: Weights by which the features of a region make the logit of its confidence: lines, spots.
        self.confidence = confidence

    def logits(self, plane: Single, tint: Single) -> tuple[Single, Single]:
        """Return the logits of damage, and of lines against spots, each (H, W).

        Parameters
        ----------
        plane : (H, W) ndarray of float32
            Brightness, about 0 to 1; H and W are multiples of `MULTIPLE`.
        tint : (2, H / 2, W / 2) ndarray of float32
            How much brighter red and blue are.
        """
        layers = iter(self._layers)
        features, kept = _given(plane, tint), []
        for level in range(self._n_levels):
            if level:
                kept.append(features)
            features = _convolved(features, next(layers), stride=2 if level else 1)
            features = _convolved(features, next(layers))
        features = _convolved(features, next(layers))
        for skip in reversed(kept):
            _add_doubled(skip[:, 1:-1, 1:-1], _combined(features, next(layers)))
            features = _convolved(skip, next(layers))
        damage, kind = _combined(features, next(layers)).reshape(2, 4, *features[0, 1:-1, 1:-1].shape)
        return _pixels(damage), _pixels(kind)

    @property
    def _n_levels(self) -> int:
        """Number of sizes: each has two layers downwards, each but the last two upwards; two are alone."""
        return len(self._layers) // 4


@cache
def load_network() -> Network:
    """Return the network with the weights that come with this package."""
    with (resources.files("dictsel_core.detection") / "network.npz").open("rb") as stream:
        return read_network(stream)


def read_network(stream: IO[bytes]) -> Network:
    """Return the network with the weights of a file."""
    with np.load(stream, allow_pickle=False) as arrays:
        n_layers = sum(name.startswith("weight") for name in arrays.files)
        layers = [
            _Layer(*(arrays[f"{name}{i}"] for name in ("weight", "scale", "bias"))) for i in range(n_layers)
        ]
        return Network(layers, arrays["confidence"])


def _given(plane: Single, tint: Single) -> Single:
    """Return each 2 x 2 pixels of brightness as four channels, and the two of the tint."""
    features = np.zeros((6, plane.shape[0] // 2 + 2, plane.shape[1] // 2 + 2), np.float32)
    features[4:, 1:-1, 1:-1] = _TINT_SCALE * tint
    for place in range(4):
        features[place, 1:-1, 1:-1] = plane[place // 2 :: 2, place % 2 :: 2] - np.float32(0.5)
    return features


def _pixels(channels: Single) -> Single:
    """Return four channels as 2 x 2 pixels each."""
    _, rows, columns = channels.shape
    return channels.reshape(2, 2, rows, columns).transpose(2, 0, 3, 1).reshape(2 * rows, 2 * columns)


def _convolved(features: Single, layer: _Layer, stride: int = 1) -> Single:
    """Convolve with 3 x 3 weights, and rectify."""
    if stride > 1:
        return _convolved_apart(features, layer, stride)
    n_in, rows, wide = features.shape
    result = np.empty((len(layer.weight), rows, wide), np.float32)
    by_row = layer.weight.reshape(-1, 3, 3 * n_in).transpose(1, 0, 2).copy()
    step = max(1, _COLUMNS // wide)
    for top in range(0, rows - 2, step):
        n = min(step, rows - 2 - top)
        flat = features.reshape(n_in, -1)[:, top * wide : (top + n + 2) * wide]
        beside = np.stack([flat[:, dx : dx + flat.shape[1] - 2] for dx in range(3)]).reshape(3 * n_in, -1)
        size = n * wide - 2  # of rows that follow each other without a gap
        values = by_row[0] @ beside[:, :size]
        for dy in (1, 2):
            values += by_row[dy] @ beside[:, dy * wide : dy * wide + size]
        values += layer.bias
        np.maximum(values, 0, out=values)
        result[:, 1 + top : 1 + top + n].reshape(len(result), -1)[:, 1:-1] = values
    result[:, [0, -1]] = 0
    result[:, :, [0, -1]] = 0
    return result


def _convolved_apart(features: Single, layer: _Layer, stride: int) -> Single:
    """Convolve at every other pixel."""
    n_in, rows, columns = features.shape
    rows, columns = (rows - 2) // stride, (columns - 2) // stride
    result = np.zeros((len(layer.weight), rows + 2, columns + 2), np.float32)
    step = max(1, _COLUMNS // columns)
    for top in range(0, rows, step):
        n = min(step, rows - top)
        around = np.empty((3, 3, n_in, n, columns), np.float32)
        for dy, dx in product(range(3), repeat=2):
            first = stride * top + dy
            band = features[:, first : first + stride * (n - 1) + 1 : stride]
            around[dy, dx] = band[:, :, dx : dx + stride * (columns - 1) + 1 : stride]
        values = layer.weight @ around.reshape(-1, n * columns)
        values += layer.bias
        np.maximum(values, 0, out=values)
        result[:, 1 + top : 1 + top + n, 1:-1] = values.reshape(-1, n, columns)
    return result


def _combined(features: Single, layer: _Layer) -> Single:
    """Return combinations of the channels, pixel by pixel, without a frame."""
    values = layer.weight @ features.reshape(len(features), -1)
    values += layer.bias
    return np.asarray(values.reshape(-1, *features.shape[1:])[:, 1:-1, 1:-1])


def _add_doubled(features: Single, small: Single) -> None:
    """Add to features those of half the size, each to 2 x 2 pixels."""
    for down, right in product(range(2), repeat=2):
        features[:, down::2, right::2] += small
