"""Calibration: from the network's logits to probabilities, on pictures that it was not trained on."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage

from dictsel_core.detection.learned import LEVEL, at_two_sizes, region_strengths
from dictsel_core.detection.plane import shrink
from experiments.detector.compose import Sample, compose
from experiments.detector.material import load_material
from experiments.detector.network import Network

Floats = NDArray[np.float64]

_SIDE = 256
_N_SAMPLES = 360
#: A region is right if at least so much of it lies within 2 pixels of damage.
_NEAR, _RIGHT = 2, 0.5


@dataclass(frozen=True)
class _Looked:
    """A picture, and the logits of the network for it, and for it at half its size."""

    sample: Sample
    logits: NDArray[np.float32]
    half: NDArray[np.float32]
    half_kind: NDArray[np.float32]


def calibrate(network: Network, damage: Path) -> tuple[float, float]:
    """Make the logits of damage those of probabilities in pictures as those trained on.

    Returns
    -------
    (float, float)
        Slope and offset from the strength of a region to the logit of the probability that it is damage.
    """
    looked = _looked(network.eval(), damage)
    logits = np.concatenate([each.logits[each.sample.known] for each in looked]).astype(np.float64)
    truth = np.concatenate([each.sample.truth[each.sample.known] for each in looked])
    slope, offset = _fitted(logits, truth, np.ones_like(logits))
    print(f"{truth.mean():.4f} of the pixels are damaged; logits become {slope:.3f} x {offset:+.3f}")
    with torch.no_grad():
        network.exit.weight[:4] *= slope
        network.exit.bias[:4] = network.exit.bias[:4] * slope + offset
    regions = [_regions(each, slope, offset) for each in looked]
    strength, right, area = (np.concatenate(each) for each in zip(*regions, strict=True))
    fitted = _fitted(strength, right, area)
    print(f"{right.mean():.2f} of {len(right)} regions are right; strengths become {fitted}")
    return fitted


def _looked(network: Network, damage: Path) -> list[_Looked]:
    material, looked = load_material(damage, "choosing"), []
    for number in range(_N_SAMPLES):
        sample = compose(material, (_SIDE, _SIDE), np.random.default_rng([4, number]))
        with torch.no_grad():
            full, half = (
                network(torch.from_numpy(plane)[None, None])[0].numpy()
                for plane in (sample.plane, shrink(sample.plane))
            )
        looked.append(_Looked(sample, full[0], half[0], half[1]))
    return looked


def _regions(looked: _Looked, slope: float, offset: float) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """Return the strengths of regions, whether they are right, and how large they are."""
    sample = looked.sample
    full, half = (each * np.float32(slope) + np.float32(offset) for each in (looked.logits, looked.half))
    logits = at_two_sizes(full, half, looked.half_kind)
    pixels, numbers, strength = region_strengths(logits, logits >= LEVEL)
    near = ndimage.binary_dilation(sample.truth | ~sample.known, iterations=_NEAR).reshape(-1)[pixels]
    area = np.bincount(numbers, minlength=len(strength)).astype(np.float64)
    right = np.bincount(numbers, near, len(strength)) >= _RIGHT * area
    return strength, right, area


def _fitted(logits: Floats, truth: NDArray[np.bool_], weight: Floats) -> tuple[float, float]:
    """Return the slope and the offset that make the truth most likely, by Newton's method."""
    features = np.stack([logits, np.ones_like(logits)], axis=1)
    weights = np.array([1.0, 0.0])
    for _ in range(30):
        likely = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        gradient = features.T @ (weight * (likely - truth))
        hessian = (features * (weight * likely * (1 - likely))[:, None]).T @ features
        step = np.linalg.solve(hessian, gradient)
        weights -= step
        if np.abs(step).max() < 1e-4:
            break
    return float(weights[0]), float(weights[1])
