"""Holes, spots and grain in other photographs: ``python -m benchmarks holes --damage FOLDER``."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from scipy.ndimage import gaussian_filter

from benchmarks.hole_figures import figures
from benchmarks.hole_peers import gmic, has_gmic, has_migan, has_resynthesizer, migan, resynthesizer
from benchmarks.measure import print_table
from benchmarks.pictures import Image, Mask
from dictsel_core import RestoreSettings, psnr, restore
from dictsel_core.grain import match_grain
from dictsel_core.restoration import FillName

#: How many photographs have wide holes, spots and cracks; none has two of them.
_N_WIDE, _N_SPOTS, _N_CRACKS = 24, 20, 16
#: Heights and widths of the holes, and of the spots; how many spots there are in a photograph.
_SIZES, _SPOT_SIZES, _SPOTS_EACH = (40, 64, 80), (11, 12, 14, 16), 6
#: Standard deviation of film grain, and of its blur in pixels.
_FILM = ((5.0, 0.6), (8.0, 0.8), (11.0, 1.0), (7.0, 0.0))
#: Results by method.
Results = dict[str, dict[str, list[float]]]


def main(folder: Path) -> None:
    """Print all tables, from the photographs in a folder of the folder."""
    files = sorted((folder / "photographs").iterdir())
    rng = np.random.default_rng(2030)
    order = rng.permutation(np.arange(len(files)))
    parts = np.split(order, np.cumsum([_N_WIDE, _N_SPOTS, _N_CRACKS]))
    for part, measure in zip(parts, (_print_wide, _print_spots, _print_grain), strict=False):
        measure([np.asarray(Pillow.open(files[at]).convert("RGB")) for at in sorted(part)], rng)


def _filled(image: Image, mask: Mask, fill: FillName) -> Image:
    return np.asarray(restore(image, mask, RestoreSettings(fill=fill), channel_axis=2).image)


def _print_wide(pictures: list[Image], rng: np.random.Generator) -> None:
    """Print the figures of one hole in each photograph, where there is more detail than in most of it."""
    results: Results = {}
    for number, image in enumerate(pictures):
        mask = _busy_hole(image, _SIZES[number % len(_SIZES)], rng)
        smooth = _filled(image, mask, "smooth")
        made: dict[str, NDArray[Any]] = {"auto": _filled(image, mask, "auto"), "smooth": smooth}
        if has_migan():
            made["MI-GAN"] = migan(smooth, mask)  # it sees nothing of what is hidden
        if has_gmic():
            made["G'MIC matchpatch"] = gmic(image, mask, command="inpaint_matchpatch")
        if has_resynthesizer():
            made["Resynthesizer"] = resynthesizer(image, mask)
        for method, result in made.items():
            _add(results, method, image, result, mask)
    _print(f"Holes of 40 to 80 px in {len(pictures)} photographs: mean (median)", results)


def _busy_hole(image: Image, size: int, rng: np.random.Generator) -> Mask:
    height, width = image.shape[:2]
    gray = image.mean(axis=2)
    change = np.hypot(np.diff(gray, axis=0)[:, :-1], np.diff(gray, axis=1)[:-1])
    places = [tuple(int(rng.integers(24, n - size - 24)) for n in (height, width)) for _ in range(25)]
    places.sort(key=lambda at: float(change[at[0] : at[0] + size, at[1] : at[1] + size].mean()))
    top, left = places[int(rng.integers(13, 25))]
    mask = np.zeros((height, width), bool)
    mask[top : top + size, left : left + size] = True
    return mask


def _print_spots(pictures: list[Image], rng: np.random.Generator) -> None:
    """Print the figures of the spots that are filled, and how many are not."""
    results: Results = {}
    n_spots = 0
    for image in pictures:
        spots = _spots(image.shape[:2], rng)
        mask = np.asarray(np.any(spots, axis=0))
        made = {fill: _filled(image, mask, fill) for fill in ("auto", "smooth")}
        n_spots += len(spots)
        for spot in spots:
            if (made["auto"][spot] != made["smooth"][spot]).mean() > 0.5:
                for method, result in made.items():
                    _add(results, method, image, result, spot)
    n_filled = len(results["auto"]["detail"])
    _print(f"Spots of 11 to 16 px, the {n_filled} of {n_spots} that are filled: mean (median)", results)


def _spots(shape: tuple[int, ...], rng: np.random.Generator) -> list[Mask]:
    places: list[tuple[int, int]] = []
    spots: list[Mask] = []
    for _ in range(50):
        at = int(rng.integers(30, shape[0] - 50)), int(rng.integers(30, shape[1] - 50))
        if len(spots) < _SPOTS_EACH and all(max(abs(at[0] - a), abs(at[1] - b)) > 70 for a, b in places):
            size = int(rng.choice(_SPOT_SIZES))
            spot = np.zeros(shape, bool)
            spot[at[0] : at[0] + size, at[1] : at[1] + size] = True
            places.append(at)
            spots.append(spot)
    return spots


def _print_grain(pictures: list[Image], rng: np.random.Generator) -> None:
    """Print the fine scatter in restored cracks over that of the original at the same place."""
    rows = []
    for number, image in enumerate(pictures):
        sigma, blur = _FILM[number % len(_FILM)]
        grainy, mask = _with_film_grain(image, sigma, blur, rng), _cracks(image.shape[:2], rng)
        restored = _filled(grainy, mask, "auto")
        matched = match_grain(restored, mask, channel_axis=2)
        original = _fine(grainy)
        local = np.abs(gaussian_filter(np.abs(original).mean(axis=2) * ~mask, 12))
        flat = mask & (local <= np.median(local[mask]))
        values = [
            _scatter(_fine(each)[where]) / _scatter(original[where])
            for where in (mask, flat)
            for each in (restored, matched)
        ]
        rows.append([*values, _correlation(original, mask), _correlation(_fine(matched), mask)])
    medians = [f"{each:.2f}" for each in np.median(rows, axis=0)]
    least = [f"{each:.2f}" for each in np.min(rows, axis=0)]
    most = [f"{each:.2f}" for each in np.max(rows, axis=0)]
    head = ["", "restored", "with grain", "flat half: restored", "with grain", "correlation", "with grain"]
    print_table(
        f"Film grain on {len(pictures)} photographs, cracks",
        head,
        [["median", *medians], ["least", *least], ["most", *most]],
    )


def _with_film_grain(image: Image, sigma: float, blur: float, rng: np.random.Generator) -> Image:
    """Return a photograph with grain, most of it in mid-tones, of which channels have a part in common."""
    grain = 0.6 * rng.normal(size=image.shape) + 0.8 * rng.normal(size=(*image.shape[:2], 1))
    grain = gaussian_filter(grain, (blur, blur, 0))
    light = image.mean(axis=2, keepdims=True) / 255
    noisy = image + sigma * (0.5 + 2 * light * (1 - light)) * grain / grain.std()
    return np.asarray(np.rint(noisy).clip(0, 255), np.uint8)


def _cracks(shape: tuple[int, ...], rng: np.random.Generator, count: int = 5) -> Mask:
    """Return crooked lines of 3 to 8 pixels."""
    mask = np.zeros(shape, bool)
    for _ in range(count):
        place, direction, radius = rng.uniform(0, shape), rng.uniform(0, 2 * np.pi), rng.uniform(1.5, 4)
        for _ in range(max(shape)):
            direction += rng.normal(0, 0.12)
            place += np.sin(direction), np.cos(direction)
            rows, columns = (slice(max(int(at) - 5, 0), max(int(at) + 6, 0)) for at in place)
            y, x = np.ogrid[: shape[0], : shape[1]]
            mask[rows, columns] |= np.hypot(y[rows] - place[0], x[:, columns] - place[1]) <= radius
    return mask


def _fine(image: Image) -> NDArray[np.float64]:
    values = image.astype(np.float64)
    return np.asarray(values - gaussian_filter(values, (2, 2, 0)))


def _scatter(values: NDArray[np.float64]) -> float:
    """Return the standard deviation, whatever edges there are."""
    return 1.4826 * float(np.median(np.abs(values)))


def _correlation(fine: NDArray[np.float64], mask: Mask) -> float:
    """Return the correlation of neighbors in a column."""
    both = mask[1:] & mask[:-1]
    return float(np.corrcoef(fine[1:][both].ravel(), fine[:-1][both].ravel())[0, 1])


def _add(results: Results, method: str, image: Image, result: NDArray[Any], mask: Mask) -> None:
    rounded = np.rint(result).clip(0, 255)
    whole = np.where(mask[:, :, None], rounded, image).astype(np.uint8)
    measured = figures(image, whole, mask) | {"PSNR": psnr(image, whole, mask=mask)}
    for name, value in measured.items():
        results.setdefault(method, {}).setdefault(name, []).append(value)


def _print(title: str, results: Results) -> None:
    names = list(next(iter(results.values())))
    rows = [
        [method, *(f"{np.mean(values[each]):.2f} ({np.median(values[each]):.2f})" for each in names)]
        for method, values in results.items()
    ]
    print_table(title, ["method", *names], rows)
