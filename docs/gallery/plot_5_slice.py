"""
A slice like that of an MRI
===========================

The Shepp-Logan phantom, a drawing of a head used to test tomography, in floats. Missing values are NaN,
and no mask is given.
"""

import numpy as np
import skimage.data
from comparing import show
from skimage.transform import resize

from dictsel_core import restore

original = resize(skimage.data.shepp_logan_phantom(), (192, 192), anti_aliasing=True).astype(np.float32)
mask = np.random.default_rng(2).random(original.shape) < 0.5

restored = restore(np.where(mask, np.nan, original)).image
show(original, mask, restored, "phantom")
