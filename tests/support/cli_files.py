"""Small pictures on disk for the tests of the command line."""

from pathlib import Path

import numpy as np

from inpaint_app.io.read import read_picture
from inpaint_app.io.write import write_picture
from inpaint_app.model.damage import damaged, random_mask
from inpaint_app.model.picture import Picture

SHAPE = (32, 40)


def scene(dtype=np.uint8, *, color=True, shape=SHAPE) -> Picture:
    """A smooth picture with an edge, in the full range of its dtype."""
    y, x = np.mgrid[: shape[0], : shape[1]] / max(shape)
    planes = [0.5 + 0.3 * np.sin(5 * x + 3 * y), 0.3 + 0.6 * x, np.where(x + y > 0.9, 0.2, 0.8 - 0.3 * y)]
    values = np.stack(planes, axis=2) if color else planes[0]
    white = 1.0 if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
    scaled = values * white
    return Picture((np.rint(scaled) if white > 1 else scaled).astype(dtype))


def write_pair(folder: Path, *, missing=0.5, seed=0, **options) -> tuple[Path, Path]:
    """Write an original and its damaged version, and return both names."""
    original = scene(**options)
    whole, broken = folder / "whole.png", folder / "broken.png"
    write_picture(original, whole)
    write_picture(damaged(original, random_mask(original.pixels.shape[:2], missing, seed)), broken)
    return whole, broken


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, hidden ones too."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def pixels(path: Path) -> np.ndarray:
    return read_picture(path).pixels
