"""
A scratched photograph
======================

Seven scratches, and a mask that is wider than they are: it may cover a pixel too many, but what it leaves
out stays scratched.
(:func:`dictsel_core.detect_damage` proposes such a mask; look at it before you use it.)
"""

import numpy as np
import skimage.data
from comparing import show
from scipy import ndimage
from skimage.draw import line

from dictsel_core import restore

original = skimage.data.astronaut()[20:212, 140:332]

scratches = np.zeros(original.shape[:2], bool)
rng = np.random.default_rng(4)
for _ in range(7):
    start, end = rng.integers(0, 190, 2)
    rows, columns = line(0, start, 191, end)
    scratches[rows, columns] = True
mask = ndimage.binary_dilation(scratches)

restored = restore(original, mask).image
show(original, mask, restored, "scratches")
