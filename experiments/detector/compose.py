"""Damaged pictures with the damage that can be seen in them."""

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from experiments.detector import covers
from experiments.detector.aging import Aged, Place, aged_part, halved
from experiments.detector.folds import fold
from experiments.detector.material import Material, Plane
from experiments.detector.noise import log_uniform, smooth_noise
from experiments.detector.things import with_fingerprint

Bools = NDArray[np.bool_]

#: Brightness as the network is given it, and how far red and blue are from it at most.
RANGE, MOST_TINT = (-0.5, 1.5), 1.0
#: Quantiles of a picture that become 0 and 1.
_QUANTILES, _LEAST_SPAN = (0.005, 0.995), 0.1
#: Part of the pictures whose range is wider than what is seen of them.
_WIDER = 0.3
#: Part of the pictures that have no damage.
UNDAMAGED = 0.3
#: The same for parts around places that were taken for damage.
UNDAMAGED_PLACES = 0.75
#: Part of the new pictures whose damage is that of film alone.
_FILM_ALONE = 0.65
#: Part of the film damage that is chosen for a large piece.
_LARGE = 0.5
#: How often each shape is drawn.
CHANCES = {
    "crack": 0.22, "hairline": 0.09, "fold": 0.12, "crease": 0.04, "scratches": 0.1, "scuffs": 0.05,
    "tramlines": 0.05, "flakes": 0.02, "tear": 0.02, "film": 0.2, "overlay": 0.01,
    "specks": 0.05, "hairs": 0.03,
}  # fmt: skip
_LINES = ("crack", "hairline", "crease", "scratches", "scuffs", "tramlines", "flakes", "tear")
#: What can be seen: a change of so much of the range, and of so many times the detail around; a long line is
#: seen where a spot would not be.
_SEEN_LINE, _SEEN_SPOT = (0.07, 1.2), (0.1, 1.0)
#: The same for lines where a network learns: those that are just seen are found whole then.
_LEARNED_LINE = (0.045, 1.0)
#: Part of the light lines that are darker than white, and of the wide shapes that differ between their rims.
_GRAY, _HOLLOW = 0.35, 0.4
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
    tint : (2, H / 2, W / 2) ndarray of float32
        By how much red and blue are brighter than the mean of all channels, with the damage.
    truth : (H, W) ndarray of bool
        Damage that can be seen.
    is_line : (H, W) ndarray of bool
        Where the damage is a crack, a scratch or a tear, neither dust nor a hair.
    known : (H, W) ndarray of bool
        Where it is clear whether a pixel is damaged: not at the rims and not where hardly anything is seen.
    """

    plane: Plane
    clean: Plane
    tint: Plane
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
    is_lesson: bool = False,
) -> Sample:
    """Return an aged part of a photograph, around a place or anywhere, with given or random damage.

    Where a network learns from it, fainter lines count.
    """
    aged = aged_part(material, shape, rng, place)
    if shapes is None:
        undamaged = UNDAMAGED if place is None else UNDAMAGED_PLACES
        n_layers = 0 if rng.random() < undamaged else int(rng.integers(1, 5))
        shapes = tuple(rng.choice(list(CHANCES), n_layers, p=list(CHANCES.values())).tolist())
        if shapes and aged.is_new and rng.random() < _FILM_ALONE:
            shapes = ("film",)
    values, tint, lines, dust = aged.plane, aged.tint, *np.zeros((2, *shape), np.float32)
    for name in shapes:
        if name == "fold":
            relief, cover = fold(shape, aged.scale, rng)
            values = values + relief * np.float32(aged.white - aged.black)
            np.maximum(lines, cover, out=lines)
            continue
        for cover, is_line in _covers(name, material, aged, rng):
            values, alpha = _painted(values, cover, aged, is_line, name == "film", rng)
            tint = _painted_tint(tint, alpha, aged.is_colored, rng)
            np.maximum(lines if is_line else dust, alpha, out=lines if is_line else dust)
    values, clean_values = _developed(values, aged.plane, rng)
    low, high = _range(aged, values, rng)
    if rng.random() < 0.05:
        seed = int(rng.integers(1 << 32))
        values, clean_values = (
            with_fingerprint(each, aged.scale, np.random.default_rng(seed)) for each in (values, clean_values)
        )
    seed = int(rng.integers(1 << 32))
    plane, clean = (
        (_scanned(each, aged.scale, np.random.default_rng(seed)) - np.float32(low)) / np.float32(high - low)
        for each in (values, clean_values)
    )
    blur = _scanner_blur(np.random.default_rng(seed))
    lines, dust = (ndimage.gaussian_filter(each, blur) for each in (lines, dust))
    truth, known = _visible(clean, plane, lines, dust, _LEARNED_LINE if is_lesson else _SEEN_LINE)
    tint = (_scanned_tint(tint, rng) / np.float32(high - low)).clip(-MOST_TINT, MOST_TINT)
    return Sample(plane.clip(*RANGE), clean.clip(*RANGE), tint, truth, lines >= dust, known)


def _developed(values: Plane, clean: Plane, rng: np.random.Generator) -> tuple[Plane, Plane]:
    """Make the middle tones of some pictures lighter or darker, with their damage, as fading does."""
    if rng.random() < 0.6:
        return values, clean
    low, high = values.min(), values.max()
    span, gamma = max(float(high - low), 1e-3), log_uniform(0.5, 2, rng)
    values, clean = (
        low + np.float32(span) * np.clip((each - low) / np.float32(span), 0, 1) ** np.float32(gamma)
        for each in (values, clean)
    )
    return values, clean


def _range(aged: Aged, values: Plane, rng: np.random.Generator) -> tuple[float, float]:
    """Return what becomes 0 and 1: the range of this part, that of the whole picture, or one between.

    In some pictures, something else is darker or lighter, such as a margin: damage is gray there.
    """
    own = np.quantile(values[::2, ::2], _QUANTILES)
    whole = np.array([min(own[0], aged.black), max(own[1], aged.white)])
    share = np.clip(rng.uniform(-0.5, 1.5), 0, 1)
    low, high = own + share * (whole - own) + rng.normal(0, 0.01, 2)
    if rng.random() < _WIDER:
        low, high = low - rng.uniform(0, 0.4) * (high - low), high + rng.uniform(0, 0.8) * (high - low)
    return float(low), float(max(high, low + _LEAST_SPAN))


def _covers(name: str, material: Material, aged: Aged, rng: np.random.Generator) -> list[tuple[Plane, bool]]:
    shape, scale = aged.plane.shape, aged.scale
    if name == "film":  # large pieces are rare: several parts lie over each other
        zoom = log_uniform(0.2, 1.4, rng)
        parts = [
            covers.film_damage(shape, material, rng, zoom, is_large=rng.random() < _LARGE)
            for _ in range(1 + int(4 * zoom * rng.random()))
        ]
        dust, lines = np.max(parts, axis=0)
        return [(dust, False), (lines, True)]
    if name == "overlay":
        return [covers.overlay(shape, scale, material, rng)]
    draw = getattr(covers, name)
    return [(draw(shape, scale, rng), name in _LINES)]


def _painted(
    values: Plane, cover: Plane, aged: Aged, is_line: bool, is_film: bool, rng: np.random.Generator
) -> tuple[Plane, Plane]:
    """Lay damage over a picture: light or dark, with texture, soft, faded in parts, some with a shadow."""
    shape = cover.shape
    if rng.random() < 0.6:
        soft = rng.uniform(0.2, 0.8) if is_line or rng.random() < 0.8 else rng.uniform(0.8, 1.6)
        cover = ndimage.gaussian_filter(cover, soft * aged.scale**0.6)
        cover = np.minimum(cover * np.float32(rng.uniform(1, 1.4)), 1)
    # Where the emulsion is gone over some width, paper is seen, and nothing through it.
    is_wide = not is_film and bool(ndimage.binary_erosion(cover > 0.5, iterations=_WIDE).any())
    least = 0.85 if is_wide else 0.25 if is_line else 0.5
    alpha = cover * np.float32(1 if rng.random() < 0.7 else rng.uniform(least, 1))
    if rng.random() < (0.15 if is_wide else 0.4):
        fading = 1.3 + rng.uniform(0.2, 0.8) * smooth_noise(shape, log_uniform(8, 60, rng), rng)
        alpha = alpha * np.clip(fading, 0, 1)
    span = aged.white - aged.black
    ground = float((cover * values).sum() / max(float(cover.sum()), 1e-6))
    middle = (aged.black + aged.white) / 2  # dark damage on dark ground, which nobody sees, is rare
    light = (0.94 if is_line else 0.88) if ground < middle else (0.72 if is_line else 0.5)
    light = 0.6 if is_film else max(light, 0.96 * (is_wide and is_line))
    if rng.random() < light:
        paint = min(1.0, rng.uniform(aged.white - (0.1 if is_line else 0.2) * span, aged.white + 0.35 * span))
        if is_line and rng.random() < _GRAY:  # the damage of faded prints, or soiled
            paint = ground + rng.uniform(0.15, 0.8) * (paint - ground)
    else:
        paint = max(0.0, rng.uniform(aged.black - 0.3 * span, aged.black + 0.15 * span))
    rough = rng.uniform(0, 0.3 * span if is_wide and rng.random() < 0.5 else 0.12)
    texture = np.float32(rough) * smooth_noise(shape, log_uniform(1, 6, rng), rng)
    if is_wide and rng.random() < _HOLLOW:
        texture = texture + _hollow(cover, paint - ground, rng)
    if is_line and rng.random() < 0.4:  # a raised rim casts a shadow
        shift = rng.normal(0, 1.0 * aged.scale, 2)
        shadow = ndimage.gaussian_filter(ndimage.shift(alpha, shift, order=1), 0.6 * aged.scale)
        tone = np.float32(aged.black if paint > aged.black + span / 2 else aged.white)
        values = values + np.float32(rng.uniform(0.1, 0.5)) * shadow * (tone - values)
        return values + alpha * (np.float32(paint) + texture - values), np.maximum(alpha, 0.5 * shadow)
    return values + alpha * (np.float32(paint) + texture - values), alpha


def _hollow(cover: Plane, height: float, rng: np.random.Generator) -> Plane:
    """Return how tones change between the rims of wide damage: toward the picture, or away from it."""
    inside = ndimage.distance_transform_edt(cover > 0.5)
    rim = rng.uniform(0.6, 1.8)
    depth = rng.uniform(0.2, 0.9) if rng.random() < 0.7 else -rng.uniform(0.2, 0.5)
    return np.asarray(np.float32(-depth * height) * np.clip(inside - rim, 0, 1), np.float32)


def _painted_tint(tint: Plane, alpha: Plane, is_colored: bool, rng: np.random.Generator) -> Plane:
    """Lay damage over the tint of a picture: gray for the most part, or tinted as the print is."""
    chance = rng.random()
    if chance < (0.1 if is_colored else 0.5) or (not tint.any() and chance < 0.9):
        return tint
    hue = rng.normal(0, 0.01 if rng.random() < 0.7 else 0.05, (2, 1, 1)).astype(np.float32)
    return tint + halved(alpha) * (hue - tint)


def _visible(
    clean: Plane, plane: Plane, lines: Plane, dust: Plane, seen_line: tuple[float, float]
) -> tuple[Bools, Bools]:
    """Return the damage that stands out from what it lies on, and where that is clear.

    It is judged in the scan: its blur, its noise and its range decide about thin and faint lines.
    """
    cover = np.maximum(lines, dust)
    detail = clean - ndimage.gaussian_filter(clean, 1.5)
    noise = np.sqrt(ndimage.gaussian_filter(detail**2, 3))
    change = ndimage.gaussian_filter(np.abs(plane - clean), 0.5)
    least, times = (
        np.where(lines >= dust, *pair).astype(np.float32) for pair in zip(seen_line, _SEEN_SPOT, strict=True)
    )
    needed = np.maximum(least, times * noise)
    covered = cover > 0.15
    sure = covered & (change > needed)
    truth = sure | (covered & (change > needed / 2) & ndimage.binary_dilation(sure, iterations=_REACH))
    unclear = (cover > 0.03) & (change > 0.15 * needed) & ~truth
    rim = ndimage.binary_dilation(truth) & ~truth
    return truth, ~(unclear | rim)


def _scanned(values: Plane, scale: float, rng: np.random.Generator) -> Plane:
    """Blur as a scanner does, add its noise, and save as JPEG."""
    values = ndimage.gaussian_filter(values, _scanner_blur(rng))
    if rng.random() < 0.15:  # sharpened
        soft = ndimage.gaussian_filter(values, rng.uniform(0.7, 2))
        values = values + np.float32(rng.uniform(0.2, 1.2)) * (values - soft)
    if rng.random() < 0.5:
        values = values + rng.normal(0, rng.uniform(0, 0.012), values.shape).astype(np.float32)
    return _stored(values, int(rng.integers(45, 98)) if rng.random() < 0.6 else None)


def _scanner_blur(rng: np.random.Generator) -> float:
    return rng.uniform(0.2, rng.choice([0.75, 0.75, 0.75, 1.3, 2.2])) if rng.random() < 0.5 else 0.0


def _scanned_tint(tint: Plane, rng: np.random.Generator) -> Plane:
    """Add the noise of colors, and save them as JPEG."""
    if not tint.any():
        return tint
    if rng.random() < 0.5:
        tint = tint + rng.normal(0, rng.uniform(0, 0.01), tint.shape).astype(np.float32)
    quality = int(rng.integers(45, 98)) if rng.random() < 0.6 else None
    stored = _stored(tint.reshape(-1, tint.shape[2]) + np.float32(128 / 255), quality)
    return stored.reshape(tint.shape) - np.float32(128 / 255)


def _stored(values: Plane, quality: int | None) -> Plane:
    """Return values as a file of 8 bits keeps them: a JPEG of some quality, or without loss."""
    whole = np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8)
    if quality is not None:
        file = io.BytesIO()
        Image.fromarray(whole).save(file, "JPEG", quality=quality)
        whole = np.asarray(Image.open(file))
    return whole.astype(np.float32) / np.float32(255)
