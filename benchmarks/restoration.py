"""Restoration against its peers: PSNR, SSIM and seconds by damage, and what the sparsity kinds do."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.restoration import inpaint_biharmonic

from benchmarks.measure import print_table, ratio, seconds_in_turns
from benchmarks.pictures import Image, Mask, damages, gray, photographs
from dictsel_core import RestoreSettings, psnr, restore, ssim, tune
from dictsel_core.tuning import grid

Method = Callable[[Image, Mask], NDArray[Any]]
FAST, PAPER = RestoreSettings.preset("fast"), RestoreSettings.preset("paper")


def main() -> None:
    """Print all tables."""
    quality()
    speed()
    sparsity_kinds()
    tuning()
    growth()


def methods() -> dict[str, Method]:
    """Return ours and the peers by name: each takes picture and mask and returns a picture."""
    import cv2

    def hidden(image: Image, mask: Mask) -> Image:
        return np.where(mask, 0, image).astype(np.uint8)

    def biharmonic(image: Image, mask: Mask) -> NDArray[Any]:
        values = hidden(image, mask) / 255.0
        try:
            result = inpaint_biharmonic(values, mask)
        except ValueError:  # scikit-image 0.26 now and then trips over memory of its own
            result = inpaint_biharmonic(values, mask, split_into_regions=True)
        return np.asarray(255 * result).clip(0, 255).round()

    def opencv(image: Image, mask: Mask, *, kind: int) -> NDArray[Any]:
        return np.asarray(cv2.inpaint(hidden(image, mask), mask.astype(np.uint8), 3, kind))

    def fsr(image: Image, mask: Mask) -> NDArray[Any]:
        result = np.zeros_like(image)
        known = np.where(mask, 0, 255).astype(np.uint8)  # its own polarity
        cv2.xphoto.inpaint(hidden(image, mask), known, result, cv2.xphoto.INPAINT_FSR_FAST)
        return result

    return {
        "ours, fast": lambda image, mask: restore(image, mask, FAST).image,
        "ours, paper": lambda image, mask: restore(image, mask, PAPER).image,
        "biharmonic": biharmonic,
        "OpenCV Telea": partial(opencv, kind=cv2.INPAINT_TELEA),
        "OpenCV NS": partial(opencv, kind=cv2.INPAINT_NS),
        "OpenCV FSR_FAST": fsr,
    }


def quality() -> None:
    """Mean PSNR and SSIM over the photographs, by damage."""
    pictures = photographs()
    rows = []
    for damage, mask in damages((256, 256)).items():
        for name, method in methods().items():
            start = time.perf_counter()
            results = [method(image, mask).astype(np.uint8) for image in pictures.values()]
            seconds = time.perf_counter() - start
            pairs = list(zip(pictures.values(), results, strict=True))
            rows.append(
                [
                    f"{damage}, {name}",
                    f"{np.mean([psnr(a, b) for a, b in pairs]):.2f}",
                    f"{np.mean([ssim(a, b) for a, b in pairs]):.4f}",
                    f"{seconds / len(pictures):.2f}",
                    " ".join(f"{psnr(a, b):.1f}" for a, b in pairs),
                ]
            )
    print_table(
        f"Quality: mean over {len(pictures)} gray photographs of 256 x 256 ({', '.join(pictures)})",
        ["damage, method", "PSNR", "SSIM", "seconds each", "PSNR of each"],
        rows,
    )


def speed() -> None:
    """Seconds on 512 x 512, 80 % missing."""
    image, mask = gray("camera"), np.random.default_rng(0).random((512, 512)) < 0.8
    seconds = seconds_in_turns(
        {name: partial(method, image, mask) for name, method in methods().items()}, rounds=3
    )
    print_table(
        "Speed: 512 x 512 gray, 80 % missing",
        ["method", "seconds", "time / fast"],
        [
            [
                name,
                f"{median(seconds[name]):.2f}",
                f"{ratio(seconds, name, 'ours, fast'):.2f}",
            ]
            for name in seconds
        ],
    )


def sparsity_kinds() -> None:
    """Make the paper's comparison: 80 % missing, parameters by grid search against the true picture."""
    rows = []
    mask = np.random.default_rng(0).random((256, 256)) < 0.8
    for name, image in list(photographs().items())[:4]:
        best = {}
        for kind in ("individual", "average"):
            trials = [
                (psnr(image, restore(image, mask, settings).image), settings)
                for settings in grid(replace(PAPER, constraint=kind), 256)
            ]
            best[kind] = max(trials, key=lambda trial: trial[0])
        (one, a), (other, b) = best["individual"], best["average"]
        rows.append(
            [
                name,
                f"{one:.2f}",
                f"k={a.n_atoms} s={a.sparsity} code {a.coding_sparsity}",
                f"{other:.2f}",
                f"k={b.n_atoms} s={b.sparsity} s'={b.budget:g}T code {b.coding_sparsity}",
                f"{other - one:+.2f}",
            ]
        )
    print_table(
        "The paper's comparison: 80 % missing, preset paper, best of a grid judged by the true picture",
        ["picture", "individual", "with", "average", "with", "average - individual"],
        rows,
    )


def tuning() -> None:
    """How near the choice by held-out pixels comes to the best choice of the same grid."""
    rows = []
    for damage, mask in list(damages((256, 256)).items())[:2]:
        for name, image in list(photographs().items())[:4]:
            broken = np.where(mask, 0, image).astype(np.uint8)
            start = time.perf_counter()
            chosen = tune(broken, mask)
            seconds = time.perf_counter() - start
            figures = {s: psnr(image, restore(broken, mask, s).image) for s in grid(FAST, 256)}
            got = figures[chosen.settings]
            rows.append(
                [
                    f"{damage}, {name}",
                    f"{seconds:.1f}",
                    f"{chosen.estimated_psnr:.2f}",
                    f"{got:.2f}",
                    f"{max(figures.values()):.2f}",
                    f"{got - max(figures.values()):+.2f}",
                    f"{psnr(image, restore(broken, mask, FAST).image):.2f}",
                ]
            )
    lost = np.mean([float(row[5]) for row in rows])
    print_table(
        f"Tuning: mean distance to the best of the grid {lost:+.3f} dB",
        ["picture", "seconds", "estimated", "got", "best of grid", "got - best", "fast, untuned"],
        rows,
    )


def growth() -> None:
    """Seconds per megapixel as the picture grows."""
    tile = gray("camera")
    rows = []
    base = 0.0
    for megapixels, (down, across) in {1: (2, 2), 4: (4, 4), 24: (8, 12)}.items():
        image = np.tile(tile, (down, across))
        mask = np.random.default_rng(0).random(image.shape) < 0.8
        start = time.perf_counter()
        restore(image, mask, FAST)
        per_megapixel = (time.perf_counter() - start) / (image.size / 1e6)
        base = base or per_megapixel
        rows.append([f"{megapixels} MP gray", f"{per_megapixel:.2f}", f"{per_megapixel / base:.2f}"])
    print_table(
        "Growth: preset fast, 80 % missing",
        ["picture", "seconds per megapixel", "over that of 1 MP"],
        rows,
    )
