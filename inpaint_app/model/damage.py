"""Simulated damage: masks that make test cases out of intact pictures."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from inpaint_app.errors import UserError
from inpaint_app.model.picture import Mask, Picture

#: Longest text that is stamped.
MAX_TEXT = 200


def random_mask(shape: tuple[int, int], fraction: float, seed: int = 0) -> Mask:
    """Return a mask of a shape (H, W) with a fraction of the pixels missing, met to the pixel.

    At least one pixel is missing and one observed. The same seed makes the same mask, here and below.
    """
    height, width = shape
    n_pixels = height * width
    if not 0 < fraction < 1:
        raise UserError(f"The missing fraction is {fraction:g}", "give a number between 0 and 1, such as 0.8")
    if n_pixels < 2:
        raise UserError(
            "A picture of one pixel cannot have a fraction of it missing", "give a larger picture"
        )
    n_missing = min(max(round(fraction * n_pixels), 1), n_pixels - 1)
    order = np.random.default_rng(seed).permutation(n_pixels)
    mask = np.zeros(n_pixels, np.bool_)
    mask[order[:n_missing]] = True
    return mask.reshape(shape)


def scratch_mask(shape: tuple[int, int], seed: int = 0) -> Mask:
    """Return a mask of a handful of smooth, thin scratches that scale with the picture."""
    rng = np.random.default_rng(seed)
    canvas = Image.new("1", shape[::-1])
    draw = ImageDraw.Draw(canvas)
    for _ in range(int(rng.integers(7, 11))):
        _scratch(draw, shape, rng)
    return np.asarray(canvas, np.bool_).copy()


def _scratch(draw: ImageDraw.ImageDraw, shape: tuple[int, int], rng: np.random.Generator) -> None:
    """Draw one scratch as discs along a path whose direction turns slowly."""
    height, width = shape
    side = min(shape)
    length = rng.uniform(0.3, 1.1) * max(shape)
    steps = max(int(2 * length), 8)
    along = np.linspace(0, 1, steps)
    turn = rng.normal(0, 0.5) * np.sin(2 * np.pi * (along * rng.uniform(0.3, 1.2) + rng.uniform()))
    angle = rng.uniform(0, 2 * np.pi) + turn + rng.normal(0, 0.4) * along
    x = rng.uniform(0, width) + np.cumsum(np.cos(angle)) * length / steps
    y = rng.uniform(0, height) + np.cumsum(np.sin(angle)) * length / steps
    x, y = (
        x - x[steps // 2] + rng.uniform(0.15, 0.85) * width,
        y - y[steps // 2] + rng.uniform(0.15, 0.85) * height,
    )
    waves = 0.65 + 0.35 * np.sin(2 * np.pi * (along * rng.uniform(1, 4) + rng.uniform()))
    radius = max(0.6, rng.uniform(0.002, 0.007) * side) * waves * np.sqrt(np.sin(np.pi * along) + 0.02)
    for a, b, r in zip(x, y, radius, strict=True):
        if r < 0.8:  # an ellipse would be three pixels wide
            draw.point((a, b), fill=1)
        else:
            draw.ellipse((a - r, b - r, a + r, b + r), fill=1)


def text_mask(shape: tuple[int, int], text: str, seed: int = 0) -> Mask:
    """Return a mask of a text stamped all over the picture, slightly rotated; the letters scale with it.

    Line breaks and repeated blanks count as one blank. The seed decides the angle and where rows begin.
    """
    line = " ".join(text.split())
    if not line:
        raise UserError("The text is empty", "give some letters, such as SAMPLE")
    if len(line) > MAX_TEXT:
        raise UserError(f"The text has {len(line)} letters", f"give at most {MAX_TEXT}")
    rng = np.random.default_rng(seed)
    height, width = shape
    size = max(10.0, min(height, width) / 11)
    font = ImageFont.load_default(size)
    diagonal = int(np.ceil(np.hypot(height, width))) + 2
    canvas = Image.new("L", (diagonal, diagonal))
    draw = ImageDraw.Draw(canvas)
    pitch = draw.textlength(line + "   ", font=font)
    repeats = int(diagonal / max(pitch, 1)) + 2
    row_height = 2.1 * size
    for row in range(int(diagonal / row_height) + 1):
        start = -pitch * rng.uniform()
        draw.text(
            (start, row * row_height), (line + "   ") * repeats, fill=255, font=font, stroke_width=size / 24
        )
    turned = canvas.rotate(rng.uniform(6, 14), resample=Image.Resampling.BILINEAR)
    left, top = (diagonal - width) // 2, (diagonal - height) // 2
    mask: Mask = np.asarray(turned.crop((left, top, left + width, top + height))) >= 128
    if not mask.any():
        raise UserError("The text left no mark on the picture", "give other letters or a larger picture")
    return mask


@dataclass(frozen=True)
class Damage:
    """Damage to simulate."""

    kind: str = "random"  #: "random", "text" or "scratches".
    fraction: float = 0.8  #: Fraction of the pixels that are missing, for "random".
    text: str = "SAMPLE"  #: What is stamped, for "text".
    seed: int = 0  #: Same seed, same damage.

    def mask(self, shape: tuple[int, int]) -> Mask:
        """Return which pixels go missing."""
        if self.kind == "text":
            return text_mask(shape, self.text, self.seed)
        if self.kind == "scratches":
            return scratch_mask(shape, self.seed)
        return random_mask(shape, self.fraction, self.seed)

    def __str__(self) -> str:
        """Return a short description."""
        if self.kind == "random":
            return f"{100 * self.fraction:.0f} % missing"
        return self.kind


#: The kinds of damage that the sample is offered with.
SAMPLES = (
    Damage("random", 0.8, seed=0),  # as the bundled damaged sample
    Damage("random", 0.5, seed=1),
    Damage("text", text="dictionary selection", seed=1),
    Damage("scratches", seed=1),
)


def damaged(picture: Picture, mask: Mask) -> Picture:
    """Return the picture with alpha = 0 and color 0 where the mask is True."""
    pixels, opaque = picture.pixels.copy(), picture.pixels.dtype.type(picture.max_value)
    pixels[mask] = 0
    alpha = np.full(mask.shape, opaque) if picture.alpha is None else picture.alpha.copy()
    alpha[mask] = 0
    return replace(picture, pixels=pixels, alpha=alpha)


def mask_picture(mask: Mask) -> Picture:
    """Return a mask as a picture, white = missing."""
    return Picture(np.where(mask, np.uint8(255), np.uint8(0)))
