"""
A wide hole
===========

A hole of 48 x 48 pixels is completed with texture and structure from around it. No method can know what
was there: the result is to be looked at, and its PSNR says little.
"""

import numpy as np
import skimage.data
from comparing import show

from dictsel_core import restore

original = skimage.data.brick()[100:292, 100:292]
mask = np.zeros(original.shape, bool)
mask[70:118, 70:118] = True

restored = restore(original, mask).image
show(original, mask, restored, "hole")
