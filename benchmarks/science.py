"""Scientific pictures: the default against `fast` and against scikit-image's biharmonic inpainting."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import skimage.data
from numpy.typing import NDArray
from skimage.restoration import inpaint_biharmonic

from benchmarks.measure import print_table
from benchmarks.pictures import Mask
from dictsel_core import psnr, restore

Picture = NDArray[Any]

#: Height and width of the crops.
_SIZE = 256


def main() -> None:
    """Print the PSNR of every picture and damage, relative to the range of the picture."""
    rows, gains = [], []
    for name, picture in pictures().items():
        for damage, mask in damages(picture.shape[:2]).items():
            span = float(picture.max()) - float(picture.min())
            results = {
                "fast": restore(picture, mask, "fast").image,
                "balanced": restore(picture, mask).image,
                "biharmonic": _biharmonic(picture, mask),
            }
            figures = {each: psnr(picture, image, data_range=span) for each, image in results.items()}
            fast, default, peer = figures.values()
            gains.append((default - fast, default - peer))
            cells = [f"{each:.2f}" for each in figures.values()]
            rows.append([f"{name}, {damage}", *cells, *(f"{gain:+.2f}" for gain in gains[-1])])
    print_table(
        f"Scientific pictures of {_SIZE} x {_SIZE}: PSNR in dB",
        ["picture, damage", "fast", "balanced", "biharmonic", "over fast", "over biharmonic"],
        rows,
    )
    means, least = np.mean(gains, axis=0), np.min(gains, axis=0)
    print(f"over fast: {means[0]:+.2f} on average, {least[0]:+.2f} at least")
    print(f"over biharmonic: {means[1]:+.2f} on average, {least[1]:+.2f} at least")


def pictures() -> dict[str, Picture]:
    """Return eight gray crops by name; two of them need Matplotlib's sample data."""
    import matplotlib as mpl

    samples = Path(mpl.get_data_path()) / "sample_data"
    with gzip.open(samples / "s1045.ima.gz") as file:
        slice_of_a_head = np.frombuffer(file.read(), ">u2").reshape(256, 256).astype(np.uint16)
    elevation = np.load(samples / "jacksboro_fault_dem.npz")["elevation"]
    return {
        name: np.ascontiguousarray(picture[top : top + _SIZE, left : left + _SIZE])
        for name, (picture, top, left) in {
            "cell": (skimage.data.cell(), 200, 150),
            "moon": (skimage.data.moon(), 128, 128),
            "retina": (skimage.data.retina()[:, :, 1], 500, 500),
            "microaneurysms": (skimage.data.microaneurysms(), 0, 0),
            "deep field": (skimage.data.hubble_deep_field()[:, :, 0], 300, 300),
            "tissue": (skimage.data.immunohistochemistry()[:, :, 1], 100, 100),
            "head (MRI)": (slice_of_a_head, 0, 0),
            "elevation": (elevation, 40, 60),
        }.items()
    }


def damages(shape: tuple[int, ...]) -> dict[str, Mask]:
    """Return masks by name, True = missing: dead lines of a sensor, and random pixels."""
    rng = np.random.default_rng(3)
    lines = np.zeros(shape, bool)
    lines[rng.choice(shape[0], shape[0] // 16, replace=False)] = True
    lines[:, rng.choice(shape[1], shape[1] // 32, replace=False)] = True
    return {
        "dead lines": lines,
        "80 % random": rng.random(shape) < 0.8,
        "50 % random": rng.random(shape) < 0.5,
    }


def _biharmonic(picture: Picture, mask: Mask) -> NDArray[np.float64]:
    low, high = float(picture[~mask].min()), float(picture[~mask].max())
    unit = np.where(mask, 0, (picture.astype(float) - low) / (high - low))
    try:
        result = inpaint_biharmonic(unit, mask)
    except ValueError:  # scikit-image 0.26 fails at times
        result = inpaint_biharmonic(unit, mask, split_into_regions=True)
    values = np.asarray(result).clip(0, 1) * (high - low) + low
    return values.round() if picture.dtype.kind != "f" else values
