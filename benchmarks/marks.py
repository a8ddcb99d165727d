"""Marks drawn with a vivid pen: how many are found, and how often something else is taken for one.

``python -m benchmarks marks --damage FOLDER`` draws rings, lines, zigzags and scribbles on the photographs of
the folder, of which every other one was used for choosing.
"""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter
from scipy.ndimage import binary_dilation

from benchmarks.measure import print_table
from inpaint_app.model.marks import find_drawn_marks
from inpaint_app.model.picture import Picture

Pixels = NDArray[np.uint8]
Mask = NDArray[np.bool_]

PENS = {
    "red": (255, 0, 0),
    "crimson": (237, 28, 36),
    "red ink": (205, 40, 50),
    "hot pink": (255, 20, 147),
    "pink": (255, 105, 180),
    "magenta": (255, 0, 255),
    "orange": (255, 127, 39),
    "yellow": (255, 255, 0),
    "green": (0, 255, 0),
    "cyan": (0, 255, 255),
    "blue": (0, 0, 255),
}
STYLES = ("flat", "flat, JPEG", "soft", "soft, JPEG", "uneven ink, JPEG")
_N_PICTURES, _N_REDDEST = 6, 24
_REDS = ("red", "crimson", "red ink", "hot pink", "pink", "orange")
#: Of the marks that are found, so much must be in the mask; so much of the mask must be of or beside them.
_WHOLE, _BESIDE = 0.8, 4


def main(damage: Path | None = None) -> None:
    """Print a table for the photographs that were used for choosing, and one for the others."""
    if damage is None:
        print("marks: give photographs with --damage FOLDER")
        return
    paths = sorted((damage / "photographs").glob("*.jpg"))
    for title, part in (("chosen on these", paths[::2]), ("others", paths[1::2])):
        _measure(title, [np.asarray(Image.open(path).convert("RGB")) for path in part])


def _measure(title: str, photographs: Sequence[Pixels]) -> None:
    n_false = sum(find_drawn_marks(Picture(pixels)) is not None for pixels in photographs)
    reddest = sorted(photographs, key=_redness)[-_N_REDDEST :: _N_REDDEST // _N_PICTURES]
    mixed = photographs[:: len(photographs) // _N_PICTURES][:_N_PICTURES]
    rows = []
    for pen in PENS:
        row = [pen]
        for style in STYLES:
            under = reddest if pen in _REDS else mixed
            found = [_is_found(*draw_marks(pixels, pen, style, seed)) for seed, pixels in enumerate(under)]
            row.append(f"{sum(found)} of {len(found)}")
        rows.append(row)
    print_table(f"Marks that are found, {title}; red pens on the reddest", ["pen", *STYLES], rows)
    print(f"Something is taken for marks in {n_false} of {len(photographs)} photographs without any.")


def _redness(pixels: Pixels) -> float:
    values = pixels.astype(int)
    return float(np.mean(values[..., 0] - values[..., 1:].max(axis=2) > 80))


def _is_found(pixels: Pixels, marks: Mask) -> bool:
    found = find_drawn_marks(Picture(pixels))
    if found is None:
        return False
    beside = binary_dilation(marks, iterations=_BESIDE)
    return bool(found.mask[marks].mean() > _WHOLE and beside[found.mask].mean() > _WHOLE)


def draw_marks(pixels: Pixels, pen: str, style: str, seed: int) -> tuple[Pixels, Mask]:
    """Return a photograph with one to three strokes, and where these are."""
    rng = np.random.default_rng(seed)
    height, width = pixels.shape[:2]
    layer = Image.new("L", (4 * width, 4 * height))
    thick = round(4 * rng.uniform(2.5, 8))
    for _ in range(rng.integers(1, 4)):
        points = 4 * _stroke(rng, np.array([width, height]))
        ImageDraw.Draw(layer).line([tuple(p) for p in points.tolist()], fill=255, width=thick, joint="curve")
    cover = np.asarray(layer.resize((width, height), Image.Resampling.BOX)) / 255
    marks = cover >= 0.5
    if style.startswith("flat"):
        cover = marks.astype(float)
    ink = np.broadcast_to(np.array(PENS[pen], float), pixels.shape)
    if style.startswith("uneven"):
        noise = Image.fromarray(np.clip(rng.normal(128, 40, (height, width)), 0, 255).astype(np.uint8))
        grain = np.asarray(noise.filter(ImageFilter.GaussianBlur(1.5)), float) - 128
        ink = np.clip(0.93 * ink + 0.07 * pixels + 1.2 * grain[..., None], 0, 255)
    drawn = pixels + cover[..., None] * (ink - pixels)
    image = Image.fromarray(np.rint(drawn).astype(np.uint8))
    if style.endswith("JPEG"):
        file = io.BytesIO()
        image.save(file, "JPEG", quality=int(rng.integers(70, 96)))
        image = Image.open(file)
    return np.asarray(image), marks


def _stroke(rng: np.random.Generator, size: NDArray[np.int_]) -> NDArray[np.float64]:
    """Return the corners of a ring, a wavy line, a zigzag or a scribble as columns and rows."""
    center, kind = rng.uniform(0.2, 0.8, 2) * size, rng.integers(4)
    if kind == 0:
        angles = np.linspace(0, 2 * np.pi * rng.uniform(0.9, 1.1), 80)
        return np.asarray(
            center + rng.uniform(0.05, 0.2, 2) * size.min() * np.c_[np.cos(angles), np.sin(angles)]
        )
    if kind == 1:
        along = np.linspace(0, 1, 60)
        waves = np.c_[np.zeros(60), 5 * np.sin(9 * along)]
        return np.asarray(center + rng.uniform(-0.4, 0.4, 2) * size * along[:, None] + waves)
    if kind == 2:
        steps, side = np.arange(rng.integers(5, 12)), rng.uniform(0.03, 0.1) * size[0]
        return np.asarray(center + side * np.c_[steps / 2, np.where(steps % 2, 1, -1)])
    path = rng.normal(size=(60, 2)).cumsum(axis=0).cumsum(axis=0)
    path -= path.mean(axis=0)
    return np.asarray(center + path * rng.uniform(0.1, 0.25) * size.min() / np.abs(path).max())
