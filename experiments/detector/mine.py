"""Places in undamaged photographs that a network takes for damage: the next ones to learn from."""

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from experiments.detector.aging import TO_CHROMA, Place, halved
from experiments.detector.material import Material, Plane
from experiments.detector.network import Network

#: Brightness, (H, W), and chroma, (2, H / 2, W / 2).
Given = tuple[Plane, Plane]

#: A mark is where the logit is larger than this; so many marks are kept of a photograph at one zoom.
_LEVEL, _N_PLACES = -0.85, 8
#: Longest sides at which photographs are looked at, if they are at least as large.
_SIDES = (1000, 560)


def mine(network: Network, material: Material) -> tuple[Place, ...]:
    """Return where a network finds damage in undamaged photographs, of several sizes, every other in gray."""
    network.eval()
    places: list[Place] = []
    for number, photograph in enumerate(material.photographs):
        longest = max(photograph.shape)
        for side in _SIDES:
            if side <= 1.1 * longest:
                zoom = min(1.0, side / longest)
                given = stretched(photograph, zoom, is_gray=number % 2 == 0)
                places += _places(network, number, given, zoom)
    network.train()
    return tuple(places)


def stretched(photograph: NDArray[np.uint8], zoom: float = 1.0, *, is_gray: bool = False) -> Given:
    """Return brightness and chroma of a photograph at some size, the range of the brightness as 0 to 1."""
    if zoom < 1:
        size = (round(photograph.shape[1] * zoom), round(photograph.shape[0] * zoom))
        photograph = np.asarray(Image.fromarray(photograph).resize(size, Image.Resampling.BICUBIC))
    even = photograph[: photograph.shape[0] // 2 * 2, : photograph.shape[1] // 2 * 2].astype(np.float32)
    plane, *chroma = np.moveaxis(even @ TO_CHROMA, 2, 0)
    low, high = np.quantile(plane[::2, ::2], (0.005, 0.995))
    span = np.float32(max(high - low, 1.0))
    halves = np.stack([halved(each) for each in chroma]) / span
    return np.asarray((plane - low) / span, np.float32), halves * np.float32(not is_gray)


def logits_of(network: Network, given: Given) -> tuple[Plane, Plane]:
    """Return the logits of damage, and of lines against spots, for a picture of any even size."""
    plane, chroma = given
    more = [-side % 32 for side in plane.shape]
    even = np.pad(plane, [(0, each) for each in more], mode="reflect")
    colors = np.pad(chroma, [(0, 0), *((0, each // 2) for each in more)], mode="reflect")
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        both = (torch.from_numpy(each) for each in (even[None, None], colors[None]))
        logits = network(*both)[0].float().numpy()
    damage, kind = logits[:, : plane.shape[0], : plane.shape[1]]
    return damage, kind


def _places(network: Network, number: int, given: Given, zoom: float) -> list[Place]:
    logits, _ = logits_of(network, given)
    labels, n_labels = ndimage.label(logits > _LEVEL, np.ones((3, 3), bool))
    if not n_labels:
        return []
    strength = ndimage.sum_labels(1 / (1 + np.exp(-logits)), labels, np.arange(1, n_labels + 1))
    strongest = 1 + np.argsort(-strength)[:_N_PLACES]
    middles = ndimage.maximum_position(logits, labels, strongest)
    return [Place(number, float(row / zoom), float(column / zoom), zoom) for row, column in middles]
