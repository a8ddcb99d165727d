"""Calibration: from the network's logits to probabilities, on pictures that it was not trained on."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from experiments.detector.compose import compose
from experiments.detector.material import load_material
from experiments.detector.network import Network

_SIDE = 256
_N_SAMPLES = 240


def calibrate(network: Network, damage: Path) -> None:
    """Scale and shift the logits of damage so that they are those of probabilities in damaged pictures.

    Somebody who looks for damage has seen some: undamaged pictures do not count here.
    """
    logits, truth = (np.concatenate(each) for each in zip(*_pixels(network.eval(), damage), strict=True))
    slope, offset = _fitted(logits, truth)
    print(f"{truth.mean():.4f} of the pixels are damaged; logits become {slope:.3f} x {offset:+.3f}")
    with torch.no_grad():
        network.exit.weight[:4] *= slope
        network.exit.bias[:4] = network.exit.bias[:4] * slope + offset


def _pixels(network: Network, damage: Path) -> Iterator[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
    """Return logits and truth of damaged pictures."""
    material = load_material(damage, "choosing")
    for number in range(_N_SAMPLES):
        sample = compose(material, (_SIDE, _SIDE), np.random.default_rng([4, number]))
        if sample.truth.any():
            with torch.no_grad():
                logits = network(torch.from_numpy(sample.plane)[None, None])[0, 0].numpy()
            yield logits[sample.known].astype(np.float64), sample.truth[sample.known]


def _fitted(logits: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the slope and the offset that make the truth most likely, by Newton's method."""
    features = np.stack([logits, np.ones_like(logits)], axis=1)
    weights = np.array([1.0, 0.0])
    for _ in range(30):
        likely = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        gradient = features.T @ (likely - truth)
        hessian = (features * (likely * (1 - likely))[:, None]).T @ features
        step = np.linalg.solve(hessian, gradient)
        weights -= step
        if np.abs(step).max() < 1e-4:
            break
    return float(weights[0]), float(weights[1])
