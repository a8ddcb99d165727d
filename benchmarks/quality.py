"""Restored images against those of peers: PSNR, SSIM and seconds by damage, and growth with the image."""

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import print_table, ratio, seconds_in_turns
from benchmarks.peers import biharmonic, hidden, xphoto
from benchmarks.pictures import Image, Mask, damages, gray, photographs
from dictsel_core import RestoreSettings, psnr, restore, ssim
from dictsel_core.restoration import SELECTORS, PresetName

Method = Callable[[Image, Mask], NDArray[Any]]
PRESETS: tuple[PresetName, ...] = ("fast", "balanced", "best", "finest")


def main() -> None:
    """Print all tables."""
    pictures()
    selectors()
    speed()
    growth()


def methods() -> dict[str, Method]:
    """Return ours and the peers by name: each takes picture and mask and returns a picture."""
    import cv2

    def ours(image: Image, mask: Mask, *, preset: PresetName) -> NDArray[Any]:
        return np.asarray(restore(image, mask, preset).image)

    def opencv(image: Image, mask: Mask, *, kind: int) -> NDArray[Any]:
        return np.asarray(cv2.inpaint(hidden(image, mask), mask.astype(np.uint8), 3, kind))

    return {
        **{f"ours, {name}": partial(ours, preset=name) for name in PRESETS},
        "biharmonic": biharmonic,
        "OpenCV Telea": partial(opencv, kind=cv2.INPAINT_TELEA),
        "OpenCV NS": partial(opencv, kind=cv2.INPAINT_NS),
        "OpenCV FSR_FAST": partial(xphoto, kind="FSR_FAST"),
    }


def pictures() -> None:
    """Print mean PSNR and SSIM over the photographs by damage, and the smallest gain of best."""
    originals = photographs()
    rows, losses = [], []
    for damage, mask in damages((256, 256)).items():
        figures = {}
        for name, method in methods().items():
            start = time.perf_counter()
            results = [method(image, mask).astype(np.uint8) for image in originals.values()]
            seconds = (time.perf_counter() - start) / len(originals)
            pairs = list(zip(originals.values(), results, strict=True))
            figures[name] = np.array([psnr(a, b) for a, b in pairs])
            rows.append(
                [
                    f"{damage}, {name}",
                    f"{figures[name].mean():.2f}",
                    f"{np.mean([ssim(a, b) for a, b in pairs]):.4f}",
                    f"{seconds:.2f}",
                    " ".join(f"{value:.1f}" for value in figures[name]),
                ]
            )
        for name, difference in zip(originals, figures["ours, best"] - figures["ours, fast"], strict=True):
            losses.append((difference, name, damage))
    print_table(
        f"Quality: mean over {len(originals)} gray photographs of 256 x 256 ({', '.join(originals)})",
        ["damage, method", "PSNR", "SSIM", "seconds each", "PSNR of each"],
        rows,
    )
    difference, name, damage = min(losses)
    print(f"best - fast where it gains least: {difference:+.2f} dB ({name}, {damage})")


def selectors() -> None:
    """Print the quality without refinement, by selector."""
    originals = photographs()
    rows = []
    for damage, mask in damages((256, 256)).items():
        runs = {
            name: [
                restore(image, mask, RestoreSettings(rounds=0, selector=name)) for image in originals.values()
            ]
            for name in SELECTORS
        }
        quality = {
            name: np.mean([psnr(a, b.image) for a, b in zip(originals.values(), each, strict=True)])
            for name, each in runs.items()
        }
        spent = {name: sum(run.seconds["select"] for run in each) for name, each in runs.items()}
        rows += [
            [
                f"{damage}, {name}",
                f"{quality[name]:.2f}",
                f"{quality[name] - quality['romp']:+.2f}",
                f"{spent[name] / spent['romp']:.1f}",
            ]
            for name in SELECTORS
        ]
    print_table(
        f"Selectors: no refinement, mean over {len(originals)} gray photographs of 256 x 256",
        ["damage, selector", "PSNR", "gain over romp", "time of selection / romp"],
        rows,
    )


def speed(n_rounds: int = 3) -> None:
    """Print the seconds on 512 x 512 pixels, 80 % missing."""
    image, mask = gray("camera"), np.random.default_rng(0).random((512, 512)) < 0.8
    candidates = {name: partial(method, image, mask) for name, method in methods().items()}
    seconds = seconds_in_turns(candidates, n_rounds)
    print_table(
        "Speed: 512 x 512 gray, 80 % missing",
        ["method", "seconds", "time / biharmonic"],
        [
            [name, f"{median(seconds[name]):.2f}", f"{ratio(seconds, name, 'biharmonic'):.3f}"]
            for name in seconds
        ],
    )


def growth() -> None:
    """Print the seconds per megapixel as the image grows."""
    tile = gray("camera")
    rows = []
    sizes = {"0.25 MP": (1, 1), "1 MP": (2, 2), "4 MP": (4, 4), "24 MP": (8, 12)}
    measured: dict[PresetName, list[str]] = {
        "fast": list(sizes),
        "balanced": list(sizes)[:3],
        "best": list(sizes)[:3],
    }
    for preset, names in measured.items():
        base = 0.0
        for name in names:
            image = np.tile(tile, sizes[name])
            mask = np.random.default_rng(0).random(image.shape) < 0.8
            start = time.perf_counter()
            restoration = restore(image, mask, preset)
            per_megapixel = (time.perf_counter() - start) / (image.size / 1e6)
            base = base or per_megapixel
            rows.append(
                [
                    f"{preset}, {name} gray",
                    f"{per_megapixel:.2f}",
                    f"{per_megapixel / base:.2f}",
                    f"{restoration.settings.rounds}",
                ]
            )
    print_table(
        "Growth: 80 % missing",
        ["preset, picture", "seconds per megapixel", "over that of 0.25 MP", "rounds"],
        rows,
    )
