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
#: From red, green and blue to their mean, red less green, and the mean of both less blue.
TO_CHROMA = np.array([[1 / 3, 1, 0.5], [1 / 3, -1, 0.5], [1 / 3, 0, -1]], np.float32)


@dataclass(frozen=True, eq=False)
class Aged:
    """A part of an aged photograph, undamaged.

    Attributes
    ----------
    plane : (H, W) ndarray of float32
        Brightness: the mean of the channels.
    chroma : (2, H / 2, W / 2) ndarray of float32
        Red less green, and their mean less blue; 0 in a gray picture.
    black, white : float
        Brightness of the darkest and of the lightest parts of the whole photograph.
    scale : float
        How large a scan it is: width of what a scan of about 500 pixels shows as one pixel.
    """

    plane: Plane
    chroma: Plane
    black: float
    white: float
    scale: float


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
    """Return a part of a photograph: in color, gray or tinted, scaled, faded, blurred, with grain and paper.

    A part around a given place is as new in most cases. H and W are even.
    """
    number = int(rng.integers(len(material.photographs))) if place is None else place.photograph
    photograph = material.photographs[number]
    is_color = rng.random() < (0.4 if place is None else 0.6)
    to_gray = rng.dirichlet([3, 4, 2])[:, None].astype(np.float32)
    weights = (TO_CHROMA if is_color else to_gray) / np.float32(255)
    is_new = rng.random() < (0.35 if place is None else 0.7)  # sharp, with all its details
    scale = 1.0 if is_new else log_uniform(0.7, 3.5, rng)
    zoom = log_uniform(0.45, 1.05, rng) if is_new else log_uniform(0.4, 1.2, rng) * scale**0.7
    zoom *= (_USUAL_SIDE / max(photograph.shape)) ** rng.uniform(0, 1)
    if place is not None:
        zoom = place.zoom * log_uniform(0.8, 1.25, rng)
    middle = None if place is None else (place.row, place.column)
    for _ in range(4):  # little is learned from what is all dark or all light
        plane, *differences = _part(photograph, weights, shape, zoom, rng, middle)
        if plane.std() > 0.05:
            break
    chroma = np.stack(differences) if is_color else np.zeros((2, shape[0] // 2, shape[1] // 2), np.float32)
    if rng.random() < 0.03:  # a plain wall
        chroma[:] = chroma.mean(axis=(1, 2), keepdims=True)
        plane = 0.5 + np.float32(rng.uniform(0, 0.2)) * smooth_noise(shape, rng.uniform(20, 200), rng)
    low, high = np.quantile(plane, (0.005, 0.995))
    whole = np.quantile(photograph[::4, ::4].mean(axis=2) / 255, (0.005, 0.995))
    black, white = min(low, whole[0]), max(high, whole[1])
    things = with_things(plane, scale, rng, is_sharp=is_new)
    if is_color:
        _color(chroma, halved(np.abs(things - plane)), rng)
    plane = things
    if rng.random() < (0.2 if is_new else 0.6):
        gamma, darkest, lightest = log_uniform(0.5, 1.9, rng), rng.uniform(0, 0.35), rng.uniform(0.6, 1)
        plane, black, white = (
            darkest + (lightest - darkest) * np.clip(each, 0, 1) ** gamma for each in (plane, black, white)
        )
        chroma *= np.float32((lightest - darkest) * rng.uniform(0.3, 1.2))
    if not is_new:
        if rng.random() < 0.85:  # lenses and paper were softer than what has broken the paper since
            sigma = log_uniform(0.4, 1.4, rng) * scale**0.8
            plane = ndimage.gaussian_filter(plane, sigma)
            chroma = ndimage.gaussian_filter(chroma, (0, sigma / 2, sigma / 2)) if is_color else chroma
        plane = _on_paper(np.asarray(plane, np.float32), scale, rng)
    plane = np.asarray(plane, np.float32)
    if not is_color and rng.random() < 0.4:
        chroma = _tint(halved(plane), black, white, rng)
    return Aged(plane, np.asarray(chroma, np.float32), float(black), float(white), scale)


def halved(plane: Plane) -> Plane:
    """Return the means of 2 x 2 pixels."""
    rows, columns = plane.shape
    return np.asarray(plane.reshape(rows // 2, 2, columns // 2, 2).mean(axis=(1, 3)), np.float32)


def _color(chroma: Plane, change: Plane, rng: np.random.Generator) -> None:
    """Give things a color of their own, or none, where they have changed the picture."""
    covered = np.clip(change / np.float32(0.15), 0, 1)
    own = rng.normal(0, 0.12, 2) * (rng.random() < 0.7)
    chroma += covered * (own[:, None, None].astype(np.float32) - chroma)


def _tint(plane: Plane, black: float, white: float, rng: np.random.Generator) -> Plane:
    """Return the chroma of a print of one tint, brown in most cases: strongest between black and white."""
    amount = log_uniform(0.02, 0.3, rng) * (white - black)
    tint = amount * np.array([rng.uniform(0, 0.6), 1]) * (1 if rng.random() < 0.85 else -1)
    tone = np.clip((plane - black) / max(white - black, 0.05), 0, 1)
    paper = rng.uniform(0, 1)
    strength = paper * tone + (1 - paper) * 4 * tone * (1 - tone)
    return np.asarray(tint[:, None, None] * strength, np.float32)


def _part(
    photograph: NDArray[np.uint8],
    weights: Plane,
    shape: tuple[int, int],
    zoom: float,
    rng: np.random.Generator,
    middle: tuple[float, float] | None,
) -> list[Plane]:
    """Return weighted sums of the channels of a part, at another size, mirrored or not, somewhere.

    The first has the shape that is asked for, the others half of it.
    """
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
    sums = photograph[first[0] : stop[0], first[1] : stop[1]] @ weights
    resampling = Image.Resampling.BICUBIC if rng.random() < 0.7 else Image.Resampling.BILINEAR
    box = (left, top, left + source[1], top + source[0])
    step = -1 if rng.random() < 0.5 else 1
    parts = []
    for number in range(sums.shape[2]):
        size = shape[::-1] if number == 0 else (shape[1] // 2, shape[0] // 2)
        part = Image.fromarray(np.ascontiguousarray(sums[..., number])).resize(size, resampling, box)
        parts.append(np.asarray(part, np.float32)[:, ::step])
    return parts


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
