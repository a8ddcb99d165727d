"""Thin lines in any direction, brighter or darker than both sides.

For each of `N_DIRECTIONS` directions d with normal n, let G(x) be the mean of the brightness over the half
line x, x + d, ..., x + L d. A bright line passes through x if both its halves are brighter than what lies
beside them, on both sides: the response is ::

    R_d(x) = min(B(x), B(x - L d)),   B(x) = G(x) - max(G(x + w n), G(x - w n))

and its maximum over d is kept. An edge is not brighter than both of its sides, and a speck has no second
half, so that both respond little; averages along the line keep the noise low.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, sparse
from scipy.sparse import csgraph

from dictsel_core._support.validation import Ints
from dictsel_core.detection.plane import Single, block_quantile
from dictsel_core.detection.work import Work, part

N_DIRECTIONS = 20
#: Distance w of the sides that a line is compared with; lines of up to w - 1 pixels are found.
OFFSET = 3
_SMOOTHING = 0.6
_BAND = 96
_BLOCK = 64
#: Multiple of the response to texture from which on a pixel may lie on a line.
_THRESHOLD = 1.5
#: Directions (of `N_DIRECTIONS`) by which neighbors on one line may differ.
_MAX_TURN = 2
_MAX_GAP = 4
#: Part of all pixels that may be on lines.
_MAX_POINTS = 0.12

Directions = NDArray[np.uint8]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LineResponse:
    """Responses of one polarity.

    Attributes
    ----------
    strength : (H, W) ndarray of float32
        Contrast to the nearer side, 0 where there is no line.
    direction : (H, W) ndarray of uint8
        Index of the direction with the largest response.
    """

    strength: Single
    direction: Directions


def line_responses(plane: Single, half_length: int) -> Work[tuple[LineResponse, LineResponse]]:
    """Return the responses to bright and to dark lines."""
    smooth = ndimage.gaussian_filter(plane, _SMOOTHING, mode="nearest")
    yield 0.0
    margin = 2 * half_length + OFFSET + 1
    padded = np.pad(smooth, margin, mode="symmetric")
    height, width = plane.shape
    strengths = [np.zeros(plane.shape, np.float32) for _ in range(2)]
    directions = [np.zeros(plane.shape, np.uint8) for _ in range(2)]

    for start in range(0, height, _BAND):
        stop = min(start + _BAND, height)
        band = padded[start : stop + 2 * margin]
        for number in range(N_DIRECTIONS):
            responses = _band_response(band, number, half_length, margin, stop - start, width)
            for polarity, response in enumerate(responses):
                best = strengths[polarity][start:stop]
                better = response > best
                np.maximum(best, response, out=best)
                directions[polarity][start:stop][better] = number
            yield (start + (stop - start) * (number + 1) / N_DIRECTIONS) / height
    bright, dark = (LineResponse(s, d) for s, d in zip(strengths, directions, strict=True))
    return bright, dark


def step_of(number: int, length: float) -> tuple[int, int]:
    """Return the rows and columns that lead `length` pixels in a direction."""
    angle = np.pi * number / N_DIRECTIONS
    return round(length * np.sin(angle)), round(length * np.cos(angle))


def _band_response(
    band: Single, number: int, half_length: int, margin: int, height: int, width: int
) -> tuple[Single, Single]:
    """Return the responses in one direction to bright and to dark lines, without the margin of a band."""
    far = step_of(number, half_length)
    side = step_of(number + N_DIRECTIONS // 2, OFFSET)
    # Mean over half lines, where B is needed: from x - L d to x, and beside.
    reach = half_length + OFFSET
    rows, columns = height + 2 * reach, width + 2 * reach
    mean = np.zeros((rows, columns), np.float32)
    for step in range(half_length + 1):
        dy, dx = step_of(number, step)
        top, left = margin - reach + dy, margin - reach + dx
        mean += band[top : top + rows, left : left + columns]
    mean *= np.float32(1 / (half_length + 1))
    inner = (rows - 2 * OFFSET, columns - 2 * OFFSET)

    def moved(array: Single, origin: int, by: tuple[int, int], size: tuple[int, int]) -> Single:
        top, left = origin + by[0], origin + by[1]
        return array[top : top + size[0], left : left + size[1]]

    center = moved(mean, OFFSET, (0, 0), inner)
    one, other = moved(mean, OFFSET, side, inner), moved(mean, OFFSET, (-side[0], -side[1]), inner)
    back = (-far[0], -far[1])
    found = []
    for contrast in (center - np.maximum(one, other), np.minimum(one, other) - center):
        here, behind = (moved(contrast, half_length, by, (height, width)) for by in ((0, 0), back))
        found.append(np.minimum(here, behind))
    return found[0], found[1]


@dataclass(frozen=True, eq=False)
class Lines:
    """Pixels on lines, with the line of each.

    Attributes
    ----------
    pixels, numbers : (P,) ndarray of int
        Indices into the flattened plane, and the number of the line.
    length : (N,) ndarray of float
        Extent along the main axis.
    strength : (N,) ndarray of float
        Mean of the response as a multiple of what texture nearby makes by itself.
    imbalance : (N,) ndarray of float
        Difference between the two sides as a multiple of the contrast. A scratch lies on one thing, whereas a
        line of the picture often separates two.
    """

    pixels: Ints
    numbers: Ints
    length: Doubles
    strength: Doubles
    imbalance: Doubles


def find_lines(
    plane: Single, *, half_length: int, floor: float, texture_quantile: float
) -> Work[list[Lines]]:
    """Return bright lines and dark lines of a plane.

    Parameters
    ----------
    plane : (H, W) ndarray of float32
        Brightness.
    half_length : int
        L of the response: short ones follow curves, long ones see through noise.
    floor : float
        Contrast below which nothing is believed.
    texture_quantile : float
        Part of the pixels nearby whose response is taken for texture. As many may lie on lines.
    """
    responses = yield from part(line_responses(plane, half_length), 0.0, 0.8)
    texture = block_quantile(
        np.maximum(responses[0].strength, responses[1].strength), texture_quantile, _BLOCK
    )
    texture += np.float32(floor)
    yield 0.8
    found = []
    for response, start in zip(responses, (0.8, 0.9), strict=True):
        work = _link(plane, response, response.strength / texture)
        found.append((yield from part(work, start, start + 0.1)))
    return found


def _link(plane: Single, response: LineResponse, relative: Single) -> Work[Lines]:
    """Join pixels to lines: neighbors along their direction whose directions agree."""
    flat = relative.ravel()
    limit = int(_MAX_POINTS * flat.size) + 1
    pixels = np.flatnonzero(flat > _THRESHOLD)
    if len(pixels) > limit:
        pixels = np.sort(pixels[np.argpartition(flat[pixels], -limit)[-limit:]])
    direction = response.direction.ravel()[pixels].astype(np.int16)
    first, second = yield from part(_links(pixels, direction, relative.shape), 0.0, 0.8)
    graph = sparse.coo_array((np.ones(len(first), np.bool_), (first, second)), (len(pixels),) * 2)
    n_lines, found = csgraph.connected_components(graph, directed=False)
    numbers = found.astype(np.intp)
    yield 0.9
    area = np.maximum(np.bincount(numbers, minlength=n_lines), 1)

    def mean(values: Doubles) -> Doubles:
        return np.bincount(numbers, values, n_lines) / area

    length, axis = _extent(np.divmod(pixels, relative.shape[1]), numbers, mean)
    contrast = mean(response.strength.ravel()[pixels].astype(np.float64))
    difference = _sides(plane, pixels, np.pi * direction / N_DIRECTIONS, axis[numbers])
    strength = mean(flat[pixels].astype(np.float64))
    return Lines(pixels, numbers, length, strength, np.abs(mean(difference)) / contrast)


def _links(pixels: Ints, direction: NDArray[np.int16], shape: tuple[int, int]) -> Work[tuple[Ints, Ints]]:
    """Return pairs of points: 8-neighbors, and those a few steps along the direction of a point."""
    rows, columns = np.divmod(pixels, shape[1])
    steps = [
        (dy * np.ones_like(rows), dx * np.ones_like(rows)) for dy, dx in ((0, 1), (1, -1), (1, 0), (1, 1))
    ]
    for length in range(2, _MAX_GAP + 1):
        table = np.array([step_of(number, length) for number in range(N_DIRECTIONS)])[direction]
        steps += [(table[:, 0], table[:, 1]), (-table[:, 0], -table[:, 1])]
    pairs = []
    for number, (dy, dx) in enumerate(steps, 1):
        y, x = rows + dy, columns + dx
        inside = (y >= 0) & (y < shape[0]) & (x >= 0) & (x < shape[1])
        target = np.where(inside, y * shape[1] + x, -1)
        found = np.minimum(np.searchsorted(pixels, target), max(len(pixels) - 1, 0))
        hit = np.flatnonzero(inside & (pixels[found] == target))
        turn = np.abs(direction[hit] - direction[found[hit]])
        agrees = np.minimum(turn, N_DIRECTIONS - turn) <= _MAX_TURN
        pairs.append((hit[agrees], found[hit][agrees]))
        yield number / len(steps)
    return np.concatenate([a for a, _ in pairs]), np.concatenate([b for _, b in pairs])


def _extent(
    places: tuple[Ints, Ints], numbers: Ints, mean: Callable[[Doubles], Doubles]
) -> tuple[Doubles, Doubles]:
    """Return the length along the main axis, and the angle of that, of each set of points."""
    y, x = (place - mean(place.astype(np.float64))[numbers] for place in places)
    yy, xx, xy = mean(y * y), mean(x * x), mean(x * y)
    largest = (yy + xx) / 2 + np.hypot((yy - xx) / 2, xy)
    return np.sqrt(12 * largest + 1), np.arctan2(2 * xy, xx - yy) / 2


def _sides(plane: Single, pixels: Ints, angle: Doubles, axis: Doubles) -> Doubles:
    """Return how much brighter one side is than the other; the axis says which is which."""
    rows, columns = np.divmod(pixels, plane.shape[1])
    difference = np.zeros(len(pixels))
    for distance in range(OFFSET, OFFSET + 3):
        dy, dx = (np.rint(distance * part(angle)).astype(np.intp) for part in (np.cos, np.sin))
        for sign in (1, -1):
            y = np.clip(rows + sign * dy, 0, plane.shape[0] - 1)
            x = np.clip(columns - sign * dx, 0, plane.shape[1] - 1)
            difference += sign / 3 * plane[y, x]
    return np.where(np.cos(angle - axis) >= 0, difference, -difference)
