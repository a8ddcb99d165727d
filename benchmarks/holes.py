"""Wide holes filled by example, against smooth fills and peers: SSIM and PSNR of the missing pixels."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import skimage.data
from numpy.typing import NDArray
from PIL import Image as Pillow
from skimage.color import lab2rgb, rgb2lab

from benchmarks.measure import print_table
from benchmarks.peers import biharmonic, hidden, xphoto
from benchmarks.pictures import Image, Mask
from dictsel_core import FillName, RestoreSettings, psnr, restore, ssim

Method = Callable[[Image, Mask], NDArray[Any]]

SIZES = (24, 40, 60, 100)
_LENGTH = 256
#: Photograph, top and left of a crop, its kind, and whether parameters were chosen on it.
_CROPS = {
    "brick": ("brick", 100, 100, "texture", True),
    "grass": ("grass", 100, 100, "texture", True),
    "chelsea": ("chelsea", 44, 150, "texture", True),
    "gravel": ("gravel", 100, 100, "texture", False),
    "tissue": ("immunohistochemistry", 100, 100, "texture", False),
    "moon": ("moon", 128, 128, "texture", False),
    "camera": ("camera", 40, 130, "structure", True),
    "rocket": ("rocket", 100, 200, "structure", True),
    "coffee": ("coffee", 60, 150, "structure", True),
    "astronaut": ("astronaut", 0, 130, "structure", False),
    "motorcycle": ("motorcycle", 150, 250, "structure", False),
    "coins": ("coins", 30, 60, "structure", False),
}
#: The size of the holes in the figure, how much of the picture is shown, and where the figure goes.
_SHOWN_SIZE, _SHOWN_LENGTH = 60, 140
#: What takes too long for larger holes.
_MAX_SIZE = {"FSR_BEST": 40}
_FIGURE = Path(__file__).parents[1] / "docs" / "holes.png"


def main() -> None:
    """Print all tables, and draw the pictures side by side."""
    figures: dict[tuple[str, int, str], tuple[float, float]] = {}
    rows = []
    for name, image in _pictures().items():
        for size in SIZES:
            results = {
                each: method(image, _hole(size))
                for each, method in methods().items()
                if size <= _MAX_SIZE.get(each, size)
            }
            for each, result in results.items():
                figures[name, size, each] = _scores(image, result, _hole(size))
            if size == _SHOWN_SIZE:
                damaged = hidden(image, _hole(size))
                rows.append([image, damaged, *results.values()])
    for number, what in enumerate(("SSIM", "PSNR")):
        _print(figures, number, what)
    Pillow.fromarray(_sheet(rows)).save(_FIGURE)
    columns = ", ".join(["original", "damaged", *(each for each in methods() if each not in _MAX_SIZE)])
    print(f"\ndocs/holes.png: {_SHOWN_SIZE} px, {columns}; from top: {', '.join(_CROPS)}.")


def methods() -> dict[str, Method]:
    """Return ours and the peers by name: each takes picture and mask and returns a picture."""

    def ours(image: Image, mask: Mask, *, fill: FillName) -> NDArray[Any]:
        return np.asarray(restore(image, mask, RestoreSettings(fill=fill)).image)

    return {
        "auto": partial(ours, fill="auto"),
        "texture": partial(ours, fill="texture"),
        "smooth": partial(ours, fill="smooth"),
        "biharmonic": biharmonic,
        "SHIFTMAP": _shiftmap,
        "FSR_FAST": partial(xphoto, kind="FSR_FAST"),
        "FSR_BEST": partial(xphoto, kind="FSR_BEST"),
    }


def _shiftmap(image: Image, mask: Mask) -> NDArray[Any]:
    """Return a picture restored by OpenCV's SHIFTMAP, which asks for CIELAB."""
    if image.ndim == 2:
        return xphoto(image, mask, kind="SHIFTMAP")
    lab = np.rint(rgb2lab(image) * [2.55, 1, 1] + [0, 128, 128]).clip(0, 255).astype(np.uint8)
    result = xphoto(lab, mask, kind="SHIFTMAP")
    return np.asarray(255 * lab2rgb((result - [0.0, 128, 128]) / [2.55, 1, 1]))


def _pictures() -> dict[str, Image]:
    """Return crops of photographs inside scikit-image by name."""
    crops = {}
    for name, (source, top, left, *_) in _CROPS.items():
        whole = (
            skimage.data.stereo_motorcycle()[0] if source == "motorcycle" else getattr(skimage.data, source)()
        )
        crops[name] = np.ascontiguousarray(whole[top : top + _LENGTH, left : left + _LENGTH])
    return crops


def _hole(size: int) -> Mask:
    mask = np.zeros((_LENGTH, _LENGTH), bool)
    inner = slice((_LENGTH - size) // 2, (_LENGTH + size) // 2)
    mask[inner, inner] = True
    return mask


def _scores(image: Image, result: NDArray[Any], mask: Mask) -> tuple[float, float]:
    """Return SSIM and PSNR of the missing pixels; the others are those of the original."""
    rounded = np.rint(result).clip(0, 255).astype(np.uint8)
    whole = np.where(mask if image.ndim == 2 else mask[:, :, None], rounded, image)
    return ssim(image, whole, mask=mask), psnr(image, whole, mask=mask)


def _print(figures: dict[tuple[str, int, str], tuple[float, float]], number: int, what: str) -> None:
    """Print one figure of every picture and size, and its means."""

    def cell(method: str, names: list[str], sizes: tuple[int, ...]) -> str:
        keys = [(name, size, method) for name in names for size in sizes]
        if any(key not in figures for key in keys):
            return "-"
        mean = np.mean([figures[key][number] for key in keys])
        return f"{mean:.3f}" if number == 0 else f"{mean:.2f}"

    def cells(names: list[str], sizes: tuple[int, ...]) -> list[str]:
        return [cell(each, names, sizes) for each in methods()]

    groups = {
        "mean of textures": [name for name, crop in _CROPS.items() if crop[3] == "texture"],
        "mean of structures": [name for name, crop in _CROPS.items() if crop[3] == "structure"],
        "mean, chosen on": [name for name, crop in _CROPS.items() if crop[4]],
        "mean, held back": [name for name, crop in _CROPS.items() if not crop[4]],
        "mean of all": list(_CROPS),
    }
    rows = [[f"{name}, {size} px", *cells([name], (size,))] for name in _CROPS for size in SIZES]
    rows += [[f"mean of all, {size} px", *cells(list(_CROPS), (size,))] for size in SIZES]
    rows += [[name, *cells(group, SIZES)] for name, group in groups.items()]
    print_table(f"{what} of the missing pixels, holes in crops of 256 x 256", ["hole", *methods()], rows)


def _sheet(rows: list[list[NDArray[Any]]]) -> Image:
    """Return the middles of pictures in rows, as one picture."""
    inner = slice((_LENGTH - _SHOWN_LENGTH) // 2, (_LENGTH + _SHOWN_LENGTH) // 2)

    def shown(picture: NDArray[Any]) -> Image:
        part = np.rint(picture[inner, inner]).clip(0, 255).astype(np.uint8)
        color = np.repeat(part[:, :, None], 3, axis=2) if part.ndim == 2 else part
        return np.pad(color, [(2, 2), (2, 2), (0, 0)], constant_values=255)

    return np.concatenate([np.concatenate([shown(each) for each in row], axis=1) for row in rows])
