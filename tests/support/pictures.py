"""Pictures for the tests: small, varied, and ours."""

import numpy as np
import skimage.data


def photograph(size=96, color=False):
    """A crop of a photograph inside scikit-image, uint8."""
    crop = skimage.data.astronaut()[60 : 60 + size, 180 : 180 + size]
    return np.ascontiguousarray(crop if color else crop[:, :, 1])


def random_mask(shape, fraction, seed=0):
    return np.random.default_rng([seed, 99]).random(shape) < fraction
