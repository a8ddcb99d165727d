"""
Four pixels of five are missing
===============================

Only 20 % of the pixels, scattered at random, were measured.
"""

import numpy as np
import skimage.data
from comparing import show

from dictsel_core import restore

original = skimage.data.camera()[60:252, 130:322]
mask = np.random.default_rng(1).random(original.shape) < 0.8

restored = restore(original, mask)
show(original, mask, restored.image, "dropout")

# %%
# What was selected for it:
print(restored)
