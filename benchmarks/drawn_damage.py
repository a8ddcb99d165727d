"""Realistic damage drawn on photographs, with the pixels that it changed visibly."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from benchmarks.pictures import Mask
from dictsel_core.damage_kinds import DamageKind

Picture = NDArray[np.uint8]
Cover = NDArray[np.float32]
Draw = Callable[[Picture, np.random.Generator], tuple[Picture, Mask]]

#: Damage is drawn this many times larger and averaged, so that its edges are soft.
_FINE = 3


def draw_dead_pixels(picture: Picture, rng: np.random.Generator) -> tuple[Picture, Mask]:
    """Set single pixels, or one channel of them, near to black or white."""
    damaged = picture.copy()
    for row, column in rng.integers(0, picture.shape[:2], (_count(picture, 300, rng), 2)):
        value = rng.integers(200, 256) if rng.random() < 0.6 else rng.integers(0, 40)
        if picture.ndim == 3 and rng.random() < 0.5:
            damaged[row, column, rng.integers(3)] = value
        else:
            damaged[row, column] = value
    return damaged, _changed(picture, damaged)


def draw_dead_lines(picture: Picture, rng: np.random.Generator) -> tuple[Picture, Mask]:
    """Set rows and columns to one value, or shift their brightness, all along or from somewhere on."""
    damaged = picture.astype(np.float32)
    for number in range(4):
        lines = damaged if number % 2 else np.swapaxes(damaged, 0, 1)
        at = int(rng.integers(2, len(lines) - 3))
        start = int(rng.choice([0.0, 0.4]) * lines.shape[1])
        line = lines[at : at + int(rng.integers(1, 3)), start:]
        line[...] = (
            rng.uniform(0, 255) if rng.random() < 0.5 else line + rng.choice([-1, 1]) * rng.uniform(15, 60)
        )
    whole = damaged.clip(0, 255).round().astype(np.uint8)
    return whole, _changed(picture, whole)


def draw_stamp(picture: Picture, rng: np.random.Generator) -> tuple[Picture, Mask]:
    """Stamp a date, mostly in a corner, in the orange or red of a camera or in the color of an ink."""
    height, width = picture.shape[:2]
    size = max(11.0, height / rng.uniform(12, 26))
    text = f"'{rng.integers(80, 100)} {rng.integers(1, 13)} {rng.integers(1, 29)}"
    cover = (_segments if rng.random() < 0.5 else _printed)(text, size)[:height, :width]
    room = np.maximum((height - cover.shape[0], width - cover.shape[1]), 0)
    margin = np.minimum(rng.uniform(0.2, 2.5, 2) * size, room / 2)
    corner = np.where(rng.random(2) < [0.8, 0.7], room - margin, margin)
    top, left = (corner if rng.random() < 0.8 else rng.uniform(0, 1, 2) * room).astype(int)
    page = np.zeros((height, width), np.float32)
    page[top : top + cover.shape[0], left : left + cover.shape[1]] = cover
    alpha = (ndimage.gaussian_filter(page, rng.uniform(0, 0.8)) * rng.uniform(0.7, 1))[..., None]
    color = 255 * np.array(_INKS[int(rng.integers(len(_INKS)))])
    damaged = (picture * (1 - alpha) + color * alpha).clip(0, 255).round().astype(np.uint8)
    return damaged, (page > 0.4) & _changed(picture, damaged)


_INKS = ((1, 0.55, 0.1), (1, 0.4, 0.05), (1, 0.25, 0.1), (1, 0.8, 0.2), (0.75, 0.1, 0.2), (0.2, 0.25, 0.75))
#: Of the digits of a display: a at the top, then clockwise to f, g in the middle.
_SEGMENTS = ("abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg")
_SEGMENT_ENDS = {
    "a": (0, 0, 0, 1), "b": (0, 1, 1, 1), "c": (1, 1, 2, 1), "d": (2, 0, 2, 1), "e": (1, 0, 2, 0),
    "f": (0, 0, 1, 0), "g": (1, 0, 1, 1),
}  # fmt: skip


def _printed(text: str, size: float) -> Cover:
    """Return a text in the font that Pillow brings."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(size)
    page = Image.new("L", (int(font.getlength(text) + size), int(1.5 * size)))
    ImageDraw.Draw(page).text((size / 4, 0), text, 255, font, stroke_width=size / 30)
    return np.asarray(page, np.float32) / np.float32(255)


def _segments(text: str, size: float) -> Cover:
    """Return a text of digits made of seven segments, as the backs of cameras wrote them."""
    tall, pitch, width = 0.75 * size, 0.62 * size, max(1.0, size / 11)
    page = np.zeros((int(1.2 * size), int(pitch * (len(text) + 1))), np.float32)
    for place, letter in enumerate(text):
        names = "f" if letter == "'" else _SEGMENTS[int(letter)] if letter != " " else ""
        for name in names:
            ends = np.array(_SEGMENT_ENDS[name], float).reshape(2, 2) * (tall / 2, tall / 2)
            line = ends[0] + np.linspace(0.12, 0.88, int(4 * tall))[:, None] * (ends[1] - ends[0])
            line += (width + 1, width + 1 + pitch * place)
            np.maximum(page, _stroke(page.shape, line, width), out=page)
    return page


DAMAGE: dict[DamageKind, Draw] = {
    "dead_pixels": draw_dead_pixels,
    "dead_lines": draw_dead_lines,
    "stamps": draw_stamp,
}


def _count(picture: Picture, per_megapixel: float, rng: np.random.Generator) -> int:
    area = picture.shape[0] * picture.shape[1] / 1e6
    return max(3, int(per_megapixel * area * rng.uniform(0.7, 1.3)))


def _changed(before: Picture, after: Picture) -> Mask:
    """Return where the damage is visible: a change of 12 gray levels or more."""
    change = np.abs(before.astype(np.int16) - after)
    return np.asarray((change if change.ndim == 2 else change.max(axis=2)) >= 12)


def _stroke(shape: tuple[int, int], curve: NDArray[np.float64], width: float) -> Cover:
    """Return the part of each pixel that a round brush covers along a curve."""
    margin = int(width) + 2
    low = np.clip(curve.min(axis=0).astype(int) - margin, 0, shape)
    high = np.clip(curve.max(axis=0).astype(int) + margin + 1, 0, shape)
    cover = np.zeros(shape, np.float32)
    if (high <= low).any():
        return cover
    box = (high - low) * _FINE
    points = np.rint((curve - low + 0.5) * _FINE - 0.5).astype(int)
    points = points[((points >= 0) & (points < box)).all(axis=1)]
    if not len(points):
        return cover
    away = np.ones(box, bool)
    away[points[:, 0], points[:, 1]] = False
    painted = ndimage.distance_transform_edt(away) <= width * _FINE / 2
    part = painted.reshape(box[0] // _FINE, _FINE, box[1] // _FINE, _FINE).mean(axis=(1, 3))
    cover[low[0] : high[0], low[1] : high[1]] = part
    return cover
