"""Shapes of damage: how much of each pixel cracks, scratches, tears, dust and hairs cover."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy import ndimage

from experiments.detector.material import Material, Plane
from experiments.detector.noise import log_uniform, smooth_noise

Points = NDArray[np.float64]

#: Shapes are drawn so many times larger and averaged, so that a thin line covers a part of its pixels.
_FINE = 4


def crack(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Plane:
    """Draw a crack that bends, kinks, branches and changes its width; some have lost emulsion along them."""
    width = min(log_uniform(0.8, 8, rng) * scale, 13)
    length = log_uniform(40, 700, rng) * scale
    roughness, kinks = log_uniform(0.03, 0.3, rng), rng.choice([0.0, 0.02, 0.06])
    page, draw = _page(shape)
    angle = rng.uniform(0, 2 * np.pi)
    start = rng.uniform(0, 1, 2) * shape - length * rng.uniform(0, 1) * np.array(
        [np.sin(angle), np.cos(angle)]
    )
    pending = [(start, angle, width, length)]
    branches, loss = rng.choice([0, 1, 3]), rng.choice([0, 0, 1])
    n_drawn = 0
    while pending and n_drawn < 14:
        start, angle, width, length = pending.pop(0)
        n_drawn += 1
        line, angles = wander(start, angle, length, roughness, scale, rng, kinks)
        widths = _widths(len(line), width, scale, rng)
        _draw_line(draw, line, widths)
        for _ in range(rng.poisson(0.006 * length / scale * branches)):
            i = int(rng.integers(len(line)))
            turn = rng.choice([-1, 1]) * rng.uniform(0.4, 1.5)
            pending.append(
                (line[i], angles[i] + turn, widths[i] * rng.uniform(0.4, 0.9), length * rng.uniform(0.1, 0.6))
            )
        for _ in range(rng.poisson(0.02 * length / scale) * loss):  # emulsion has come off beside it
            radius = min(width * rng.uniform(0.8, 2.5) + 0.3 * scale, 6)
            _draw_flake(draw, line[int(rng.integers(len(line)))], radius, rng)
    cover = _reduced(page)
    return _ragged(cover, rng.uniform(0.2, 0.9), rng) if rng.random() < 0.5 else cover


def hairline(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Plane:
    """Draw thin cracks far across the picture, nearly straight or not, which fork and fade in places."""
    page, draw = _page(shape)
    roughness, kinks = log_uniform(0.01, 0.12, rng), rng.choice([0.0, 0.0, 0.02])
    for _ in range(int(rng.integers(1, 4))):
        width = log_uniform(0.5, 1.8, rng) * min(scale, 2.5) ** 0.7
        angle, length = rng.uniform(0, 2 * np.pi), log_uniform(60, 700, rng) * scale
        start = rng.uniform(0, 1, 2) * shape - length / 2 * np.array([np.sin(angle), np.cos(angle)])
        line, angles = wander(start, angle, length, roughness, scale, rng, kinks)
        _draw_line(draw, line, _widths(len(line), width, scale, rng))
        for _ in range(rng.poisson(0.4)):
            i, turn = int(rng.integers(len(line))), rng.choice([-1, 1]) * rng.uniform(0.2, 1.2)
            fork, _ = wander(
                line[i], angles[i] + turn, length * rng.uniform(0.1, 0.5), roughness, scale, rng, kinks
            )
            _draw_line(draw, fork, _widths(len(fork), width * rng.uniform(0.5, 1), scale, rng))
    fading = rng.uniform(0.8, 1.5) + 0.6 * smooth_noise(shape, log_uniform(12, 80, rng) * scale, rng)
    return np.asarray(_reduced(page) * np.clip(fading, 0, 1), np.float32)


def crease(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Plane:
    """Draw a fold: a soft, nearly straight line across the picture, broken in places."""
    page, draw = _page(shape)
    middle, angle = rng.uniform(0.1, 0.9, 2) * shape, rng.uniform(0, np.pi)
    if rng.random() < 0.6:
        angle = rng.integers(2) * np.pi / 2 + rng.normal(0, 0.05)
    start = middle - 1.5 * max(shape) * np.array([np.sin(angle), np.cos(angle)])
    steps = np.arange(0, 3 * max(shape), 2 * scale)[:, None]
    line = (
        start
        + steps * [np.sin(angle), np.cos(angle)]
        + np.cumsum(rng.normal(0, 0.15 * scale, (len(steps), 2)), axis=0)
    )
    width = min(log_uniform(1, 4.5, rng) * scale, 9)
    _draw_line(draw, line, width * np.exp(rng.normal(0, 0.2, len(line))))
    cover = ndimage.gaussian_filter(_reduced(page), rng.uniform(0.2, 0.6) * width)
    worn = 1 + rng.uniform(0, 1.2) * smooth_noise(shape, log_uniform(3, 30, rng) * scale, rng)
    return np.asarray(cover * np.clip(worn, 0, 1), np.float32)


def flakes(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Plane:
    """Draw spots where the emulsion has come off."""
    page, draw = _page(shape)
    center, spread = rng.uniform(0, 1, 2) * shape, rng.uniform(5, 60) * scale
    for _ in range(int(rng.integers(1, 9))):
        _draw_flake(draw, center + rng.normal(0, spread, 2), min(log_uniform(1.2, 4, rng) * scale, 5), rng)
    return _ragged(_reduced(page), rng.uniform(0.2, 1), rng)


def tear(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Plane:
    """Draw a tear from the edge, which grows narrower, or a missing corner."""
    page, draw = _page(shape)
    if rng.random() < 0.5:
        side = rng.uniform(5, 35, 2) * min(scale, 1.5)
        t = np.linspace(0, 1, 24)[:, None]
        rim = (1 - t) * [side[0], 0] + t * [0, side[1]]
        rim += (
            np.cumsum(rng.normal(0, side.mean() * rng.uniform(0.01, 0.06), rim.shape), axis=0)
            * (t * (1 - t))
            * 4
        )
        points = np.vstack([[-9, -9], [side[0], -9], rim, [-9, side[1]]])
        flips = rng.random(2) < 0.5
        points = np.where(flips, np.array(shape) - points, points)
        _draw_polygon(draw, points)
    else:
        edge = rng.integers(4)
        place = rng.uniform(0, 1, 2) * shape
        place[edge % 2] = 0 if edge < 2 else shape[edge % 2]
        angle = np.arctan2(*(np.array(shape) / 2 - place)) + rng.normal(0, 0.4)
        line, _ = wander(place, angle, rng.uniform(20, 110) * scale, rng.uniform(0.02, 0.15), scale, rng)
        _draw_line(draw, line, np.linspace(1, 0.1, len(line)) * log_uniform(2, 10, rng) * min(scale, 2))
    return _ragged(_reduced(page), rng.uniform(0.1, 0.8), rng)


def scratches(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Plane:
    """Draw scratches: straight or slightly curved, thin, often several alike, or tramlines along the film."""
    page, draw = _page(shape)
    is_tramline = rng.random() < 0.25
    angle = rng.integers(2) * np.pi / 2 + rng.normal(0, 0.01) if is_tramline else rng.uniform(0, np.pi)
    curvature = 0.0 if is_tramline else rng.normal(0, 0.004 / scale)
    for _ in range(int(rng.integers(1, 4) if is_tramline or rng.random() < 0.7 else rng.integers(3, 12))):
        length = 3.0 * max(shape) if is_tramline else log_uniform(20, 500, rng) * scale
        middle = rng.uniform(-0.1, 1.1, 2) * shape
        steps = np.linspace(-length / 2, length / 2, max(8, int(length / 3)))
        turned = angle + rng.normal(0, 0.0 if is_tramline else 0.12) + curvature * steps
        moves = np.stack([np.sin(turned), np.cos(turned)], axis=1) * (steps[1] - steps[0])
        line = middle + np.cumsum(moves, axis=0) - moves.sum(axis=0) / 2
        line += np.cumsum(rng.normal(0, 0.05 * scale, line.shape), axis=0)
        _draw_line(draw, line, _widths(len(line), log_uniform(0.5, 2.0, rng) * min(scale, 2.5), scale, rng))
    return _reduced(page)


def tramlines(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Plane:
    """Draw straight lines of even width from edge to edge, most of them upright or level."""
    page, draw = _page(shape)
    angle = rng.integers(2) * np.pi / 2 + (0.0 if rng.random() < 0.7 else rng.normal(0, 0.3))
    width = log_uniform(0.7, 3.2, rng)
    for _ in range(int(rng.integers(1, 4))):
        steps = np.arange(-2 * max(shape), 2 * max(shape), 4)[:, None]
        line = rng.uniform(0, 1, 2) * shape + steps * np.array([np.sin(angle), np.cos(angle)])
        _draw_line(draw, line, np.full(len(line), width))
    return _reduced(page)


def scuffs(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Plane:
    """Draw many thin short scratches that cross, each of a strength of its own, most of them broken."""
    page, draw = _page(shape)
    angle, spread = rng.uniform(0, np.pi), log_uniform(0.1, 2, rng)
    typical, width = log_uniform(12, 90, rng) * scale, log_uniform(0.4, 1.4, rng) * min(scale, 2.5) ** 0.7
    for _ in range(int(log_uniform(3, 40, rng))):
        length = typical * log_uniform(0.4, 2.5, rng)
        n = max(5, int(length / 4))
        turned = angle + rng.normal(0, spread) + np.linspace(0, rng.normal(0, 0.3), n)
        line = rng.uniform(-0.1, 1.1, 2) * shape + np.cumsum(
            np.stack([np.sin(turned), np.cos(turned)], 1) * length / n, axis=0
        )
        widths = _widths(n, width * log_uniform(0.7, 1.5, rng), 0.5, rng)
        _draw_line(draw, line, widths, int(rng.uniform(70, 255)))
    return _reduced(page)


def specks(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Plane:
    """Draw dust: small spots of irregular shape, some drawn out."""
    page, draw = _page(shape)
    typical = log_uniform(0.5, 2.2, rng) * min(scale, 2.5)
    for _ in range(int(log_uniform(2, 40, rng))):
        _draw_flake(draw, rng.uniform(0, 1, 2) * shape, typical * log_uniform(0.6, 2, rng), rng)
    return _reduced(page)


def hairs(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> Plane:
    """Draw hairs and fibres: thin, of even width, curled."""
    page, draw = _page(shape)
    width = log_uniform(0.7, 2.2, rng) * min(scale, 2.5)
    for _ in range(int(rng.integers(1, 6))):
        length = log_uniform(8, 90, rng) * scale
        n = max(6, int(length / 2))
        bend = np.cumsum(rng.normal(0, 0.12, n)) + rng.normal(0, 2.5) * np.linspace(0, 1, n)
        turned = rng.uniform(0, 2 * np.pi) + bend
        line = rng.uniform(0, 1, 2) * shape + np.cumsum(
            np.stack([np.sin(turned), np.cos(turned)], 1) * length / n, axis=0
        )
        _draw_line(draw, line, np.full(n, width * rng.uniform(0.8, 1.25)))
    return _reduced(page)


def film_damage(
    shape: tuple[int, int],
    material: Material,
    rng: np.random.Generator,
    zoom: float | None = None,
    *,
    is_large: bool = False,
) -> tuple[Plane, Plane]:
    """Draw what lies in a part of a film frame, turned and scaled: dust and hairs, and scratches.

    A part anywhere, or one with a large piece, which most parts lack.
    """
    frame = material.frames[int(rng.integers(len(material.frames)))]
    zoom = log_uniform(0.2, 1.4, rng) if zoom is None else zoom
    size = np.array(shape[::-1]) / zoom
    corner = rng.uniform(0, 1, 2) * np.maximum(np.array([4900, 3380]) - size, 0)
    if is_large:
        sides = (frame.high - frame.low).max(axis=1)
        chosen = rng.choice(len(sides), p=sides / sides.sum())
        corner = (frame.low + frame.high)[chosen] / 2 - rng.uniform(0.1, 0.9, 2) * size
    kept = rng.uniform(0.3, 1)
    pages = [_page(shape), _page(shape)]
    for outline in frame.inside(corner, corner + size):
        if rng.random() < kept:
            points = (outline.points - corner)[:, ::-1] * zoom
            _draw_polygon(pages[outline.is_line][1], points)
    turn, flip = (
        int(rng.integers(4)) if shape[0] == shape[1] else 2 * int(rng.integers(2)),
        bool(rng.integers(2)),
    )
    dust, lines = (_turned(_reduced(page), turn, flip) for page, _ in pages)
    return dust, lines


def overlay(
    shape: tuple[int, int], scale: float, material: Material, rng: np.random.Generator
) -> tuple[Plane, bool]:
    """Lay an overlay somewhere, turned and scaled; return it, and whether it is of lines."""
    chosen = material.overlays[int(rng.integers(len(material.overlays)))]
    zoom = min(log_uniform(0.2, 0.9, rng) * scale, 1.0)
    size = [max(2, int(side * zoom)) for side in chosen.opacity.shape[::-1]]
    if max(size) > 3 * max(shape):
        size = [side * 3 * max(shape) // max(size) for side in size]
    picture = Image.fromarray(chosen.opacity).resize((size[0], size[1]), Image.Resampling.BOX)
    picture = picture.rotate(rng.uniform(0, 360), Image.Resampling.BILINEAR, expand=True)
    values = np.asarray(picture, np.float32)
    top, left = (rng.uniform(-0.4, 0.9, 2) * shape).astype(int)
    cover = np.zeros(shape, np.float32)
    part = values[max(0, -top) : shape[0] - top, max(0, -left) : shape[1] - left]
    cover[max(0, top) : max(0, top) + part.shape[0], max(0, left) : max(0, left) + part.shape[1]] = part
    return cover, chosen.is_line


def _turned(cover: Plane, turn: int, flip: bool) -> Plane:
    turned = np.rot90(cover, turn)
    return np.ascontiguousarray(turned[:, ::-1] if flip else turned)


def wander(
    start: Points,
    angle: float,
    length: float,
    roughness: float,
    scale: float,
    rng: np.random.Generator,
    kinks: float = 0.0,
) -> tuple[Points, NDArray[np.float64]]:
    """Return a line that wanders from a point in about a direction, and its direction along it."""
    step = 2.0 * scale
    n = max(4, int(length / step))
    slow = np.cumsum(rng.normal(0, 0.04, n) + rng.normal(0, 0.6, n) * (rng.random(n) < kinks))
    slow -= np.linspace(0, 1, n) * slow[-1] * rng.uniform(0, 1)
    angles = angle + slow + rng.normal(0, roughness * 2, n) * (rng.random(n) < 0.7)
    moves = np.stack([np.sin(angles), np.cos(angles)], axis=1) * step
    return start + np.cumsum(moves, axis=0), angle + slow


def _widths(n: int, width: float, scale: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return widths along a line: uneven, falling towards the ends, some with gaps."""
    t = np.linspace(0, 1, n)
    knots = max(3, n // int(rng.integers(4, 15)))
    uneven = np.exp(np.interp(t, np.linspace(0, 1, knots), rng.normal(0, rng.uniform(0.05, 0.6), knots)))
    ends = np.minimum(1, (1 - t) / rng.uniform(0.02, 0.4)) * np.minimum(
        1, (t + 0.02) / rng.uniform(0.02, 0.3)
    )
    widths = np.maximum(width * uneven * ends, 0.3 * scale)
    if rng.random() < 0.35:
        there = np.interp(t, np.linspace(0, 1, knots), rng.normal(0.7, 0.7, knots)) > 0
        widths = widths * there
    return np.asarray(widths)


def _page(shape: tuple[int, int]) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    page = Image.new("L", (shape[1] * _FINE, shape[0] * _FINE))
    return page, ImageDraw.Draw(page)


def _reduced(page: Image.Image) -> Plane:
    return np.asarray(page.reduce(_FINE), np.float32) / np.float32(255)


def _draw_line(
    draw: ImageDraw.ImageDraw, line: Points, widths: NDArray[np.float64], strength: int = 255
) -> None:
    at, wide = line[:, ::-1] * _FINE, widths[: len(line)] * _FINE
    page = draw.im.size
    seen = ((at > -50) & (at < np.array(page) + 50)).all(axis=1) & (wide >= 0.7)
    points, wides = at.tolist(), wide.tolist()
    for i in np.flatnonzero(seen[:-1]).tolist():
        draw.line([*points[i], *points[i + 1]], strength, max(1, round(wides[i])))
        if wides[i] > 4:
            draw.circle(points[i + 1], wides[i] / 2, strength)


def _draw_polygon(draw: ImageDraw.ImageDraw, points: Points) -> None:
    if len(points) > 2:
        draw.polygon([tuple(point) for point in points[:, ::-1] * _FINE], 255)


def _draw_flake(draw: ImageDraw.ImageDraw, center: Points, radius: float, rng: np.random.Generator) -> None:
    """Draw a spot with an uneven outline."""
    n = int(rng.integers(5, 14))
    angles = np.sort(rng.uniform(0, 2 * np.pi, n))
    radii = radius * np.exp(rng.normal(0, 0.3, n))
    stretch, turn = log_uniform(1, 2.5, rng), rng.uniform(0, np.pi)
    points = np.stack([radii * np.sin(angles) * stretch, radii * np.cos(angles)], axis=1)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    _draw_polygon(draw, center + points @ rotation)


def _ragged(cover: Plane, amount: float, rng: np.random.Generator) -> Plane:
    """Wear a shape unevenly away."""
    noise = smooth_noise(cover.shape, rng.uniform(1.5, 4), rng)
    return np.asarray(np.clip(cover * (1 + amount * np.minimum(noise, 0)), 0, 1), np.float32)
