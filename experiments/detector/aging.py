"""Parts of photographs as old pictures show them, with things of their own that look like damage."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from experiments.detector.material import Material, Plane
from experiments.detector.noise import log_uniform, smooth_noise
from experiments.detector.things import with_things

#: Longest side of most photographs.
_USUAL_SIDE = 560


@dataclass(frozen=True, eq=False)
class Aged:
    """A part of an aged photograph, undamaged.

    Attributes
    ----------
    plane : (H, W) ndarray of float32
        Brightness.
    tint : (2, H / 2, W / 2) ndarray of float32
        By how much red and blue are brighter than the mean of all channels.
    black, white : float
        Brightness of the darkest and of the lightest parts of the whole photograph.
    scale : float
        How large a scan it is: width of what a scan of about 500 pixels shows as one pixel.
    is_new : bool
        Whether it is as sharp as the photograph, with all its details.
    is_colored : bool
        Whether it has more than one tint.
    """

    plane: Plane
    tint: Plane
    black: float
    white: float
    scale: float
    is_new: bool
    is_colored: bool


@dataclass(frozen=True)
class Place:
    """Where something was taken for damage: number of a photograph, row and column there, and the zoom."""

    photograph: int
    row: float
    column: float
    zoom: float


def aged_part(
    material: Material, shape: tuple[int, int], rng: np.random.Generator, place: Place | None = None
) -> Aged:
    """Return a part of a photograph: scaled, faded, blurred, with grain and paper; in color, tinted or gray.

    A part around a given place is as new in most cases.
    """
    number = int(rng.integers(len(material.photographs))) if place is None else place.photograph
    photograph = material.photographs[number]
    is_new = rng.random() < (0.5 if place is None else 0.7)
    is_colored = rng.random() < (0.65 if is_new else 0.2)
    weights = np.full(3, 1 / 3, np.float32) if is_colored else rng.dirichlet([3, 4, 2]).astype(np.float32)
    scale = 1.0 if is_new else log_uniform(0.7, 3.5, rng)
    zoom = log_uniform(0.45, 1.05, rng) if is_new else log_uniform(0.4, 1.2, rng) * scale**0.7
    zoom *= (_USUAL_SIDE / max(photograph.shape)) ** rng.uniform(0, 1)
    if place is not None:
        zoom = place.zoom * log_uniform(0.8, 1.25, rng)
    middle = None if place is None else (place.row, place.column)
    for _ in range(4):  # little is learned from what is all dark or all light
        plane, tint = _part(photograph, weights / np.float32(255), shape, zoom, rng, middle)
        if plane.std() > 0.05:
            break
    if rng.random() < 0.03:  # a plain wall
        plane = 0.5 + np.float32(rng.uniform(0, 0.2)) * smooth_noise(shape, rng.uniform(20, 200), rng)
    low, high = np.quantile(plane[::2, ::2], (0.005, 0.995))
    whole = np.quantile(photograph[::4, ::4].mean(axis=2) / 255, (0.005, 0.995))
    black, white = min(low, whole[0]), max(high, whole[1])
    tint *= np.float32(is_colored)
    with_things(plane, tint if is_colored else None, scale, is_new, rng)
    if rng.random() < (0.2 if is_new else 0.6):
        gamma, darkest, lightest = log_uniform(0.5, 1.9, rng), rng.uniform(0, 0.35), rng.uniform(0.6, 1)
        tint *= np.float32((lightest - darkest) * rng.uniform(0.4, 1.2))
        plane, black, white = (
            darkest + (lightest - darkest) * np.clip(each, 0, 1) ** gamma for each in (plane, black, white)
        )
    if not is_new:
        if rng.random() < 0.85:  # lenses and paper were softer than what has broken the paper since
            plane = ndimage.gaussian_filter(plane, log_uniform(0.4, 1.4, rng) * scale**0.8)
        plane = _on_paper(np.asarray(plane, np.float32), scale, rng)
    plane = np.asarray(plane, np.float32)
    if not is_colored and rng.random() < (0.4 if is_new else 0.5):
        tint = _tinted((halved(plane) - np.float32(black)) / np.float32(max(white - black, 0.05)), rng)
    elif is_colored and not is_new:
        tint = tint + rng.normal(0, 0.03, (2, 1, 1)).astype(np.float32)
    return Aged(plane, tint, float(black), float(white), scale, is_new, is_colored)


def halved(plane: Plane) -> Plane:
    """Return means of 2 x 2 pixels, of planes of even sides."""
    rows = plane[..., ::2, :] + plane[..., 1::2, :]
    return np.asarray((rows[..., ::2] + rows[..., 1::2]) * np.float32(0.25))


def _tinted(brightness: Plane, rng: np.random.Generator) -> Plane:
    """Return the tint of a print, such as sepia: by brightness, and somewhat by place."""
    red = log_uniform(0.01, 0.07, rng)
    strength = np.array([red, -red * rng.uniform(0.5, 1.6)], np.float32)
    if rng.random() < 0.1:  # blue prints
        strength *= np.float32(-rng.uniform(0.5, 1))
    inside, least = np.clip(brightness, 0, 1), np.float32(rng.uniform(0, 1))
    profile = least + (1 - least) * 4 * inside * (1 - inside)
    uneven = 1 + np.float32(rng.uniform(0, 0.25)) * smooth_noise(brightness.shape, rng.uniform(20, 80), rng)
    return np.asarray(strength[:, None, None] * profile * uneven, np.float32)


def _part(
    photograph: NDArray[np.uint8],
    weights: Plane,
    shape: tuple[int, int],
    zoom: float,
    rng: np.random.Generator,
    middle: tuple[float, float] | None,
) -> tuple[Plane, Plane]:
    """Return brightness and tint of a part, at another size, mirrored or not, around a place or anywhere."""
    sides = photograph.shape[:2]
    zoom = max(zoom, *((want + 1) / have for want, have in zip(shape, sides, strict=True)))
    source = [want / zoom for want in shape]
    place = [rng.uniform(0, have - want) for want, have in zip(source, sides, strict=True)]
    if middle is not None:
        around = [at - rng.uniform(0.1, 0.9) * want for at, want in zip(middle, source, strict=True)]
        place = [min(max(0.0, at), have - want) for at, want, have in zip(around, source, sides, strict=True)]
    first = [max(0, int(at) - 8) for at in place]
    top, left = (at - low for at, low in zip(place, first, strict=True))
    stop = [int(low + 16 + size) + 1 for low, size in zip(first, source, strict=True)]
    pixels = photograph[first[0] : stop[0], first[1] : stop[1]]
    gray = pixels @ weights
    resampling = Image.Resampling.BICUBIC if rng.random() < 0.7 else Image.Resampling.BILINEAR
    box = (left, top, left + source[1], top + source[0])
    part = np.asarray(Image.fromarray(gray).resize(shape[::-1], resampling, box), np.float32)
    half = (shape[1] // 2, shape[0] // 2)
    tint = np.stack(
        [
            np.asarray(
                Image.fromarray(pixels[..., channel] / np.float32(255) - gray).resize(half, resampling, box)
            )
            for channel in (0, 2)
        ]
    )
    flip = int(rng.choice([-1, 1]))
    return part[:, ::flip].copy(), tint[..., ::flip].copy()


def _on_paper(plane: Plane, scale: float, rng: np.random.Generator) -> Plane:
    """Add uneven light, grain, and the relief of the paper."""
    shape = plane.shape
    if rng.random() < 0.4:
        plane = plane + np.float32(rng.uniform(0, 0.1)) * smooth_noise(
            shape, rng.uniform(40, 150) * scale, rng
        )
    if rng.random() < 0.65:
        grain = rng.normal(0, 1, shape).astype(np.float32)
        if rng.random() < 0.6:
            sigma = rng.uniform(0.4, 1.1) * scale**0.7
            grain = ndimage.gaussian_filter(grain, sigma) * np.float32(1 + 1.5 * sigma)
        plane = plane + grain * np.float32(log_uniform(0.003, 0.025, rng))
    if rng.random() < 0.1:
        rows, columns = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
        turn, pitch = rng.uniform(0, np.pi), log_uniform(2.5, 9, rng)
        waves = [
            np.sin(
                (rows * np.cos(turn + each) + columns * np.sin(turn + each)) * np.float32(2 * np.pi / pitch)
            )
            for each in rng.choice([(0, np.pi / 2), (0, np.pi / 3), (0, 0)])
        ]
        plane = plane + np.float32(rng.uniform(0.01, 0.06)) * waves[0] * waves[1]
    return np.asarray(plane, np.float32)
