"""Print the figures of the README: the gallery's damage, restored by others (needs the extra [bench])."""

import runpy
import sys
from pathlib import Path
from typing import Any

import cv2
import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from skimage.restoration import inpaint_biharmonic

from dictsel_core import psnr

GALLERY = Path(__file__).parent / "gallery"
SCRIPTS = ("1_scratches", "2_lettering", "4_dropout", "6_clouds")


def by_others(original: NDArray[Any], mask: NDArray[np.bool_]) -> dict[str, float]:
    """Return the PSNR over missing pixels by method, each with its defaults."""
    whole = original if original.dtype == np.uint8 else np.round(original * 255).astype(np.uint8)
    damaged = whole.copy()
    damaged[mask] = 0
    telea = cv2.inpaint(damaged, mask.astype(np.uint8), 3, cv2.INPAINT_TELEA)
    smooth = inpaint_biharmonic(damaged / 255, mask, channel_axis=-1 if whole.ndim == 3 else None)
    return {
        "OpenCV Telea": psnr(whole, telea, mask=mask),
        "biharmonic": psnr(whole / 255, np.clip(smooth, 0, 1), mask=mask, data_range=1.0),
    }


def main() -> None:
    """Run the scripts and print one line each."""
    mpl.use("agg")
    sys.path.insert(0, str(GALLERY))
    for script in SCRIPTS:
        names = runpy.run_path(str(GALLERY / f"plot_{script}.py"))
        original, mask = names["original"], names.get("mask", names.get("clouds"))
        restored = getattr(names["restored"], "image", names["restored"])
        full = 255 if original.dtype == np.uint8 else 1  # floats would refer to the range that they have
        ours = psnr(original, restored, mask=mask, data_range=full)
        figures = {"dictsel": ours} | by_others(original, mask)
        print(script, ", ".join(f"{name} {value:.1f}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
