"""Parts of photographs as old pictures show them, with things of their own that look like damage."""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage

from experiments.detector.material import Material, Plane
from experiments.detector.noise import log_uniform, smooth_noise

_LETTERS = "ABCDEFGHIKLMNOPRSTUVWabcdefghiklmnoprstuvw0123456789.,-'/&"


@dataclass(frozen=True, eq=False)
class Aged:
    """A part of an aged photograph, undamaged.

    Attributes
    ----------
    plane : (H, W) ndarray of float32
        Brightness.
    black, white : float
        Brightness of the darkest and of the lightest parts of the whole photograph.
    scale : float
        How large a scan it is: width of what a scan of about 500 pixels shows as one pixel.
    """

    plane: Plane
    black: float
    white: float
    scale: float


def aged_part(material: Material, shape: tuple[int, int], rng: np.random.Generator) -> Aged:
    """Return a part of a photograph: turned gray, scaled, faded, blurred, with grain and paper."""
    photograph = material.photographs[int(rng.integers(len(material.photographs)))]
    weights = rng.dirichlet([3, 4, 2]).astype(np.float32)
    is_new = rng.random() < 0.35  # sharp, with all its details
    scale = 1.0 if is_new else log_uniform(0.7, 3.5, rng)
    zoom = log_uniform(0.45, 1.05, rng) if is_new else log_uniform(0.4, 1.2, rng) * scale**0.7
    plane = _part(photograph @ weights / np.float32(255), shape, zoom, rng)
    if rng.random() < 0.03:  # a plain wall
        plane = 0.5 + np.float32(rng.uniform(0, 0.2)) * smooth_noise(shape, rng.uniform(20, 200), rng)
    low, high = np.quantile(plane, (0.005, 0.995))
    whole = np.quantile(photograph[::4, ::4].mean(axis=2) / 255, (0.005, 0.995))
    black, white = min(low, whole[0]), max(high, whole[1])
    plane = _with_things(plane, scale, rng)
    if rng.random() < (0.2 if is_new else 0.6):
        gamma, darkest, lightest = log_uniform(0.5, 1.9, rng), rng.uniform(0, 0.35), rng.uniform(0.6, 1)
        plane, black, white = (
            darkest + (lightest - darkest) * np.clip(each, 0, 1) ** gamma for each in (plane, black, white)
        )
    if not is_new:
        if rng.random() < 0.45:
            plane = ndimage.gaussian_filter(plane, rng.uniform(0.3, 1.1) * scale**0.8)
        plane = _on_paper(np.asarray(plane, np.float32), scale, rng)
    return Aged(np.asarray(plane, np.float32), float(black), float(white), scale)


def _part(plane: Plane, shape: tuple[int, int], zoom: float, rng: np.random.Generator) -> Plane:
    """Return a part of a photograph at another size, mirrored or not."""
    zoom = max(zoom, *((want + 1) / have for want, have in zip(shape, plane.shape, strict=True)))
    source = [want / zoom for want in shape]
    top, left = (rng.uniform(0, have - want) for want, have in zip(source, plane.shape, strict=True))
    box = (left, top, left + source[1], top + source[0])
    resampling = Image.Resampling.BICUBIC if rng.random() < 0.7 else Image.Resampling.BILINEAR
    part = np.asarray(Image.fromarray(plane).resize(shape[::-1], resampling, box), np.float32)
    return part[:, ::-1] if rng.random() < 0.5 else part


def _with_things(plane: Plane, scale: float, rng: np.random.Generator) -> Plane:
    """Add, to some pictures, text, wires, points of light, a margin."""
    plane = plane.copy()
    chance = rng.random(4)
    if chance[0] < 0.08:
        _lay(plane, _text(plane.shape, scale, rng), rng)
    if chance[1] < 0.05:
        _lay(plane, _wires(plane.shape, scale, rng), rng)
    if chance[2] < 0.06:
        _lay(plane, _lights(plane.shape, scale, rng), rng, is_light=True)
    if chance[3] < 0.15:
        _add_margin(plane, scale, rng)
    return plane


def _lay(plane: Plane, cover: Plane, rng: np.random.Generator, is_light: bool | None = None) -> None:
    if is_light is None:
        is_light = rng.random() < 0.5
    ink = rng.uniform(0.75, 1) if is_light else rng.uniform(0, 0.25)
    cover = cover * np.float32(rng.uniform(0.5, 1))
    plane += cover * (np.float32(ink) - plane)


def _text(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Plane:
    page = Image.new("L", (2 * shape[1], 2 * shape[0]))
    draw = ImageDraw.Draw(page)
    size = log_uniform(6, 40, rng) * scale
    font = ImageFont.load_default(2 * size)
    top = rng.uniform(-0.2, 0.9) * page.height
    for _ in range(int(rng.integers(1, 6))):
        text = "".join(rng.choice(list(_LETTERS), int(rng.integers(3, 16))).tolist())
        draw.text(
            (rng.uniform(-0.3, 0.8) * page.width, top), text, 255, font, stroke_width=int(rng.integers(0, 3))
        )
        top += 2.5 * size
    page = page.rotate(rng.choice([0, 0, 90, rng.uniform(-20, 20)]), Image.Resampling.BILINEAR)
    return np.asarray(page.reduce(2), np.float32) / np.float32(255)


def _wires(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Plane:
    """Draw wires, ropes or rails: long smooth lines of even width and darkness, often alike, all across."""
    page = Image.new("L", (3 * shape[1], 3 * shape[0]))
    draw = ImageDraw.Draw(page)
    t = np.linspace(-0.2, 1.2, 40)
    is_steep, sag = rng.random() < 0.4, rng.normal(0, 0.15)
    ends, fan = rng.uniform(-0.2, 1.2, 2), rng.uniform(-0.15, 0.15, 2)
    width = max(1, round(3 * log_uniform(0.7, 4, rng) * scale))
    for number in range(int(rng.integers(1, 7))):
        start, stop = ends + number * fan
        across = start + (stop - start) * t + sag * t * (1 - t)
        x, y = (across, t) if is_steep else (t, across)
        draw.line(list(zip((x * page.width).tolist(), (y * page.height).tolist(), strict=True)), 255, width)
    return np.asarray(page.reduce(3), np.float32) / np.float32(255)


def _lights(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Plane:
    """Draw catchlights and lamps: round, with a soft rim, in pairs or rows."""
    rows, columns = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    cover = np.zeros(shape, np.float32)
    place, step = rng.uniform(0.1, 0.9, 2) * shape, rng.normal(0, 20 * scale, 2)
    radius = log_uniform(0.8, 4, rng) * scale
    for number in range(int(rng.integers(1, 6))):
        row, column = place + number * step
        away = ((rows - row) ** 2 + (columns - column) ** 2) / np.float32(radius**2)
        np.maximum(cover, np.exp(-away), out=cover)
    return cover


def _add_margin(plane: Plane, scale: float, rng: np.random.Generator) -> None:
    """Add the margin of the print or the border of the film on some sides, light or dark."""
    ink = rng.uniform(0.75, 1) if rng.random() < 0.7 else rng.uniform(0, 0.15)
    page = Image.new("L", (2 * plane.shape[1], 2 * plane.shape[0]), 255)
    wide = [
        2 * min(log_uniform(1.5, 40, rng) * scale, 0.35 * min(plane.shape)) * (rng.random() < 0.6)
        for _ in range(4)
    ]
    box = (wide[0] - 1, wide[1] - 1, page.width - wide[2], page.height - wide[3])
    round_by = min(
        rng.choice([0, 0, 0, rng.uniform(4, 40) * scale]), (box[2] - box[0]) / 3, (box[3] - box[1]) / 3
    )
    corners = (
        bool(wide[0] and wide[1]),
        bool(wide[1] and wide[2]),
        bool(wide[2] and wide[3]),
        bool(wide[3] and wide[0]),
    )
    ImageDraw.Draw(page).rounded_rectangle(box, round_by, 0, corners=corners)
    page = page.rotate(rng.choice([0, rng.normal(0, 1)]), Image.Resampling.BILINEAR, fillcolor=255)
    cover = np.asarray(page.reduce(2), np.float32) / np.float32(255)
    cover = ndimage.gaussian_filter(cover, rng.uniform(0, 1) * scale)
    plane += cover * (np.float32(ink) - plane)


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
