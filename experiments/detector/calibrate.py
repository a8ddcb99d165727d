"""Calibration: from the network's logits to probabilities, on pictures that it was not trained on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage

from dictsel_core.detection.learned import find_regions
from experiments.detector.compose import CHANCES, UNDAMAGED, compose
from experiments.detector.dusted import dusted
from experiments.detector.material import Material, Plane, load_material
from experiments.detector.mine import logits_of, stretched
from experiments.detector.network import Network

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_SIDE = 256
_N_SAMPLES = 360
#: Longest side of photographs that are looked at undamaged.
_LONGEST = 700
#: Added to the logits of lines and of spots: a false mark is seen and erased, damage that is missed stays.
_LENIENCE = 2.4, 0.3
#: Added to the logits of lines against spots: a curled crack of even width looks like a hair.
_LINES_IN_DOUBT = 0.5
#: A region is right if at least so much of it lies within 2 pixels of damage.
_NEAR, _RIGHT = 2, 0.5


@dataclass(frozen=True)
class _Looked:
    """A picture, its damage where that is known, and the logits of damage and of lines."""

    plane: Plane
    truth: Bools
    known: Bools
    logits: Plane
    kind: Plane


def calibrate(network: Network, damage: Path, more: Sequence[Path] = ()) -> Floats:
    """Make the logits of damage those of probabilities, in composites and in undamaged photographs.

    Returns
    -------
    (2, 4) ndarray
        For lines and for spots: weights by which the features of a region make the logit of its confidence,
        the chance that it is damage; fitted on those pictures, and on photographs with film dust.
    """
    material = load_material(damage, "choosing", more)
    with torch.no_grad():
        network.exit.bias[4:] += _LINES_IN_DOUBT
    looked = [*_composites(network.eval(), material), *_undamaged(network, material)]
    logits = np.concatenate([each.logits[each.known] for each in looked]).astype(np.float64)
    truth = np.concatenate([each.truth[each.known] for each in looked])
    slope, offset = _fitted(np.stack([logits, np.ones_like(logits)], 1), truth)
    print(f"{truth.mean():.4f} of the pixels are damaged; logits become {slope:.3f} x {offset:+.3f}")
    with torch.no_grad():
        network.exit.weight[:4] *= slope
        network.exit.bias[:4] = network.exit.bias[:4] * slope + offset
    regions = [_regions(each, slope, offset) for each in looked]
    regions += [_regions(each, 1, 0) for each in _dusted(network, material)]
    features, is_line, right = (np.concatenate(each) for each in zip(*regions, strict=True))
    fits = []
    for name, chosen in (("lines", is_line), ("spots", ~is_line)):
        fits.append(_fitted(features[chosen], right[chosen]))
        part = f"{right[chosen].mean():.2f} of {chosen.sum()}"
        print(f"{name}: {part} regions are right; weights {np.round(fits[-1], 3)}")
    return np.array(fits) + np.outer(_LENIENCE, [0, 0, 0, 1])


def _composites(network: Network, material: Material) -> Iterator[_Looked]:
    """Look at pictures with damage of one sort each, or with none."""
    names, chances = list(CHANCES), list(CHANCES.values())
    for number in range(_N_SAMPLES):
        rng = np.random.default_rng([4, number])
        shapes = () if rng.random() < UNDAMAGED else (str(rng.choice(names, p=chances)),)
        sample = compose(material, (_SIDE, _SIDE), rng, shapes=shapes, is_lesson=True)
        logits = logits_of(network, sample.plane, sample.tint)
        yield _Looked(sample.plane, sample.truth, sample.known, *logits)


def _undamaged(network: Network, material: Material) -> Iterator[_Looked]:
    for photograph in material.photographs:
        plane, tint = stretched(photograph, min(1.0, _LONGEST / max(photograph.shape)))
        nothing = np.zeros(plane.shape, np.bool_)
        yield _Looked(plane, nothing, ~nothing, *logits_of(network, plane, tint))


def _dusted(network: Network, material: Material) -> Iterator[_Looked]:
    for number, photograph in enumerate(material.photographs):
        rows, columns = (min(side, _LONGEST) // 2 * 2 for side in photograph.shape[:2])
        part = photograph[:rows, :columns]
        picture, truth, touched = dusted(part, material, np.random.default_rng([5, number]))
        plane, tint = stretched(picture)
        yield _Looked(plane, truth, truth | ~touched, *logits_of(network, plane, tint))


def _regions(looked: _Looked, slope: float, offset: float) -> tuple[Floats, Bools, Bools]:
    """Return the features of regions, whether they are lines, and whether they are right."""
    logits = looked.logits * np.float32(slope) + np.float32(offset)
    found = find_regions(looked.plane, logits, looked.kind)
    n_regions = len(found.is_line)
    near = ndimage.binary_dilation(looked.truth | ~looked.known, iterations=_NEAR)
    area = np.bincount(found.numbers, minlength=n_regions)
    hit = np.bincount(found.numbers, near.reshape(-1)[found.pixels], n_regions)
    return found.features, found.is_line, hit >= _RIGHT * area


def _fitted(features: Floats, truth: Bools) -> Floats:
    """Return the weights of the features that make the truth most likely, by Newton's method.

    Those of features that are 0 everywhere stay 0.
    """
    weights = np.zeros(features.shape[1])
    used = features.any(axis=0)
    features = features[:, used]
    weights[0] = 1
    for _ in range(30):
        likely = 1 / (1 + np.exp(-np.clip(features @ weights[used], -30, 30)))
        gradient = features.T @ (likely - truth)
        hessian = (features * (likely * (1 - likely))[:, None]).T @ features
        step = np.linalg.solve(hessian, gradient)
        weights[used] -= step
        if np.abs(step).max() < 1e-4:
            break
    return weights
