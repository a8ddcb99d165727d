"""Folds and cracks that stand up from the paper: the light from one side makes them lighter and darker."""

import numpy as np
from PIL import Image, ImageDraw
from scipy import ndimage

from experiments.detector.covers import Points, wander
from experiments.detector.material import Plane
from experiments.detector.noise import log_uniform, smooth_noise

#: Folds are drawn so many times larger, and averaged.
_FINE = 2


def fold(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> tuple[Plane, Plane]:
    """Return how much lighter or darker a fold makes the picture, and how far it covers it, from 0 to 1.

    To one side of its line the paper rises slowly and is lighter, to the other it falls at once and is
    darker, or the other way round; along the line it fades.
    """
    size = np.array(shape)
    angle, length = rng.uniform(0, 2 * np.pi), log_uniform(40, 700, rng) * scale
    middle = rng.uniform(0, 1, 2) * size
    start = middle - length * rng.uniform(0.2, 0.8) * np.array([np.sin(angle), np.cos(angle)])
    line, _ = wander(start, angle, length, log_uniform(0.01, 0.15, rng), scale, rng, rng.choice([0.0, 0.02]))
    away, is_right = _sides(shape, line, angle)
    wide, narrow = min(log_uniform(0.5, 4.5, rng) * scale, 6), log_uniform(0.4, 1.5, rng) * scale
    light, dark = rng.uniform(0.05, 0.4), rng.uniform(0, 0.2) if rng.random() < 0.8 else 0.0
    if rng.random() < 0.15:
        light, dark = dark / 2, light  # seen from the other side, or dirty
    lighter, darker = light * np.exp(-away / wide), dark * np.exp(-away / narrow)
    relief = np.where(is_right, lighter, -darker)
    largest = np.where(is_right, light, dark)
    cover = (np.abs(relief) / np.maximum(largest, 1e-3)) ** 1.7 * (largest > 0.3 * max(light, dark))
    if rng.random() < 0.35:  # the emulsion is broken in places
        broken = np.clip(
            rng.uniform(-0.5, 1) + smooth_noise(shape, log_uniform(6, 40, rng) * scale, rng), 0, 1
        )
        core = broken * np.clip(1 + rng.uniform(0, 1.2) * scale - away, 0, 1)
        relief, cover = relief + np.float32(rng.uniform(0.2, 0.7)) * core, np.maximum(cover, core)
    ends = np.hypot(*(np.mgrid[: shape[0], : shape[1]] - middle[:, None, None])) / (0.5 * length)
    strength = np.clip(rng.uniform(0.8, 1.6) + 0.7 * smooth_noise(shape, log_uniform(12, 60, rng), rng), 0, 1)
    strength = strength * np.clip(2 - ends, 0, 1)
    soft = rng.uniform(0.2, 0.7) * scale**0.6
    relief, cover = (ndimage.gaussian_filter(each * strength, soft) for each in (relief, cover))
    return np.asarray(relief, np.float32), np.asarray(cover, np.float32)


def _sides(shape: tuple[int, int], line: Points, angle: float) -> tuple[Plane, Plane]:
    """Return the distance of each pixel from a line, and which pixels lie to its right."""
    page = Image.new("1", (shape[1] * _FINE, shape[0] * _FINE), 1)
    at = line[:, ::-1] * _FINE
    ImageDraw.Draw(page).line([tuple(point) for point in at.tolist()], 0, 1)
    far = 4 * _FINE * max(shape) * np.array([-np.sin(angle), np.cos(angle)])  # to the right, as x and y
    half = Image.new("1", page.size)
    area = np.vstack([at, at[::-1] + far])
    ImageDraw.Draw(half).polygon([tuple(point) for point in area.tolist()], 1)
    away = np.full(shape, np.inf)
    if not np.asarray(page).all():
        away = ndimage.distance_transform_edt(np.asarray(page))[::_FINE, ::_FINE] / _FINE
    return np.asarray(away, np.float32), np.asarray(half)[::_FINE, ::_FINE]
