"""Things of the picture that look like damage: twigs, bars, rims, ribbons, hair, lace, text, lights.

They are drawn before the picture is blurred and given its grain, as all that was in front of the camera; a
fingerprint is laid over it.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage

from experiments.detector.margins import add_margin
from experiments.detector.material import Plane
from experiments.detector.noise import log_uniform, smooth_noise

Shape = tuple[int, int]
Points = NDArray[np.float64]

_LETTERS = "ABCDEFGHIKLMNOPRSTUVWabcdefghiklmnoprstuvw0123456789.,-'/&"
#: Things are drawn so many times larger, and averaged.
_FINE = 3


def with_things(
    plane: Plane, tint: Plane | None, scale: float, is_new: bool, rng: np.random.Generator
) -> None:
    """Add some things to some pictures.

    Small bright things in sharp gray pictures could not be told from dust: none is drawn there.
    """
    if rng.random() < (0.3 if is_new else 0.5):
        for _ in range(int(rng.integers(1, 4))):
            draw = _THINGS[int(rng.integers(len(_THINGS)))]
            if draw in _SMALL and is_new and tint is None:
                continue
            cover = draw(plane.shape, scale, rng)
            _lay(plane, tint, cover, scale, rng, is_dark=draw in _DARK and rng.random() < 0.8)
    if rng.random() < 0.15:
        add_margin(plane, tint, scale, rng)


def with_fingerprint(plane: Plane, scale: float, rng: np.random.Generator) -> Plane:
    """Add a fingerprint, or a part of one: ridges around a middle, faint, light or dark."""
    shape = plane.shape
    rows, columns = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    middle, turn = rng.uniform(-0.2, 1.2, 2) * shape, rng.uniform(0, np.pi)
    down, right = rows - np.float32(middle[0]), columns - np.float32(middle[1])
    along, across = down * np.cos(turn) + right * np.sin(turn), right * np.cos(turn) - down * np.sin(turn)
    size = rng.uniform(40, 90) * scale
    away = np.hypot(along / rng.uniform(1, 1.6), across) + 4 * scale * smooth_noise(shape, 25 * scale, rng)
    ridges = np.sin(away * np.float32(2 * np.pi / (rng.uniform(3.5, 7) * scale)))
    inside = np.clip(2 - np.hypot(along / 1.4, across) / size, 0, 1)
    patchy = np.clip(0.6 + smooth_noise(shape, 12 * scale, rng), 0, 1)
    strength = np.float32(rng.choice([-1, 1]) * rng.uniform(0.03, 0.15))
    return np.asarray(plane + strength * np.clip(ridges + 0.3, 0, 1) * inside * patchy, np.float32)


def _lay(
    plane: Plane, tint: Plane | None, cover: Plane, scale: float, rng: np.random.Generator, *, is_dark: bool
) -> None:
    """Lay a thing of one tone, which light and shadow change, with an edge as soft as that of the picture."""
    low, high = np.quantile(plane[::3, ::3], (0.02, 0.98))
    ground = float((cover * plane).sum() / max(float(cover.sum()), 1e-6))
    is_light = rng.random() < (0.75 if ground < (low + high) / 2 else 0.35) and not is_dark
    tone = rng.uniform(0.65, 1.15) if is_light else rng.uniform(0, 0.3)
    tone = low + (high - low) * tone
    cover = ndimage.gaussian_filter(cover, rng.uniform(0.4, 0.9) * scale**0.7)
    light = 1 + np.float32(rng.uniform(0.05, 0.3)) * smooth_noise(plane.shape, log_uniform(4, 30, rng), rng)
    cover = cover * np.float32(rng.uniform(0.6, 1))
    plane += cover * (np.float32(tone) * light - plane)
    if tint is not None:
        hue = rng.normal(0, 0.12, (2, 1, 1)).astype(np.float32)
        tint += cover[::2, ::2] * (hue - tint)


class _Page:
    """A page on which lines and areas are drawn at several times the size."""

    def __init__(self, shape: Shape) -> None:
        self.size = np.array(shape)
        self._page = Image.new("L", (shape[1] * _FINE, shape[0] * _FINE))
        self._draw = ImageDraw.Draw(self._page)

    def line(self, points: Points, width: float, ink: int = 255) -> None:
        """Draw a line through (row, column) points."""
        at = [tuple(point) for point in (points[:, ::-1] * _FINE).tolist()]
        self._draw.line(at, ink, max(1, round(width * _FINE)), joint="curve")

    def area(self, points: Points, ink: int = 255) -> None:
        """Fill the polygon of (row, column) points."""
        self._draw.polygon([tuple(point) for point in (points[:, ::-1] * _FINE).tolist()], ink)

    def disc(self, center: Points, radius: float, ink: int = 255) -> None:
        """Fill a circle."""
        self._draw.circle(tuple((center[::-1] * _FINE).tolist()), radius * _FINE, ink)

    def cover(self) -> Plane:
        """Return what is covered of each pixel."""
        return np.asarray(self._page.reduce(_FINE), np.float32) / np.float32(255)


def _direction(angle: float) -> Points:
    return np.array([np.sin(angle), np.cos(angle)])


def _curve(
    start: Points, angle: float, length: float, bend: float, wobble: float, rng: np.random.Generator
) -> Points:
    n = max(6, int(length / 4))
    t = np.linspace(0, 1, n)
    angles = angle + bend * t + np.cumsum(rng.normal(0, wobble, n))
    return start + np.cumsum(np.stack([np.sin(angles), np.cos(angles)], 1) * length / n, axis=0)


def text(shape: Shape, scale: float, rng: np.random.Generator) -> Plane:
    """Draw lines of letters."""
    page = Image.new("L", (2 * shape[1], 2 * shape[0]))
    draw = ImageDraw.Draw(page)
    size = log_uniform(6, 40, rng) * scale
    font = ImageFont.load_default(2 * size)
    top = rng.uniform(-0.2, 0.9) * page.height
    for _ in range(int(rng.integers(1, 6))):
        letters = "".join(rng.choice(list(_LETTERS), int(rng.integers(3, 16))).tolist())
        place = (rng.uniform(-0.3, 0.8) * page.width, top)
        draw.text(place, letters, 255, font, stroke_width=int(rng.integers(0, 3)))
        top += 2.5 * size
    page = page.rotate(rng.choice([0, 0, 90, rng.uniform(-20, 20)]), Image.Resampling.BILINEAR)
    return np.asarray(page.reduce(2), np.float32) / np.float32(255)


def wires(shape: Shape, scale: float, rng: np.random.Generator) -> Plane:
    """Draw wires, ropes or rails: long smooth lines of even width and tone, often alike, all across."""
    page, t = _Page(shape), np.linspace(-0.2, 1.2, 40)
    is_steep, sag = rng.random() < 0.4, rng.normal(0, 0.15)
    ends, fan = rng.uniform(-0.2, 1.2, 2), rng.uniform(-0.15, 0.15, 2)
    width = log_uniform(0.7, 4, rng) * scale
    for number in range(int(rng.integers(1, 7))):
        start, stop = ends + number * fan
        across = start + (stop - start) * t + sag * t * (1 - t)
        points = np.stack([t, across] if is_steep else [across, t], axis=1)
        page.line(points * shape, width)
    return page.cover()


def lights(shape: Shape, scale: float, rng: np.random.Generator) -> Plane:
    """Draw catchlights, lamps, pearls or stars: round, with a soft rim, in rows or scattered."""
    rows, columns = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    cover = np.zeros(shape, np.float32)
    place, step = rng.uniform(0.1, 0.9, 2) * shape, rng.normal(0, 14 * scale, 2)
    radius = log_uniform(0.8, 4, rng) * scale
    is_row = rng.random() < 0.7
    for number in range(int(rng.integers(1, 10))):
        row, column = place + number * step if is_row else rng.uniform(0, 1, 2) * shape
        own = radius if is_row else radius * rng.uniform(0.4, 1)
        top, left = (max(0, int(at - 4 * own)) for at in (row, column))
        part = slice(top, int(row + 4 * own) + 1), slice(left, int(column + 4 * own) + 1)
        away = ((rows[part] - row) ** 2 + (columns[part] - column) ** 2) / np.float32(own**2)
        cover[part] = np.maximum(cover[part], np.exp(-away))
    return cover


def twigs(shape: Shape, scale: float, rng: np.random.Generator) -> Plane:
    """Draw a branch from an edge, which grows thinner and divides."""
    page = _Page(shape)
    place = rng.uniform(0, 1, 2) * shape
    edge = int(rng.integers(4))
    place[edge % 2] = -5 if edge < 2 else shape[edge % 2] + 5
    angle = np.arctan2(*(page.size / 2 - place)) + rng.normal(0, 0.5)
    pending = [(place, angle, log_uniform(1.2, 7, rng) * scale, rng.uniform(60, 200) * scale)]
    n_drawn = 0
    while pending and n_drawn < 25:
        start, angle, width, length = pending.pop(0)
        n_drawn += 1
        line = _curve(start, angle, length, rng.normal(0, 0.5), 0.05, rng)
        pieces = np.array_split(np.arange(len(line)), 5)
        for number, piece in enumerate(pieces):
            ends = line[piece[0] : piece[-1] + 2]
            page.line(ends, max(0.4, width * (1 - 0.17 * number)))
        for at in rng.integers(1, len(line), int(rng.integers(0, 5))) if width > 0.8 else ():
            turn = rng.choice([-1, 1]) * rng.uniform(0.4, 0.9)
            left = (1 - 0.17 * 5 * at / len(line)) * rng.uniform(0.4, 0.8)
            pending.append((line[at], angle + turn, width * left, length * rng.uniform(0.3, 0.6)))
    return page.cover()


def bars(shape: Shape, scale: float, rng: np.random.Generator) -> Plane:
    """Draw a fence, a window or tiles: lines at even distances, in one direction or two."""
    page = _Page(shape)
    angle, width = (
        rng.choice([0, np.pi / 2, rng.uniform(0, np.pi)]) + rng.normal(0, 0.05),
        log_uniform(0.8, 5, rng),
    )
    pitch = width * rng.uniform(3, 14) * scale
    for turn in (0, np.pi / 2) if rng.random() < 0.5 else (0,):
        side = _direction(angle + turn + np.pi / 2)
        along, first = _direction(angle + turn) * 2 * max(shape), rng.uniform(0, 1, 2) * shape
        for number in range(-6, 7) if rng.random() < 0.7 else range(1):
            middle = first + number * pitch * side
            page.line(np.stack([middle - along, middle + along]), width * scale)
    return page.cover()


def rims(shape: Shape, scale: float, rng: np.random.Generator) -> Plane:
    """Draw the rims of glasses, plates, buttons or rings, each broken by reflections."""
    page = _Page(shape)
    center, radius = rng.uniform(0, 1, 2) * shape, log_uniform(4, 45, rng) * scale
    width, flat = log_uniform(0.7, 2.8, rng) * scale, rng.uniform(0.3, 1)
    step = rng.uniform(-1, 1, 2) * radius * 3
    turn = rng.uniform(0, np.pi)
    for number in range(int(rng.integers(1, 5))):
        first = rng.uniform(0, 2 * np.pi)
        t = np.linspace(first, first + rng.uniform(1.5, 6.5), 60)
        points = np.stack([flat * np.sin(t), np.cos(t)], 1)
        points = points @ np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        page.line(center + number * step + radius * points, width)
    shine = np.clip(0.7 + 0.6 * smooth_noise(shape, 10 * scale, rng), 0.1, 1)
    return np.asarray(page.cover() * shine, np.float32)


def petals(shape: Shape, scale: float, rng: np.random.Generator) -> Plane:
    """Draw bows, ribbons, flowers and leaves: smooth areas around a middle, with folds."""
    page = _Page(shape)
    for _ in range(int(rng.integers(1, 5))):
        center, length = rng.uniform(0, 1, 2) * shape, log_uniform(5, 40, rng) * scale
        n, turn = int(rng.integers(1, 8)), rng.uniform(0, 2 * np.pi)
        wide = rng.uniform(0.2, 0.6) if n < 5 else rng.uniform(0.15, 0.4)
        for number in range(n):
            angle = turn + 2 * np.pi * number / n + rng.normal(0, 0.25)
            t = np.linspace(0, np.pi, 14)
            own, sharp = length * rng.uniform(0.7, 1.2), rng.uniform(0.6, 1.5)
            out, side = own * (1 - np.cos(t)) / 2, own * wide * np.sin(t) ** sharp
            both = np.concatenate([np.stack([out, side], 1), np.stack([out, -side], 1)[::-1]])
            points = center + both[:, :1] * _direction(angle) + both[:, 1:] * _direction(angle + np.pi / 2)
            page.area(points, int(rng.uniform(140, 255)))
            if rng.random() < 0.6:
                fold = points[[0, 4]] if rng.random() < 0.5 else np.stack([center, points[10]])
                page.line(fold, max(0.5, 0.05 * own), int(rng.uniform(0, 120)))
    return page.cover()


def hair(shape: Shape, scale: float, rng: np.random.Generator) -> Plane:
    """Draw strands of hair, grass or threads: many fine curves side by side."""
    page = _Page(shape)
    start, angle = rng.uniform(-0.2, 1, 2) * shape, rng.uniform(0, 2 * np.pi)
    bend, spread, length = (
        rng.normal(0, 1.2),
        log_uniform(8, 80, rng) * scale,
        log_uniform(30, 200, rng) * scale,
    )
    for _ in range(int(log_uniform(3, 60, rng))):
        own = start + rng.normal(0, spread, 2)
        line = _curve(own, angle + rng.normal(0, 0.15), length, bend + rng.normal(0, 0.3), 0.03, rng)
        page.line(line, log_uniform(0.4, 1.3, rng) * scale, int(rng.uniform(60, 255)))
    return page.cover()


def lace(shape: Shape, scale: float, rng: np.random.Generator) -> Plane:
    """Draw lace, embroidery, pearls or buttons: one small thing repeated along a curve or in a grid."""
    page = _Page(shape)
    size = log_uniform(0.9, 4, rng) * scale
    pitch, angle = size * rng.uniform(2.2, 5), rng.uniform(0, np.pi)
    is_dot, turn, reach = rng.random() < 0.5, rng.uniform(0, np.pi), size * rng.uniform(1, 2)
    line = _curve(rng.uniform(0, 0.6, 2) * shape, angle, 300 * scale, rng.normal(0, 1), 0.02, rng)
    t = np.arange(0, len(line) - 1, max(pitch / 4, 0.2))
    row = np.stack([np.interp(t, np.arange(len(line)), line[:, k]) for k in (0, 1)], 1)
    for number in range(int(rng.choice([1, 1, 2, 8]))):
        for place in row + number * pitch * _direction(angle + np.pi / 2):
            if is_dot:
                page.disc(place, size / 2)
            else:
                page.line(np.stack([place, place + reach * _direction(turn)]), size / 2)
    return page.cover()


def eyes(shape: Shape, scale: float, rng: np.random.Generator) -> Plane:
    """Draw buttons and drops: small discs with a lighter rim or spot."""
    page = _Page(shape)
    center, radius, step = (
        rng.uniform(0, 1, 2) * shape,
        log_uniform(2, 9, rng) * scale,
        rng.normal(0, 25 * scale, 2),
    )
    spot, ink = rng.uniform(-0.5, 0.5, 2) * radius, int(rng.uniform(60, 160))
    for number in range(int(rng.integers(1, 6))):
        page.disc(center + number * step, radius, ink)
        page.disc(center + number * step + spot, radius * rng.uniform(0.15, 0.45), 255)
    return page.cover()


def sticks(shape: Shape, scale: float, rng: np.random.Generator) -> Plane:
    """Draw cigarettes, pens, clasps and slats: short straight bars with square or round ends."""
    page = _Page(shape)
    angle, width = rng.uniform(0, np.pi), log_uniform(1.2, 9, rng) * scale
    for _ in range(int(rng.choice([1, 1, 2, 5]))):
        along = _direction(angle + rng.normal(0, 0.3)) * width * log_uniform(2.5, 12, rng) / 2
        middle = rng.uniform(0, 1, 2) * shape
        page.line(np.stack([middle - along, middle + along]), width, int(rng.uniform(170, 255)))
        if rng.random() < 0.4:  # a dark end, an ember, a tip
            page.line(np.stack([middle + 0.8 * along, middle + along]), width, int(rng.uniform(0, 120)))
        if rng.random() < 0.4:
            page.disc(middle + along, width / 2)
    return page.cover()


def glints(shape: Shape, scale: float, rng: np.random.Generator) -> Plane:
    """Draw reflections on rings, chains, glasses and drops: short bright arcs, thick in the middle."""
    page, place = _Page(shape), rng.uniform(0, 1, 2) * shape
    for _ in range(int(rng.integers(1, 8))):
        start = place + rng.normal(0, 12 * scale, 2)
        length, width = log_uniform(2, 14, rng) * scale, log_uniform(0.5, 2, rng) * scale
        line = _curve(start, rng.uniform(0, 2 * np.pi), length, rng.normal(0, 1.5), 0.02, rng)
        page.line(line, width, int(rng.uniform(120, 255)))
        page.line(line[len(line) // 4 : -(len(line) // 4)], 1.8 * width)
    return page.cover()


_THINGS: tuple[Callable[[Shape, float, np.random.Generator], Plane], ...] = (
    text, wires, lights, twigs, bars, rims, petals, petals, hair, lace, eyes, sticks, glints,
)  # fmt: skip
#: Nearly always darker than what is behind them: light ones could not be told from cracks and scratches.
_DARK = (wires, twigs, hair)
_SMALL = (lights, lace, eyes, glints)
