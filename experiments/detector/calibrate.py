"""Calibration: from the network's logits to probabilities, on pictures that it was not trained on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage

from dictsel_core.detection.learned import LEVEL, mean_logits
from experiments.detector.compose import compose
from experiments.detector.material import Plane, load_material
from experiments.detector.mine import logits_of, stretched
from experiments.detector.network import Network

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_SIDE = 256
_N_SAMPLES = 360
#: Longest side of photographs that are looked at undamaged.
_LONGEST = 700
#: Added to the logits of lines and of spots: a false mark is seen and erased, a crack that is missed stays.
_LENIENCE = 2.0, 0.2
#: A region is right if at least so much of it lies within 2 pixels of damage.
_NEAR, _RIGHT = 2, 0.5


@dataclass(frozen=True)
class _Looked:
    """The damage of a picture, where that is known, and the logits of damage and of lines."""

    truth: Bools
    known: Bools
    logits: Plane
    kind: Plane


def calibrate(network: Network, damage: Path, more: Sequence[Path] = ()) -> Floats:
    """Make the logits of damage those of probabilities, in composites and in undamaged photographs.

    Returns
    -------
    (2, 2) ndarray
        For lines and for spots: slope and offset by which the logit of the mean probability of a region
        becomes that of its confidence.
    """
    looked = list(_looked(network.eval(), damage, more))
    logits = np.concatenate([each.logits[each.known] for each in looked]).astype(np.float64)
    truth = np.concatenate([each.truth[each.known] for each in looked])
    slope, offset = _fitted(np.stack([logits, np.ones_like(logits)], 1), truth, np.ones_like(logits))
    print(f"{truth.mean():.4f} of the pixels are damaged; logits become {slope:.3f} x {offset:+.3f}")
    with torch.no_grad():
        network.exit.weight[:4] *= slope
        network.exit.bias[:4] = network.exit.bias[:4] * slope + offset
    regions = [_regions(each, slope, offset) for each in looked]
    features, is_line, right, area = (np.concatenate(each) for each in zip(*regions, strict=True))
    fits = []
    for name, chosen in (("lines", is_line), ("spots", ~is_line)):
        fits.append(_fitted(features[chosen], right[chosen], area[chosen]))
        part = f"{right[chosen].mean():.2f} of {chosen.sum()}"
        print(f"{name}: {part} regions are right; their logits become {fits[-1][0]:.3f} x {fits[-1][1]:+.3f}")
    return np.array(fits) + np.outer(_LENIENCE, [0, 1])


def _looked(network: Network, damage: Path, more: Sequence[Path]) -> Iterator[_Looked]:
    material = load_material(damage, "choosing", more)
    for number in range(_N_SAMPLES):
        sample = compose(material, (_SIDE, _SIDE), np.random.default_rng([4, number]))
        logits = logits_of(network, sample.plane, sample.tint)
        yield _Looked(sample.truth, sample.known, *logits)
    for photograph in material.photographs:
        plane, tint = stretched(photograph, min(1.0, _LONGEST / max(photograph.shape)))
        nothing = np.zeros(plane.shape, np.bool_)
        yield _Looked(nothing, ~nothing, *logits_of(network, plane, tint))


def _regions(looked: _Looked, slope: float, offset: float) -> tuple[Floats, Bools, Bools, Floats]:
    """Return logits of regions and 1, whether they are lines, whether they are right, and their sizes."""
    logits = looked.logits * np.float32(slope) + np.float32(offset)
    pixels, numbers, means = mean_logits(logits, logits >= LEVEL)
    n_regions = len(means)
    near = ndimage.binary_dilation(looked.truth | ~looked.known, iterations=_NEAR).reshape(-1)[pixels]
    area = np.bincount(numbers, minlength=n_regions).astype(np.float64)
    is_line = np.bincount(numbers, looked.kind.reshape(-1)[pixels], n_regions) > 0
    is_right = np.bincount(numbers, near, n_regions) >= _RIGHT * area
    return np.stack([means, np.ones_like(means)], axis=1), is_line, is_right, area


def _fitted(features: Floats, truth: Bools, weight: Floats) -> Floats:
    """Return the weights of the features that make the truth most likely, by Newton's method."""
    weights = np.zeros(features.shape[1])
    weights[0] = 1
    for _ in range(30):
        likely = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        gradient = features.T @ (weight * (likely - truth))
        hessian = (features * (weight * likely * (1 - likely))[:, None]).T @ features
        step = np.linalg.solve(hessian, gradient)
        weights -= step
        if np.abs(step).max() < 1e-4:
            break
    return weights
