"""
Lettering over a picture
========================

A caption was printed into the picture. What the letters hide is marked by a mask, True where missing.
"""

import numpy as np
import skimage.data
from comparing import show
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dictsel_core import restore

original = skimage.data.coffee()[90:282, 180:372]

# Letters are drawn by matplotlib, white on black.
page = Figure(figsize=(1.92, 1.92), dpi=100, facecolor="black")
for i, height in enumerate(np.linspace(0.08, 0.86, 6)):
    page.text(0.02, height, "COFFEE BREAK"[i:] + " 1987", color="white", fontsize=13, family="DejaVu Sans")
canvas = FigureCanvasAgg(page)
canvas.draw()
mask = np.asarray(canvas.buffer_rgba())[..., 0] > 40

restored = restore(original, mask).image
show(original, mask, restored, "lettering")
