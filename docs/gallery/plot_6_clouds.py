"""
A band with clouds, as from a satellite
=======================================

The surface of the moon stands in for a band of a satellite. Clouds hide a part of it; in measurements wide
holes are filled smoothly, without invented texture (see :doc:`/holes`).
"""

import numpy as np
import skimage.data
from comparing import show
from scipy import ndimage

from dictsel_core import restore

original = (skimage.data.moon()[150:342, 100:292] / 255).astype(np.float32)

rng = np.random.default_rng(5)
weather = ndimage.gaussian_filter(rng.normal(size=original.shape), 6)
clouds = weather > np.quantile(weather, 0.85)

restored = restore(np.where(clouds, np.nan, original)).image
show(original, clouds, restored, "clouds")
