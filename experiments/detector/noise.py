"""Random fields."""

import numpy as np
from PIL import Image

from experiments.detector.material import Plane


def smooth_noise(shape: tuple[int, int], size: float, rng: np.random.Generator) -> Plane:
    """Return noise of mean 0 and variance about 1 that changes over about `size` pixels."""
    rows, columns = (max(2, int(np.ceil(side / size)) + 1) for side in shape)
    grid = rng.normal(0, 1.3, (rows, columns)).astype(np.float32)
    scale = (int(np.ceil(columns * size)), int(np.ceil(rows * size)))
    field = Image.fromarray(grid).resize(scale, Image.Resampling.BICUBIC)
    top, left = (
        int(rng.integers(0, have - want + 1)) for have, want in zip(field.size[::-1], shape, strict=True)
    )
    return np.asarray(field, np.float32)[top : top + shape[0], left : left + shape[1]]


def log_uniform(low: float, high: float, rng: np.random.Generator) -> float:
    """Return a number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))
