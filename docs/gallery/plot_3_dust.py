"""
Dust on a scan
==============

Specks of dust of one to four pixels, marked by a mask.
"""

import numpy as np
import skimage.data
from comparing import show
from scipy import ndimage

from dictsel_core import restore

original = skimage.data.chelsea()[20:212, 120:312]

rng = np.random.default_rng(0)
noise = ndimage.gaussian_filter(rng.normal(size=original.shape[:2]), 1.3)
mask = noise > np.quantile(noise, 0.95)

restored = restore(original, mask).image
show(original, mask, restored, "dust")
