"""Classes of damage on which the estimate of the PSNR is measured."""

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw

from benchmarks.pictures import Mask, text_mask

Shape = tuple[int, ...]


def damages(shape: Shape, seed: int) -> dict[str, Mask]:
    """Return masks of a picture by class of damage, True = missing."""
    rng = np.random.default_rng(seed)
    hole = _thin_scratches(shape, rng)
    top, left = rng.integers(0, (shape[0] - 20, shape[1] - 100))
    hole[top : top + 20, left : left + 100] = True
    return {
        "80 % random": rng.random(shape) < 0.8,
        "50 % random": rng.random(shape) < 0.5,
        "text": text_mask((shape[0], shape[1])),
        "thin scratches": _thin_scratches(shape, rng),
        "crossing scratches": _crossing_scratches(shape, rng),
        "dead lines": _dead_lines(shape, rng),
        "scratches, wide hole": hole,
    }


def _thin_scratches(shape: Shape, rng: np.random.Generator) -> Mask:
    """Ten curved scratches of 1 to 3 pixels."""
    page = Pillow.new("1", (shape[1], shape[0]))
    for _ in range(10):
        turns = np.cumsum(rng.normal(0, 0.12, 12)) + rng.uniform(0, 2 * np.pi)
        steps = 12 * np.stack([np.cos(turns), np.sin(turns)], axis=1)
        points = rng.uniform(0, (shape[1], shape[0])) + np.cumsum(steps, axis=0)
        ImageDraw.Draw(page).line([(x, y) for x, y in points.tolist()], 1, int(rng.integers(1, 4)))
    return np.array(page, bool)


def _crossing_scratches(shape: Shape, rng: np.random.Generator) -> Mask:
    """Twelve straight scratches of 2 to 5 pixels from border to border."""
    page = Pillow.new("1", (shape[1], shape[0]))
    for _ in range(12):
        (top, bottom), (left, right) = (rng.integers(0, length, 2).tolist() for length in shape[:2])
        across = rng.random() < 0.5
        ends = [(0, top), (shape[1] - 1, bottom)] if across else [(left, 0), (right, shape[0] - 1)]
        ImageDraw.Draw(page).line(ends, 1, int(rng.integers(2, 6)))
    return np.array(page, bool)


def _dead_lines(shape: Shape, rng: np.random.Generator) -> Mask:
    """Three rows and three columns, each of 1 or 2 pixels."""
    mask = np.zeros(shape, bool)
    for lines in (mask, mask.T) * 3:
        at = int(rng.integers(len(lines) - 2))
        lines[at : at + int(rng.integers(1, 3))] = True
    return mask
