"""Marks of a color: one that is given for missing pixels, or vivid ones that somebody drew on a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inpaint_app.model.missing import dilate, parse_color, pixels_of_color
from inpaint_app.model.picture import Array, Mask, Picture, full_scale

#: Formats that mix the colors of pixels.
_LOSSY = ("JPEG", "WebP", "AVIF", "HEIC", "JPEG XL", "JPEG 2000")
#: Range of a color's channels, of 255, from which on hardly anything in photographs has it.
_RARE_CHROMA = 140
#: Tolerances to choose from, of 255: for such colors, and for others. The last one is that of sure marks.
_VIVID, _PLAIN = (96, 80, 64, 48), (32, 24, 16, 12, 8)
#: Pixels from sure marks within which similar pixels are their blurred edges,
_REACH = 2
#: and the part of all found pixels that may lie farther away.
_MAX_FAR = 0.05
#: In a lossless file, marks are exact if they are at least this part of what is like them.
_MIN_EXACT = 0.25
#: Pixels beside marks that are nearly of their color, and the part of those beside that are so many.
_NEARLY, _MAX_NEARLY = 2, 0.1


def choose_tolerance(picture: Picture, key: str) -> float:
    """Return a tolerance for a color that marks missing pixels, in values of the picture.

    0 where marks are exact. Where they were compressed it is as large as it can be without finding pixels
    elsewhere than around marks.
    """
    levels = _levels_from(picture, key)
    if levels is None:
        return 0.0
    is_vivid, is_lossy = (
        _is_vivid(picture, key),
        picture.metadata.source_format in _LOSSY and not picture.metadata.is_lossless,
    )
    tolerances = _VIVID if is_vivid else _PLAIN
    if not is_lossy:
        n_exact, n_like = np.count_nonzero(levels == 0), np.count_nonzero(levels <= tolerances[-1])
        if not is_vivid or n_exact >= _MIN_EXACT * n_like:
            return 0.0
    around = dilate(levels <= tolerances[-1], _REACH)
    for tolerance in tolerances:
        found = levels <= tolerance
        if np.count_nonzero(found & ~around) <= _MAX_FAR * np.count_nonzero(found):
            break
    return float(np.ceil(tolerance * full_scale(picture.pixels.dtype) / 255))


def note_on_neighbors(picture: Picture, key: str, tolerance: float, marked: Mask) -> str:
    """Return a sentence if there is much of nearly a color beside the pixels that it marks; else nothing."""
    levels = _levels_from(picture, key)
    if levels is None or not marked.any():
        return ""
    beside = dilate(marked, 1) & ~marked
    limit = tolerance / full_scale(picture.pixels.dtype) * 255
    nearly = limit + _NEARLY * (_VIVID if _is_vivid(picture, key) else _PLAIN)[-1]
    n_nearly = np.count_nonzero(beside & (levels <= nearly))
    if n_nearly <= _MAX_NEARLY * np.count_nonzero(beside):
        return ""
    return (
        f"Beside pixels of the color {key} there are others of nearly that color, which stay; a tolerance "
        f"above {tolerance:g} marks them too."
    )


def _levels_from(picture: Picture, key: str) -> npt.NDArray[np.int32] | None:
    """Return how far pixels are from a color in any channel, of 255, rounded up, (H, W).

    None for pictures of other numbers than 8 or 16 bits, which are measurements, and for colors in gray.
    """
    wanted = parse_color(key, picture.pixels.dtype)
    if picture.pixels.dtype not in (np.uint8, np.uint16) or picture.n_bands not in (1, 3):
        return None
    if not picture.is_color and len(set(wanted)) > 1:
        return None
    scale, channels = full_scale(picture.pixels.dtype) / 255, np.atleast_3d(picture.pixels)
    levels = np.zeros(channels.shape[:2], np.int32)
    for channel, value in zip(np.moveaxis(channels, 2, 0), wanted, strict=False):
        far = np.ceil(np.abs(channel.astype(np.float32) - value) / np.float32(scale)).astype(np.int32)
        np.maximum(levels, far, out=levels)
    return levels


def _is_vivid(picture: Picture, key: str) -> bool:
    wanted = parse_color(key, picture.pixels.dtype)
    return (max(wanted) - min(wanted)) / full_scale(picture.pixels.dtype) * 255 >= _RARE_CHROMA


#: Range of the channels of a vivid color, of 255.
_MIN_CHROMA = 110
#: Part of the pixels that a pen marks at least, that are of a color that is looked at, and that are a stroke.
_MIN_FRACTION, _MIN_COLOR, _MIN_STROKE = 1e-3, 3e-4, 1e-4
#: Pixels that differ from a color by no more are just the same, are like it, and are not another one yet.
_SAME, _LIKE, _UNLIKE = 16, 48, 80
#: Half the largest width of a stroke is at most this part of the diagonal.
_MAX_HALF_WIDTH = 0.012
#: Least parts of a stroke that are just the same, and of what is around it that is another color; and how
#: many squares of its largest width it covers. Pens are flat, where objects are shaded; a stroke that was
#: compressed, or is of ink, stands out all the more.
_STROKES = (0.98, 0.3, 10), (0.7, 0.65, 10), (0.3, 0.98, 10), (0.15, 0.8, 35), (0.0, 0.995, 25)
#: Where there are strokes, others differ so much from what is around; they cover so many squares of their
#: width, or are pieces, so many pixels away at most.
_REST, _REST_SQUARES, _PIECES = 0.5, 20, 6
#: Colors of a picture that are looked at.
_MAX_PENS = 5
#: From this part on, strokes were not compressed,
_EXACT = 0.98
#: and need not grow as far: compression mixes their color into pixels beside.
_GROWTH, _COMPRESSED_GROWTH = 1, 3
#: Larger pictures are reduced.
_MAX_PIXELS = 1_000_000

#: Names by which channels are high: red, green, blue.
_NAMES = {
    (True, False, False): "red",
    (True, True, False): "yellow",
    (False, True, False): "green",
    (False, True, True): "cyan",
    (False, False, True): "blue",
    (True, False, True): "magenta",
}


@dataclass(frozen=True, eq=False)
class DrawnMarks:
    """What somebody seems to have drawn."""

    name: str  #: Of the color, such as "red".
    mask: Mask  #: (H, W), with the edges that compression has blurred.


@dataclass(frozen=True, eq=False)
class _Strokes:
    color: Array
    where: Mask
    is_exact: bool


def find_drawn_marks(picture: Picture) -> DrawnMarks | None:
    """Return what was drawn with the one vivid pen that marks most of a picture; None if there is nothing.

    Strokes are thin and of one flat color, which they do not share with what is around them; other things of
    the same color are left out. May be called in any thread.
    """
    if not picture.is_color or picture.is_float:
        return None
    step = int(np.ceil(np.sqrt(picture.width * picture.height / _MAX_PIXELS)))
    vivid = _most_vivid(picture.pixels, step)
    pens = [strokes for color in _vivid_colors(vivid) if (strokes := _find_strokes(vivid, color)) is not None]
    if not pens:
        return None
    best = max(pens, key=lambda strokes: np.count_nonzero(strokes.where))
    mask = best.where
    if step > 1:
        whole = dilate(mask, 1).repeat(step, axis=0).repeat(step, axis=1)[: picture.height, : picture.width]
        key = "#" + "".join(f"{round(value):02x}" for value in best.color)
        mask = whole & pixels_of_color(picture, key, _LIKE * full_scale(picture.pixels.dtype) / 255)
    high, low = best.color.max(), best.color.min()
    name = _NAMES[tuple(bool(value > (high + low) / 2) for value in best.color)]  # type: ignore[index]
    return DrawnMarks(name, dilate(mask, _GROWTH if best.is_exact else _COMPRESSED_GROWTH))


def _most_vivid(pixels: Array, step: int) -> Array:
    """Return the most vivid pixel of every square in 8-bit values, in a type that holds their differences."""
    height, width = (-(-side // step) for side in pixels.shape[:2])
    vivid, chroma = np.zeros((height, width, 3), np.int16), np.full((height, width), -1, np.int16)
    scale = int(full_scale(pixels.dtype))
    for row in range(step):
        for column in range(step):
            part = pixels[row::step, column::step]
            part = (part if scale == 255 else part.astype(np.int32) * 255 // scale).astype(np.int16)
            rows, columns = part.shape[:2]
            more = np.ptp(part, axis=2)
            is_more = more > chroma[:rows, :columns]
            chroma[:rows, :columns][is_more] = more[is_more]
            vivid[:rows, :columns][is_more] = part[is_more]
    return vivid


def _vivid_colors(pixels: Array) -> Iterator[Array]:
    """Return the vivid colors that most pixels have, one of each kind."""
    from scipy.ndimage import uniform_filter  # noqa: PLC0415  (slow to import, and seldom needed)

    values = pixels[np.ptp(pixels, axis=2) >= _MIN_CHROMA]
    if len(values) < _MIN_COLOR * pixels[..., 0].size:
        return
    bins = np.ravel_multi_index(tuple(values.T >> 4), (16, 16, 16))
    counts = uniform_filter(np.bincount(bins, minlength=16**3).reshape(16, 16, 16) * 27.0, 3, mode="constant")
    for _ in range(_MAX_PENS):
        place = np.unravel_index(counts.argmax(), counts.shape)
        if counts[place] < _MIN_COLOR * pixels[..., 0].size:
            return
        near = np.abs(values - (np.array(place) * 16 + 8)).max(axis=1) <= 24
        color = np.median(values[near], axis=0)
        if np.ptp(color) >= _MIN_CHROMA:
            yield color
        counts[tuple(slice(max(index - 3, 0), index + 4) for index in place)] = 0


def _find_strokes(pixels: Array, color: Array) -> _Strokes | None:
    """Return the strokes of a color, if they mark enough of the picture."""
    from scipy.ndimage import distance_transform_cdt, label  # noqa: PLC0415
    from skimage.measure import regionprops  # noqa: PLC0415

    difference = np.abs(pixels - color).max(axis=2)
    labels, _count = label(difference <= _LIKE, np.ones((3, 3)))
    depth = distance_transform_cdt(np.pad(labels > 0, 1), "chessboard")[1:-1, 1:-1]
    where, rest = np.zeros(labels.shape, np.bool_), []
    for region in regionprops(labels, depth):
        half, n_squares = region.intensity_max, region.area / (2 * region.intensity_max) ** 2
        if half > _MAX_HALF_WIDTH * np.hypot(*labels.shape):
            continue
        window = tuple(slice(max(part.start - 6, 0), part.stop + 6) for part in region.slice)
        inside = labels[window] == region.label
        core = inside & (depth[window] >= min(2, half))
        if region.area >= _MIN_STROKE * labels.size and _is_stroke(
            inside, core, difference[window], n_squares
        ):
            where[window] |= inside
        else:
            rest.append((window, inside, n_squares))
    if np.count_nonzero(where) < _MIN_FRACTION * where.size:
        return None
    near = dilate(where, _PIECES)
    for window, inside, n_squares in rest:
        is_wanted = n_squares >= _REST_SQUARES or (near[window] & inside).any()
        if is_wanted and _share_of_others(inside, difference[window]) >= _REST:
            where[window] |= inside
    return _Strokes(color, where, bool(np.mean(difference[where] <= _SAME) >= _EXACT))


def _is_stroke(inside: Mask, core: Mask, difference: Array, n_squares: float) -> bool:
    """Return whether a thin region is long, flat, and of another color than what is around it."""
    if n_squares < min(least for _same, _other, least in _STROKES):
        return False
    same, other = np.mean(difference[core] <= _SAME), _share_of_others(inside, difference)
    return any(same >= flat and other >= apart and n_squares >= n for flat, apart, n in _STROKES)


def _share_of_others(inside: Mask, difference: Array) -> float:
    """Return which part of what is around a region is of another color."""
    around = dilate(inside, 5) & ~dilate(inside, 3)
    return float(np.mean(difference[around] > _UNLIKE))
