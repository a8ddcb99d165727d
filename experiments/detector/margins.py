"""Margins of prints and borders of films, which are no damage."""

import numpy as np
from PIL import Image, ImageDraw
from scipy import ndimage

from experiments.detector.material import Plane
from experiments.detector.noise import log_uniform, smooth_noise


def add_margin(plane: Plane, tint: Plane | None, scale: float, rng: np.random.Generator) -> None:
    """Add the margin of the print or the border of the film on some sides, straight or ragged."""
    ink = rng.uniform(0.75, 1) if rng.random() < 0.7 else rng.uniform(0, 0.15)
    page = Image.new("L", (2 * plane.shape[1], 2 * plane.shape[0]), 255)
    wide = [
        2 * min(log_uniform(1.5, 40, rng) * scale, 0.35 * min(plane.shape)) * (rng.random() < 0.6)
        for _ in range(4)
    ]
    box = (wide[0] - 1, wide[1] - 1, page.width - wide[2], page.height - wide[3])
    limits = (box[2] - box[0]) / 3, (box[3] - box[1]) / 3
    round_by = min(rng.choice([0, 0, 0, rng.uniform(4, 40) * scale]), *limits)
    at = [bool(wide[i] and wide[(i + 1) % 4]) for i in range(4)]
    draw = ImageDraw.Draw(page)
    draw.rounded_rectangle(box, round_by, 0, corners=(at[0], at[1], at[2], at[3]))
    page = page.rotate(rng.choice([0, rng.normal(0, 1)]), Image.Resampling.BILINEAR, fillcolor=255)
    cover = np.asarray(page.reduce(2), np.float32) / np.float32(255)
    if rng.random() < 0.35:  # a worn edge
        soft = ndimage.gaussian_filter(cover, rng.uniform(1, 3) * scale)
        worn = soft + np.float32(0.25) * smooth_noise(cover.shape, rng.uniform(2, 10) * scale, rng)
        cover = np.asarray((worn > 0.5) & (soft > 0.02), np.float32)
    cover = ndimage.gaussian_filter(cover, rng.uniform(0, 1) * scale)
    plane += cover * (np.float32(ink) - plane)
    if tint is not None:
        tint *= 1 - cover[::2, ::2]
    if rng.random() < 0.2 and min(box[2] - box[0], box[3] - box[1]) > 40:  # a printed line around the picture
        line = Image.new("L", page.size)
        gap = rng.uniform(2, 8) * scale
        inner = (box[0] + gap, box[1] + gap, box[2] - gap, box[3] - gap)
        ImageDraw.Draw(line).rectangle(inner, outline=255, width=max(1, round(rng.uniform(1, 4) * scale)))
        plane += np.asarray(line.reduce(2), np.float32) / np.float32(255) * (np.float32(1 - ink) - plane)
