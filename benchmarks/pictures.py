"""Photographs inside scikit-image, and damage done to them."""

import numpy as np
import skimage.data
from numpy.typing import NDArray
from skimage.color import rgb2gray
from skimage.draw import line

Image = NDArray[np.uint8]
Mask = NDArray[np.bool_]

#: Crops that hold something; the larger photographs would only take longer.
_CROPS = {
    "camera": ("camera", 100, 130),
    "astronaut": ("astronaut", 0, 100),
    "chelsea": ("chelsea", 20, 100),
    "coffee": ("coffee", 60, 150),
    "rocket": ("rocket", 60, 200),
    "coins": ("coins", 30, 60),
    "brick": ("brick", 0, 0),
    "gravel": ("gravel", 0, 0),
}


def photographs(size: int = 256) -> dict[str, Image]:
    """Return gray crops of size x size pixels by name."""
    return {
        name: gray(source)[top : top + size, left : left + size]
        for name, (source, top, left) in _CROPS.items()
    }


def gray(name: str) -> Image:
    """Return one of scikit-image's photographs in gray."""
    picture = getattr(skimage.data, name)()
    if picture.ndim == 3:
        picture = np.rint(rgb2gray(picture) * 255)
    return np.ascontiguousarray(picture, dtype=np.uint8)


def damages(shape: tuple[int, int]) -> dict[str, Mask]:
    """Return masks by name, True = missing: random pixels, text, scratches."""
    rng = np.random.default_rng(7)
    return {
        "80 % random": rng.random(shape) < 0.8,
        "50 % random": rng.random(shape) < 0.5,
        "text": text_mask(shape),
        "scratches": _scratches(shape, rng),
    }


def text_mask(shape: tuple[int, int]) -> Mask:
    """Return lines of text."""
    from PIL import Image as Pillow
    from PIL import ImageDraw, ImageFont

    page = Pillow.new("1", (shape[1], shape[0]))
    font = ImageFont.load_default(size=18)
    for row, top in enumerate(range(4, shape[0], 24)):
        ImageDraw.Draw(page).text((4 - 11 * (row % 5), top), "the quick brown fox jumps over " * 8, 1, font)
    return np.array(page, dtype=bool)


def _scratches(shape: tuple[int, int], rng: np.random.Generator) -> Mask:
    mask = np.zeros(shape, bool)
    for _ in range(12):
        ends = rng.integers(0, shape, (2, 2))
        for shift in range(int(rng.integers(2, 5))):
            rows, columns = line(*ends[0], *ends[1])
            mask[np.minimum(rows + shift, shape[0] - 1), columns] = True
    return mask
