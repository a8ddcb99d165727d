"""Places in undamaged photographs that a network takes for damage: the next ones to learn from."""

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from experiments.detector.aging import Place, halved
from experiments.detector.compose import MOST_TINT, RANGE
from experiments.detector.material import Material, Plane
from experiments.detector.network import Network

#: A mark is where the logit is larger than this; so many marks are kept of a photograph at one zoom.
_LEVEL, _N_PLACES = -0.85, 8
#: Longest sides at which photographs are looked at, one after the other; smaller ones as they are.
_SIDES = (560, 1000)


def mine(network: Network, material: Material, turn: int) -> tuple[Place, ...]:
    """Return where a network finds damage in undamaged photographs; at each turn, in another half of them."""
    network.eval()
    places: list[Place] = []
    for number in range(turn % 2, len(material.photographs), 2):
        photograph = material.photographs[number]
        zoom = min(1.0, _SIDES[turn // 2 % 2] / max(photograph.shape))
        places += _places(network, number, stretched(photograph, zoom), zoom)
    network.train()
    return tuple(places)


def stretched(photograph: NDArray[np.uint8], zoom: float = 1.0) -> tuple[Plane, Plane]:
    """Return brightness and tint of a photograph at some size, the range of the brightness as 0 to 1."""
    size = [max(64, int(zoom * side)) // 2 * 2 for side in photograph.shape[1::-1]]
    pixels = np.asarray(
        Image.fromarray(photograph).resize((size[0], size[1]), Image.Resampling.BICUBIC), np.float32
    )
    gray = pixels.mean(axis=2)
    low, high = np.quantile(gray[::2, ::2], (0.005, 0.995))
    span = np.float32(max(high - low, 1.0))
    tint = halved(np.stack([pixels[..., channel] - gray for channel in (0, 2)]))
    return np.asarray((gray - np.float32(low)) / span).clip(*RANGE), (tint / span).clip(-MOST_TINT, MOST_TINT)


def logits_of(network: Network, plane: Plane, tint: Plane) -> tuple[Plane, Plane]:
    """Return the logits of damage, and of lines against spots, for a plane of any even size."""
    even = [
        np.pad(each, [(0, 0), *((0, -side % step) for side in each.shape[1:])], mode="reflect")
        for each, step in ((plane[None], 32), (tint, 16))
    ]
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        logits = network(*(torch.from_numpy(each)[None] for each in even))[0].float().numpy()
    damage, kind = logits[:, : plane.shape[0], : plane.shape[1]]
    return damage, kind


def _places(network: Network, number: int, picture: tuple[Plane, Plane], zoom: float) -> list[Place]:
    logits, _ = logits_of(network, *picture)
    labels, n_labels = ndimage.label(logits > _LEVEL, np.ones((3, 3), bool))
    if not n_labels:
        return []
    strength = ndimage.sum_labels(1 / (1 + np.exp(-logits)), labels, np.arange(1, n_labels + 1))
    strongest = 1 + np.argsort(-strength)[:_N_PLACES]
    middles = ndimage.maximum_position(logits, labels, strongest)
    return [Place(number, float(row / zoom), float(column / zoom), zoom) for row, column in middles]
