"""Whole photographs with film dust over them, neither cut nor aged."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from experiments.detector.covers import film_damage
from experiments.detector.material import Material

Bools = NDArray[np.bool_]
Pixels = NDArray[np.uint8]

#: Brightness that dust has to change, and how much of a pixel it covers: more counts, less is no mistake.
_CHANGE, _COVERED, _TOUCHED = 25.5, 0.3, 0.02


def dusted(photograph: Pixels, material: Material, rng: np.random.Generator) -> tuple[Pixels, Bools, Bools]:
    """Lay film dust over a photograph, light or dark, nearly opaque.

    Returns
    -------
    picture : (H, W, 3) ndarray of uint8
    truth : (H, W) ndarray of bool
        Where the dust changes the brightness by a tenth of the range.
    touched : (H, W) ndarray of bool
        The same, and where the dust is fainter.
    """
    cover = np.maximum(*film_damage(photograph.shape[:2], material, rng))
    cover = ndimage.gaussian_filter(cover, rng.uniform(0.2, 0.6)) * np.float32(rng.uniform(0.7, 1))
    tone = rng.uniform(215, 255) if rng.random() < 0.6 else rng.uniform(0, 45)
    picture = np.rint(photograph + cover[..., None] * (tone - photograph))
    truth = (cover > _COVERED) & (np.abs(picture - photograph).mean(axis=2) > _CHANGE)
    return picture.astype(np.uint8), truth, truth | (cover > _TOUCHED)
