"""
Damage that is found first
==========================

Nobody has marked the dead lines and the hot and dead pixels of this sensor: `analyze_damage` finds them. Its
sensitivity is a choice: what it leaves out stays, and a larger one may take details for damage.
"""

import numpy as np
import skimage.data
from comparing import show

from dictsel_core import restore
from dictsel_core.detection import analyze_damage

original = skimage.data.immunohistochemistry()[:256, :256, 1]
frame, rng = original.copy(), np.random.default_rng(5)
frame[rng.choice(256, 3, replace=False)] = 10
frame[:, rng.choice(256, 3, replace=False)] = 250
broken = rng.random(frame.shape) < 0.002
frame[broken] = rng.choice([0, 255], broken.sum())

found = analyze_damage(frame, ["dead_lines", "dead_pixels"]).mask(sensitivity=0.7)
restored = restore(frame, found).image
show(original, frame != original, restored, "broken sensor", damaged=frame)
