"""How good a network is while it is trained: on pictures that are fixed, and not trained on."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from experiments.detector.compose import Sample, compose
from experiments.detector.material import Material, Plane
from experiments.detector.mine import logits_of, stretched
from experiments.detector.network import Network

_CLASSES = {
    "cracks": ("crack", "crack"),
    "folds": ("fold", "fold"),
    "scratches": ("scratches", "scratches"),
    "thin": ("hairline", "scuffs"),
    "film": ("film",),
    "drawn dust": ("specks", "hairs"),
}
_N_SAMPLES = 32
_SIDE = 256
#: Longest side of undamaged photographs.
_SIDE_WHOLE = 700


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
        self._undamaged = [
            stretched(each, min(1, _SIDE_WHOLE / max(each.shape))) for each in material.photographs
        ]

    def line(self, network: Network) -> str:
        """Return recall / precision by class, and the part of undamaged pictures that is marked, at 0.5."""
        network.eval()
        cells = []
        for name, samples in self._samples.items():
            counts = [_counts(each, _marks(network, each.plane, each.tint)) for each in samples]
            found, damage, right, marked = np.sum(counts, axis=0)
            cells.append(f"{name} {found / max(damage, 1):.2f}/{right / max(marked, 1):.2f}")
        parts = [100 * _marks(network, *each).mean() for each in self._undamaged]
        cells.append(f"undamaged {np.mean(parts):.2f} % ({np.max(parts):.2f})")
        return "        " + "  ".join(cells)


def _marks(network: Network, plane: Plane, tint: Plane) -> NDArray[np.bool_]:
    return logits_of(network, plane, tint)[0] > 0


def _counts(sample: Sample, marks: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return damage that is marked, all damage, marks within 2 pixels of damage, and all marks."""
    near = ndimage.binary_dilation(sample.truth | ~sample.known, iterations=2)
    wide = ndimage.binary_dilation(marks)
    return np.array(
        [(wide & sample.truth).sum(), sample.truth.sum(), (marks & near).sum(), marks.sum()], float
    )
