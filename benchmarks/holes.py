"""Wide holes, ours against peers: figures of what people see, and a sheet to choose from blindly."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import skimage.data
from numpy.typing import NDArray
from PIL import Image as Pillow

from benchmarks.hole_figures import figures
from benchmarks.hole_peers import (
    gmic,
    has_gmic,
    has_migan,
    has_resynthesizer,
    migan,
    resynthesizer,
    shiftmap,
)
from benchmarks.measure import print_table
from benchmarks.peers import biharmonic, hidden
from benchmarks.pictures import Image, Mask
from dictsel_core import RestoreSettings, iter_restore, psnr, restore, ssim
from dictsel_core.completion import fill_holes
from dictsel_core.restoration import FillName

Method = Callable[[Image, Mask], NDArray[Any]]
#: Picture, size of the hole, method.
Key = tuple[str, int, str]

SIZES = (40, 80)
#: Row and column of the middle of the hole, its kind, and whether parameters were chosen on it.
_HOLES = {
    "brick": (228, 228, "texture", True),
    "grass": (228, 228, "texture", True),
    "chelsea": (172, 278, "texture", True),
    "gravel": (228, 228, "texture", False),
    "immunohistochemistry": (228, 228, "texture", False),
    "moon": (256, 256, "texture", False),
    "camera": (168, 258, "structure", True),
    "rocket": (228, 328, "structure", True),
    "coffee": (188, 278, "structure", True),
    "astronaut": (128, 258, "structure", False),
    "motorcycle": (278, 378, "structure", False),
    "coins": (158, 188, "structure", False),
}
#: Columns of the tables; the last two decide nothing, since fog has the best of them.
_FIGURES = {"detail": 2, "patches": 2, "step": 2, "color": 1, "PSNR": 2, "SSIM": 3}
#: The size of the holes in the pictures, how much of them is shown, and where they go.
_SHOWN_SIZE, _SHOWN_LENGTH = 80, 150
#: Sizes of the holes that are timed.
_TIMED_SIZES = (100, 300)
_DOCS = Path(__file__).parents[1] / "docs"


def main() -> None:
    """Print all tables, and draw the pictures side by side, in order and in random order."""
    measured: dict[Key, dict[str, float]] = {}
    rows = []
    for name in _HOLES:
        image = _picture(name)
        for size in SIZES:
            mask = _hole(name, image, size)
            results = {each: _rounded(image, method(image, mask), mask) for each, method in methods().items()}
            for each, result in results.items():
                measured[name, size, each] = _measured(image, result, mask)
            if size == _SHOWN_SIZE:
                pictures = [image, hidden(image, mask), *results.values()]
                rows.append([_shown(name, each) for each in pictures])
    for title, names in _groups().items():
        _print(title, names, measured)
    Pillow.fromarray(_sheet(rows)).save(_DOCS / "holes.png")
    print(f"\ndocs/holes.png: {_SHOWN_SIZE} px; original, damaged, {', '.join(methods())}.")
    _draw_blind_sheet(rows)
    _print_times()


def methods() -> dict[str, Method]:
    """Return ours and the peers that are installed: each takes picture and mask and returns a picture."""

    def ours(image: Image, mask: Mask, *, fill: FillName) -> NDArray[Any]:
        return np.asarray(restore(image, mask, RestoreSettings(fill=fill)).image)

    known: dict[str, Method] = {
        "auto": partial(ours, fill="auto"),
        "smooth": partial(ours, fill="smooth"),
        "biharmonic": biharmonic,
        "SHIFTMAP": shiftmap,
    }
    if has_gmic():
        known["G'MIC inpaint"] = partial(gmic, command="inpaint")
        known["G'MIC matchpatch"] = partial(gmic, command="inpaint_matchpatch")
    if has_migan():
        known["MI-GAN"] = migan
    if has_resynthesizer():
        known["Resynthesizer"] = resynthesizer
    return known


def _picture(name: str) -> Image:
    if name == "motorcycle":
        return np.ascontiguousarray(skimage.data.stereo_motorcycle()[0])
    return np.ascontiguousarray(getattr(skimage.data, name)())


def _hole(name: str, image: Image, size: int) -> Mask:
    mask = np.zeros(image.shape[:2], bool)
    row, column = _HOLES[name][:2]
    mask[row - size // 2 : row + size // 2, column - size // 2 : column + size // 2] = True
    return mask


def _rounded(image: Image, result: NDArray[Any], mask: Mask) -> Image:
    """Return a result in bytes, with the original outside of the hole."""
    rounded = np.rint(result).clip(0, 255).astype(np.uint8)
    return np.where(mask if image.ndim == 2 else mask[:, :, None], rounded, image).astype(np.uint8)


def _measured(image: Image, result: Image, mask: Mask) -> dict[str, float]:
    seen = figures(image, result, mask)
    return seen | {"PSNR": psnr(image, result, mask=mask), "SSIM": ssim(image, result, mask=mask)}


def _groups() -> dict[str, list[str]]:
    """Return the pictures of each table by its title."""
    return {
        "textures": [name for name, hole in _HOLES.items() if hole[2] == "texture"],
        "structures": [name for name, hole in _HOLES.items() if hole[2] == "structure"],
        "pictures that parameters were chosen on": [name for name, hole in _HOLES.items() if hole[3]],
        "pictures held back": [name for name, hole in _HOLES.items() if not hole[3]],
        "all": list(_HOLES),
    }


def _print(title: str, names: list[str], measured: dict[Key, dict[str, float]]) -> None:
    """Print the means over pictures and sizes, and the medians in brackets."""

    def cell(method: str, figure: str) -> str:
        values = [measured[name, size, method][figure] for name in names for size in SIZES]
        places = _FIGURES[figure]
        return f"{np.mean(values):.{places}f} ({np.median(values):.{places}f})"

    rows = [[method, *(cell(method, figure) for figure in _FIGURES)] for method in methods()]
    sizes = ", ".join(map(str, SIZES))
    print_table(f"Holes of {sizes} px, {title}: mean (median)", ["method", *_FIGURES], rows)


def _shown(name: str, picture: NDArray[Any]) -> Image:
    """Return the part of a picture around its hole, in color, with a white frame."""
    top, left = (
        int(np.clip(at - _SHOWN_LENGTH // 2, 0, length - _SHOWN_LENGTH))
        for at, length in zip(_HOLES[name][:2], picture.shape[:2], strict=True)
    )
    part = picture[top : top + _SHOWN_LENGTH, left : left + _SHOWN_LENGTH]
    color = np.repeat(part[:, :, None], 3, axis=2) if part.ndim == 2 else part
    return np.pad(color, [(2, 2), (2, 2), (0, 0)], constant_values=255)


def _sheet(rows: list[list[Image]]) -> Image:
    return np.concatenate([np.concatenate(row, axis=1) for row in rows])


def _draw_blind_sheet(rows: list[list[Image]]) -> None:
    """Draw the methods in an order that changes from row to row, and keep that order in a file."""
    names, rng = list(methods()), np.random.default_rng()
    shuffled, orders = [], []
    for original, damaged, *results in rows:
        order = rng.permutation(len(results))
        shuffled.append([original, damaged, *(results[at] for at in order)])
        orders.append(", ".join(names[at] for at in order))
    sheet, key = Path("holes_blind.png"), Path("holes_blind_key.txt")
    Pillow.fromarray(_sheet(shuffled)).save(sheet)
    key.write_text("".join(f"{name}: {each}\n" for name, each in zip(_HOLES, orders, strict=True)))
    print(
        f"\n{sheet}: original, damaged, and the methods in random order. Choose first, then look into {key}."
    )


def _print_times() -> None:
    """Print the processor time of holes in an image of 24 megapixels, with one thread."""
    image = np.tile(skimage.data.astronaut(), (8, 12, 1))[:4000, :6000]
    restore(image[:256, :256], np.pad(np.ones((40, 40), bool), 108), channel_axis=2)  # compiles
    rows = []
    for size in _TIMED_SIZES:
        mask = np.zeros(image.shape[:2], bool)
        mask[1900 : 1900 + size, 2900 : 2900 + size] = True
        start = time.process_time()
        fill_holes(np.where(mask[:, :, None], np.uint8(128), image), mask, channel_axis=2, threads=1)
        filled, start = time.process_time() - start, time.process_time()
        shown = 0.0
        for step in iter_restore(image, mask, RestoreSettings(threads=1), channel_axis=2):
            if step.make_partial is not None:
                shown = shown or time.process_time() - start
        total = time.process_time() - start
        rows.append([f"{size} x {size}", *(f"{each:.2f}" for each in (filled, shown, total))])
    head = ["hole", "filling", "until a first result", "restoring, all of it"]
    print_table("Processor time in 24 megapixels in color, one thread (s)", head, rows)
