"""Damaged pictures with the damage that can be seen in them."""

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from experiments.detector import covers
from experiments.detector.aging import Aged, Place, aged_part
from experiments.detector.folds import fold
from experiments.detector.material import Material, Plane
from experiments.detector.noise import log_uniform, smooth_noise
from experiments.detector.things import with_fingerprint

Bools = NDArray[np.bool_]

#: Brightness as the network is given it.
RANGE = (-0.5, 1.5)
#: Part of the pictures that have no damage.
UNDAMAGED = 0.3
#: The same for parts around places that were taken for damage.
UNDAMAGED_PLACES = 0.75
_CHANCES = {
    "crack": 0.36, "fold": 0.10, "crease": 0.05, "scratches": 0.13, "flakes": 0.02, "tear": 0.02,
    "film": 0.22, "overlay": 0.01, "specks": 0.05, "hairs": 0.04,
}  # fmt: skip
_LINES = ("crack", "crease", "scratches", "flakes", "tear")
#: What can be seen: a change of so much of the range, and of so many times the detail around; a long line is
#: seen where a spot would not be.
_SEEN_LINE, _SEEN_SPOT = (0.1, 1.4), (0.13, 2.0)
#: Half the width, in pixels, from which a line is wide.
_WIDE = 2
#: Parts of a line that are half as strong count so far from those that are seen.
_REACH = 4


@dataclass(frozen=True, eq=False)
class Sample:
    """A picture and its damage.

    Attributes
    ----------
    plane, clean : (H, W) ndarray of float32
        Brightness with and without the damage, where 0 and 1 are the darkest and the lightest of the whole.
    truth : (H, W) ndarray of bool
        Damage that can be seen.
    is_line : (H, W) ndarray of bool
        Where the damage is a crack, a scratch or a tear, neither dust nor a hair.
    known : (H, W) ndarray of bool
        Where it is clear whether a pixel is damaged: not at the rims and not where hardly anything is seen.
    """

    plane: Plane
    clean: Plane
    truth: Bools
    is_line: Bools
    known: Bools


def compose(
    material: Material,
    shape: tuple[int, int],
    rng: np.random.Generator,
    *,
    shapes: tuple[str, ...] | None = None,
    place: Place | None = None,
) -> Sample:
    """Return an aged part of a photograph, around a place or anywhere, with given or random damage."""
    aged = aged_part(material, shape, rng, place)
    if shapes is None:
        undamaged = UNDAMAGED if place is None else UNDAMAGED_PLACES
        n_layers = 0 if rng.random() < undamaged else int(rng.integers(1, 5))
        shapes = tuple(rng.choice(list(_CHANCES), n_layers, p=list(_CHANCES.values())).tolist())
    values, lines, dust = aged.plane, np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    for name in shapes:
        if name == "fold":
            relief, cover = fold(shape, aged.scale, rng)
            values = values + relief * np.float32(aged.white - aged.black)
            np.maximum(lines, cover, out=lines)
            continue
        for cover, is_line in _covers(name, material, aged, rng):
            values, alpha = _painted(values, cover, aged, is_line, rng)
            np.maximum(lines if is_line else dust, alpha, out=lines if is_line else dust)
    truth, known = _visible(aged, values, lines, dust)
    clean_values = aged.plane
    if rng.random() < 0.05:
        seed = int(rng.integers(1 << 32))
        values, clean_values = (
            with_fingerprint(each, aged.scale, np.random.default_rng(seed)) for each in (values, clean_values)
        )
    low, high = aged.black, aged.white
    if truth.mean() > 0.004:  # so much damage belongs to the range of values that is measured
        low, high = min(low, float(values[truth].min())), max(high, float(values[truth].max()))
    low, high = low + rng.normal(0, 0.015), max(high, low + 0.1) + rng.normal(0, 0.015)
    seed = int(rng.integers(1 << 32))
    plane, clean = (
        (_scanned(each, aged.scale, np.random.default_rng(seed)) - np.float32(low)) / np.float32(high - low)
        for each in (values, clean_values)
    )
    return Sample(plane.clip(*RANGE), clean.clip(*RANGE), truth, lines >= dust, known)


def _covers(name: str, material: Material, aged: Aged, rng: np.random.Generator) -> list[tuple[Plane, bool]]:
    shape, scale = aged.plane.shape, aged.scale
    if name == "film":
        dust, lines = covers.film_damage(shape, material, rng)
        return [(dust, False), (lines, True)]
    if name == "overlay":
        return [covers.overlay(shape, scale, material, rng)]
    draw = getattr(covers, name)
    return [(draw(shape, scale, rng), name in _LINES)]


def _painted(
    values: Plane, cover: Plane, aged: Aged, is_line: bool, rng: np.random.Generator
) -> tuple[Plane, Plane]:
    """Lay damage over a picture: light or dark, with texture, soft, faded in parts, some with a shadow."""
    shape = cover.shape
    if rng.random() < 0.6:
        cover = ndimage.gaussian_filter(cover, rng.uniform(0.2, 0.8) * aged.scale**0.6)
        cover = np.minimum(cover * np.float32(rng.uniform(1, 1.4)), 1)
    # Where the emulsion is gone over some width, paper is seen, and nothing through it.
    is_wide = bool(ndimage.binary_erosion(cover > 0.5, iterations=_WIDE).any())
    least = 0.85 if is_wide else 0.25 if is_line else 0.4
    alpha = cover * np.float32(1 if rng.random() < 0.7 else rng.uniform(least, 1))
    if rng.random() < (0.05 if is_wide else 0.3):
        fading = 1.3 + rng.uniform(0.2, 0.8) * smooth_noise(shape, log_uniform(8, 60, rng), rng)
        alpha = alpha * np.clip(fading, 0, 1)
    span = aged.white - aged.black
    ground = float((cover * values).sum() / max(float(cover.sum()), 1e-6))
    middle = (aged.black + aged.white) / 2  # dark damage on dark ground, which nobody sees, is rare
    light = (0.94 if is_line else 0.88) if ground < middle else (0.72 if is_line else 0.5)
    light = max(light, 0.96 * (is_wide and is_line))
    if rng.random() < light:
        paint = min(1.0, rng.uniform(aged.white - 0.1 * span, aged.white + 0.35 * span))
    else:
        paint = max(0.0, rng.uniform(aged.black - 0.3 * span, aged.black + 0.15 * span))
    texture = np.float32(rng.uniform(0, 0.12)) * smooth_noise(shape, log_uniform(1, 6, rng), rng)
    if is_line and rng.random() < 0.4:  # a raised rim casts a shadow
        shift = rng.normal(0, 1.0 * aged.scale, 2)
        shadow = ndimage.gaussian_filter(ndimage.shift(alpha, shift, order=1), 0.6 * aged.scale)
        tone = np.float32(aged.black if paint > aged.black + span / 2 else aged.white)
        values = values + np.float32(rng.uniform(0.1, 0.5)) * shadow * (tone - values)
        return values + alpha * (np.float32(paint) + texture - values), np.maximum(alpha, 0.5 * shadow)
    return values + alpha * (np.float32(paint) + texture - values), alpha


def _visible(aged: Aged, values: Plane, lines: Plane, dust: Plane) -> tuple[Bools, Bools]:
    """Return the damage that stands out from what it lies on, and where that is clear."""
    plane, cover = aged.plane, np.maximum(lines, dust)
    detail = plane - ndimage.gaussian_filter(plane, 1.5)
    noise = np.sqrt(ndimage.gaussian_filter(detail**2, 3))
    change = ndimage.gaussian_filter(np.abs(values - plane), 0.5)
    least, times = (
        np.where(lines >= dust, *pair).astype(np.float32) for pair in zip(_SEEN_LINE, _SEEN_SPOT, strict=True)
    )
    needed = np.maximum(least * (aged.white - aged.black), times * noise)
    covered = cover > 0.15
    sure = covered & (change > needed)
    truth = sure | (covered & (change > needed / 2) & ndimage.binary_dilation(sure, iterations=_REACH))
    unclear = (cover > 0.03) & (change > 0.15 * needed) & ~truth
    rim = ndimage.binary_dilation(truth) & ~truth
    return truth, ~(unclear | rim)


def _scanned(values: Plane, scale: float, rng: np.random.Generator) -> Plane:
    """Blur as a scanner does, add its noise, and save as JPEG."""
    if rng.random() < 0.5:
        values = ndimage.gaussian_filter(values, rng.uniform(0.2, 0.75 if rng.random() < 0.7 else 1.3))
    if rng.random() < 0.15:  # sharpened
        soft = ndimage.gaussian_filter(values, rng.uniform(0.7, 2))
        values = values + np.float32(rng.uniform(0.2, 1.2)) * (values - soft)
    if rng.random() < 0.5:
        values = values + rng.normal(0, rng.uniform(0, 0.012), values.shape).astype(np.float32)
    whole = np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8)
    if rng.random() < 0.6:
        file = io.BytesIO()
        Image.fromarray(whole).save(file, "JPEG", quality=int(rng.integers(45, 98)))
        whole = np.asarray(Image.open(file))
    return whole.astype(np.float32) / np.float32(255)
