"""Places in undamaged photographs that a network takes for damage: the next ones to learn from."""

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage

from experiments.detector.aging import Place
from experiments.detector.material import Material, Plane
from experiments.detector.network import Network

#: A mark is where the logit is larger than this; so many marks are kept of a photograph at one zoom.
_LEVEL, _N_PLACES = -0.85, 8
#: Longest sides at which photographs are looked at, if they are at least as large.
_SIDES = (1000, 560)


def mine(network: Network, material: Material) -> tuple[Place, ...]:
    """Return where a network finds damage in undamaged photographs, of several sizes."""
    network.eval()
    places: list[Place] = []
    for number, photograph in enumerate(material.photographs):
        longest = max(photograph.shape)
        for side in _SIDES:
            if side <= 1.1 * longest:
                zoom = min(1.0, side / longest)
                places += _places(network, number, stretched(photograph, zoom), zoom)
    network.train()
    return tuple(places)


def stretched(photograph: NDArray[np.uint8], zoom: float = 1.0) -> Plane:
    """Return the brightness of a photograph at some size, its range as 0 to 1."""
    gray = photograph.mean(axis=2, dtype=np.float32)
    if zoom < 1:
        gray = ndimage.zoom(ndimage.gaussian_filter(gray, 0.4 * (1 / zoom - 1)), zoom, order=1)
    low, high = np.quantile(gray[::2, ::2], (0.005, 0.995))
    return np.asarray((gray - low) / max(high - low, 1.0), np.float32)


def logits_of(network: Network, plane: Plane) -> tuple[Plane, Plane]:
    """Return the logits of damage, and of lines against spots, for a plane of any size."""
    even = np.pad(plane, [(0, -side % 32) for side in plane.shape], mode="reflect")
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        given = torch.from_numpy(even)[None, None].to(memory_format=torch.channels_last)
        logits = network(given)[0].float().numpy()
    damage, kind = logits[:, : plane.shape[0], : plane.shape[1]]
    return damage, kind


def _places(network: Network, number: int, plane: Plane, zoom: float) -> list[Place]:
    logits, _ = logits_of(network, plane)
    labels, n_labels = ndimage.label(logits > _LEVEL, np.ones((3, 3), bool))
    if not n_labels:
        return []
    strength = ndimage.sum_labels(1 / (1 + np.exp(-logits)), labels, np.arange(1, n_labels + 1))
    strongest = 1 + np.argsort(-strength)[:_N_PLACES]
    middles = ndimage.maximum_position(logits, labels, strongest)
    return [Place(number, float(row / zoom), float(column / zoom), zoom) for row, column in middles]
