"""
Dead lines of a sensor
======================

Ten rows and columns of a microscope's sensor deliver nothing.
"""

import numpy as np
import skimage.data
from comparing import show

from dictsel_core import restore

original = skimage.data.cell()[200:392, 200:392]
rng = np.random.default_rng(3)
mask = np.zeros(original.shape, bool)
mask[rng.choice(192, 10, replace=False)] = True
mask[:, rng.choice(192, 10, replace=False)] = True

restored = restore(original, mask).image
show(original, mask, restored, "dead lines")
