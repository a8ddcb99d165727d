"""How good a network is while it is trained: on pictures that are fixed, and not trained on."""

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage

from experiments.detector.compose import Sample, compose
from experiments.detector.material import Material, Plane
from experiments.detector.network import Network

_CLASSES = {
    "cracks": ("crack", "crack"),
    "scratches": ("scratches", "scratches"),
    "film": ("film",),
    "drawn dust": ("specks", "hairs"),
}
_N_SAMPLES = 12
_SIDE = 256


class Validation:
    """Damaged pictures of each class, and parts of undamaged photographs."""

    def __init__(self, material: Material) -> None:
        self._samples = {
            name: [
                compose(material, (_SIDE, _SIDE), np.random.default_rng([7, number]), shapes=shapes)
                for number in range(_N_SAMPLES)
            ]
            for name, shapes in _CLASSES.items()
        }
        self._undamaged = [_middle(each) for each in material.photographs]

    def line(self, network: Network) -> str:
        """Return recall / precision by class, and the part of undamaged pictures that is marked, at 0.5."""
        network.eval()
        cells = []
        for name, samples in self._samples.items():
            counts = [_counts(each, _marks(network, each.plane)) for each in samples]
            found, damage, right, marked = np.sum(counts, axis=0)
            cells.append(f"{name} {found / max(damage, 1):.2f}/{right / max(marked, 1):.2f}")
        parts = [100 * _marks(network, each).mean() for each in self._undamaged]
        cells.append(f"undamaged {np.mean(parts):.2f} % ({np.max(parts):.2f})")
        return "        " + "  ".join(cells)


def _marks(network: Network, plane: Plane) -> NDArray[np.bool_]:
    with torch.no_grad():
        return np.asarray(network(torch.from_numpy(plane)[None, None])[0, 0] > 0)


def _counts(sample: Sample, marks: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return damage that is marked, all damage, marks within 2 pixels of damage, and all marks."""
    near = ndimage.binary_dilation(sample.truth | ~sample.known, iterations=2)
    wide = ndimage.binary_dilation(marks)
    return np.array(
        [(wide & sample.truth).sum(), sample.truth.sum(), (marks & near).sum(), marks.sum()], float
    )


def _middle(photograph: NDArray[np.uint8]) -> Plane:
    gray = photograph.mean(axis=2, dtype=np.float32)
    low, high = np.quantile(gray, (0.005, 0.995))
    top, left = ((side - _SIDE) // 2 for side in gray.shape)
    part = gray[top : top + _SIDE, left : left + _SIDE]
    return np.asarray((part - low) / (high - low), np.float32)
