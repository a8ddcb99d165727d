"""How missing pixels are marked, by colors among others, and which they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import ImageColor

from dictsel_core.damage_kinds import DamageKind
from dictsel_core.restoration import Parameter
from inpaint_app.errors import NothingMissingError, Remedy, UserError
from inpaint_app.model.picture import Array, Mask, Picture, full_scale

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBERS = re.compile(rf"\s*{_NUMBER}\s*(?:,\s*{_NUMBER}\s*,\s*{_NUMBER}\s*)?")
_HEX = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)


def parse_color(text: str, dtype: npt.DTypeLike) -> tuple[float, float, float]:
    """Return red, green and blue of the color that a text names, in the values of a picture of this dtype.

    That is "#ff00ff" or "#f0f", a CSS name such as "magenta", three values of the picture "255,0,255", or one
    value "0" for all channels. Names and # colors are on the scale of 8 bits, whatever the depth of the
    picture; values are its own (up to 65535 in a 16-bit picture).
    """
    if _NUMBERS.fullmatch(text):
        values = [float(part) for part in text.split(",")]
        red, green, blue = values if len(values) == 3 else values * 3
        return red, green, blue
    name, scale = text.strip().lower(), full_scale(dtype) / 255.0
    if _HEX.fullmatch(name) or name in ImageColor.colormap:
        red, green, blue = (float(np.float32(channel * scale)) for channel in ImageColor.getrgb(name)[:3])
        return red, green, blue
    raise UserError(f"{text[:40]!r} is not a color", "write #ff00ff, 255,0,255 or a name such as magenta")


#: Pixels by which marked regions grow.
GROW = Parameter(name="grow", kind=int, minimum=0, maximum=20, is_optional=True)
#: Of the detection of damage.
SENSITIVITY = Parameter(name="sensitivity", kind=float, minimum=0, maximum=1)
#: Largest difference from a color; in float pictures values may be of any size.
TOLERANCE = Parameter(name="tolerance", kind=float, minimum=0, is_optional=True)


@dataclass(frozen=True)
class MaskSpec:
    """How missing pixels are marked, besides alpha = 0 and NaN."""

    mask: Path | None = None  #: A mask image, white = missing (black with `invert_mask`).
    invert_mask: bool = False
    key: str | None = None  #: A color, found with `tolerance`: the largest difference in any channel.
    tolerance: float | None = None  #: None as `marks.choose_tolerance` chooses for the picture.
    #: Pixels by which what a file or a color marks grows; None as `missing.dilate` chooses.
    grow: int | None = None
    #: Kinds of damage to detect, with `sensitivity`; the detected pixels are missing too.
    detect: tuple[DamageKind, ...] = ()
    sensitivity: float = 0.5
    #: Whether partly transparent pixels that border transparent ones are missing too.
    soft_edges: bool = True
    #: Whether the mask is meant as it is, even if it looks inverted or like a photograph.
    trusts_mask: bool = False


#: Compressed or smoothed marks bleed into the pixel beside them.
DEFAULT_GROWTH = 1
#: Fraction of the observed pixels that growth may take by default: scattered pixels have no fringe.
_MAX_GROWN = 0.25
#: What marks more of the picture than this may be inverted.
_SUSPECT_FRACTION = 0.9
#: Levels of 255 by which JPEG changes a saturated color at its edges.
KEY_TOLERANCE = 24


@dataclass(frozen=True)
class Growth:
    """How far marks of a mask or a color have grown, and which fraction they were of the picture."""

    pixels: int
    marked: float


@dataclass(frozen=True, eq=False)
class MissingPixels:
    """Which pixels are missing, and what marks them."""

    mask: Mask  #: (H, W) or (H, W, 3), True = missing. Per channel only where the channels of a pixel differ.
    #: Those of "alpha", "stored mask" (alpha that is a mask in the file), "soft" (partly transparent), "nan",
    #: "nodata", "mask", "key", "detected" that marked something.
    sources: tuple[str, ...]
    growth: Growth | None = None  #: How what mask and color mark has grown; None where it has not.

    @property
    def fraction(self) -> float:
        """Fraction of the values that are missing, 0 to 1."""
        return float(np.count_nonzero(self.mask) / self.mask.size)

    @property
    def marked_fraction(self) -> float | None:
        """Fraction that mask and color marked before that has grown; None where it has not."""
        return None if self.growth is None else self.growth.marked


def collect_missing(
    picture: Picture,
    *,
    mask: Picture | Array | None = None,
    key: str | None = None,
    tolerance: float = 0,
    invert_mask: bool = False,
    grow: int | None = 0,
    soft_edges: bool = True,
) -> MissingPixels:
    """Return the union of all pixels that something marks as missing.

    Always looked for: alpha = 0, NaN or infinity (per channel) in float pictures, and the value that the
    file declares to mean "no data".

    Parameters
    ----------
    picture : Picture
        The damaged picture.
    mask : Picture or ndarray, optional
        A mask image of any depth, (H, W) or with channels, bright = missing: the mean over the channels,
        times alpha if it has one, is at least half of white, which is 1 if no value is larger, or 255.
        Or booleans, True = missing, (H, W) or of the shape of the pixels.
    key : str, optional
        A color that marks missing pixels, see `parse_color`.
    tolerance : float
        Largest difference from `key` in any channel, in values of the picture.
    invert_mask : bool
        Dark = missing instead.
    grow : int or None
        Pixels by which what mask and key mark grows, see `dilate`.
    soft_edges : bool
        Partly transparent pixels are missing too where they border transparent ones, as the rim of a soft
        stroke does; not in a picture that is partly transparent as a whole.

    Raises
    ------
    UserError
        If the mask or key does not fit the picture.
    """
    alpha = "stored mask" if picture.alpha_is_mask else "alpha"
    found = {
        alpha: None if picture.alpha is None else ~(picture.alpha > 0),
        "soft": _from_soft_edges(picture) if soft_edges else None,
        "nan": ~np.isfinite(picture.pixels) if picture.is_float else None,
        "nodata": _from_no_data(picture),
        "mask": None if mask is None else pixels_of_mask(picture, mask, invert=invert_mask),
        "key": None if key is None else pixels_of_color(picture, key, tolerance),
    }
    marked = {source: where for source, where in found.items() if where is not None and where.any()}
    if not marked:
        return MissingPixels(np.zeros(picture.pixels.shape[:2], np.bool_), ())
    marks: dict[str, Mask] = {source: marked[source] for source in ("mask", "key") if source in marked}
    larger: dict[str, Mask] = {source: dilate(where, grow) for source, where in marks.items()}
    union = _union(list((marked | larger).values()))
    return MissingPixels(union, tuple(marked), _growth(marks, larger, grow))


def _growth(marks: dict[str, Mask], larger: dict[str, Mask], grow: int | None) -> Growth | None:
    if not marks:
        return None
    before, after = (_union(list(each.values())) for each in (marks, larger))
    fractions = [float(np.count_nonzero(each) / each.size) for each in (before, after)]
    pixels = DEFAULT_GROWTH if grow is None else grow
    return Growth(pixels, fractions[0]) if fractions[1] > fractions[0] else None


def dilate(mask: Mask, pixels: int | None) -> Mask:
    """Return a mask with all pixels up to so many rows and columns away from missing ones.

    Marks are often slightly too small: JPEG, scaling and soft brushes mix their color into pixels beside.
    None: `DEFAULT_GROWTH`, unless more than a quarter of the observed pixels would be lost by it, as with
    scattered missing pixels.
    """
    far = DEFAULT_GROWTH if pixels is None else pixels
    result = mask
    for axis in (0, 1) if far else ():  # not by scipy, which takes a third of a second to import
        larger = result.copy()
        for distance in range(1, far + 1):
            ahead, behind = [slice(None)] * mask.ndim, [slice(None)] * mask.ndim
            ahead[axis], behind[axis] = slice(distance, None), slice(None, -distance)
            larger[tuple(ahead)] |= result[tuple(behind)]
            larger[tuple(behind)] |= result[tuple(ahead)]
        result = larger
    if pixels is not None:
        return result
    n_marked, n_grown = int(np.count_nonzero(mask)), int(np.count_nonzero(result))
    return result if default_growth(n_marked, n_grown, mask.size) else mask


def default_growth(n_marked: int, n_grown: int, n_values: int) -> int:
    """Return the default growth of a mask, by how many values it marks as it is and grown by one pixel."""
    is_too_much = n_grown - n_marked > _MAX_GROWN * (n_values - n_marked)
    return 0 if is_too_much else DEFAULT_GROWTH


def erode(mask: Mask, pixels: int) -> Mask:
    """Return a mask without all pixels up to so many rows and columns away from observed ones."""
    return ~dilate(~mask, pixels)


def color_at(picture: Picture, row: int, column: int) -> tuple[str, float]:
    """Return the color of a pixel as a key, and a tolerance that compressed marks of it stay within."""
    scale = full_scale(picture.pixels.dtype)
    values = np.nan_to_num(np.atleast_1d(picture.pixels[row, column]).astype(float))
    levels = np.clip(np.rint(values / scale * 255), 0, 255).astype(int)
    red, green, blue = np.broadcast_to(levels, 3)
    return f"#{red:02x}{green:02x}{blue:02x}", float(np.ceil(KEY_TOLERANCE * scale / 255))


def joined(missing: MissingPixels, detected: Mask) -> MissingPixels:
    """Return missing pixels together with detected damage, (H, W)."""
    if not detected.any():
        return missing
    masks = [missing.mask, detected] if missing.mask.any() else [detected]
    return replace(missing, mask=_union(masks), sources=(*missing.sources, "detected"))


def check_missing(fraction: float, *, has_mask: bool = False, has_key: bool = False) -> None:
    """Raise `UserError` if everything is missing, `NothingMissingError` if nothing is."""
    if fraction == 1:
        raise UserError(
            "Every pixel is marked as missing, so there is nothing to restore from", Remedy.MARK_LESS
        )
    if fraction > 0:
        return
    if has_mask and has_key:
        raise NothingMissingError("Neither the mask nor the color marks a missing pixel", Remedy.MARK_MISSING)
    if has_mask:
        raise NothingMissingError("The mask marks no pixel", Remedy.INVERT_MASK)
    if has_key:
        raise NothingMissingError("No pixel has that color", Remedy.ALLOW_TOLERANCE)
    raise NothingMissingError("No missing pixels were found", Remedy.MARK_MISSING)


def is_likely_inverted(missing: MissingPixels, fraction: float) -> bool:
    """Return whether what is marked may be the wrong way round: hardly any pixel is left."""
    return fraction > _SUSPECT_FRACTION and "simulated" not in missing.sources


def _from_soft_edges(picture: Picture) -> Mask | None:
    if picture.alpha is None:
        return None
    clear, soft = clear_and_soft(picture.alpha)
    n_clear, n_soft = int(np.count_nonzero(clear)), int(np.count_nonzero(soft))
    return soft_rim(clear, soft) if has_soft_edges(n_clear, n_soft, clear.size) else None


def clear_and_soft(alpha: Array) -> tuple[Mask, Mask]:
    """Return which pixels are transparent, and which of them partly."""
    clear: Mask = ~(alpha > 0)
    return clear, ~(clear | (alpha >= full_scale(alpha.dtype)))


def has_soft_edges(n_clear: int, n_soft: int, n_pixels: int) -> bool:
    """Return whether partly transparent pixels can be rims of transparent ones, not the picture itself."""
    return n_clear > 0 and 0 < n_soft <= n_pixels - n_clear - n_soft


def soft_rim(clear: Mask, soft: Mask) -> Mask:
    """Return the partly transparent pixels that border transparent ones, and those that border these."""
    from scipy.ndimage import binary_propagation  # noqa: PLC0415  (slow to import, and seldom needed)

    reached: Mask = binary_propagation(clear, structure=np.ones((3, 3)), mask=clear | soft)
    return reached & soft


def _from_no_data(picture: Picture) -> Mask | None:
    """Return the pixels of the value "no data", which a file notes as float64 even for float32 pixels."""
    if picture.metadata.no_data is None or not np.isfinite(picture.metadata.no_data):
        return None
    with np.errstate(over="ignore"):
        value = (
            picture.pixels.dtype.type(picture.metadata.no_data)
            if picture.is_float
            else picture.metadata.no_data
        )
    marked: Mask = picture.pixels == value
    # In an ordinary color, one channel may well have the value.
    return np.asarray(marked.all(axis=2)) if picture.is_color and picture.pixels.dtype.kind == "u" else marked


def without_no_data(picture: Picture, restored: Array) -> Array:
    """Return the restored pixels of a picture, none of them with the value that its file calls "no data"."""
    has_whole_numbers = picture.metadata.array is not None and picture.metadata.array.dtype.kind in "ui"
    if has_whole_numbers and picture.is_float:  # 64 bits, which are rounded when they are written
        restored = np.rint(restored)
    marked = _from_no_data(replace(picture, pixels=restored))
    if marked is None or not marked.any():
        return restored
    value = restored.dtype.type(picture.metadata.no_data or 0)
    if picture.is_float and not has_whole_numbers:
        near = np.nextafter(value, restored.dtype.type(0 if value else 1))
    else:
        near = value - 1 if not picture.is_float and value == full_scale(restored.dtype) else value + 1
    return np.where(marked if marked.ndim == restored.ndim else marked[..., None], near, restored)


def pixels_of_mask(picture: Picture, mask: Picture | Array, *, invert: bool = False) -> Mask:
    """Return the pixels that a mask marks, before they grow; see `collect_missing`."""
    marked = _bright(mask)
    if marked.shape[:2] != picture.pixels.shape[:2]:
        theirs, ours = marked.shape[1::-1], (picture.width, picture.height)
        raise UserError(
            f"The mask has {theirs[0]} x {theirs[1]} pixels but the picture has {ours[0]} x {ours[1]}",
            "give a mask of the same size",
        )
    if marked.ndim == 3 and marked.shape != picture.pixels.shape:
        raise UserError(
            "The channels of the mask are not those of the picture", "give one with a single channel"
        )
    return ~marked if invert else marked


def _bright(mask: Picture | Array) -> Mask:
    """Return a mask image as booleans."""
    if isinstance(mask, Picture):
        values, alpha = mask.pixels, mask.alpha
    elif mask.ndim not in (2, 3) or mask.dtype.kind not in "buif":
        raise UserError("The mask is not an image", "give one with rows and columns of numbers")
    elif mask.dtype == np.bool_:
        return mask
    else:
        values, alpha = mask, None
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise UserError("The mask holds NaN or infinity", "give one with 0 and 1")
    light = values.mean(axis=2, dtype=np.float32) if values.ndim == 3 else values
    if alpha is not None:
        light = light * (alpha / np.float32(full_scale(alpha.dtype)))
    marked: Mask = light >= np.float32(_white(values) / 2)
    return marked


def _white(mask: Array) -> float:
    """Return the value of white in a mask: 0 and 1, or 0 to 255, are also stored in larger numbers."""
    largest, scale = float(mask.max()), full_scale(mask.dtype)
    if mask.dtype.kind == "f" or mask.dtype.itemsize > 2:
        return max(1.0, largest)
    return next(white for white in (1.0, min(255.0, scale), scale) if largest <= white)


def pixels_of_color(picture: Picture, key: str, tolerance: float) -> Mask:
    """Return the pixels of a color, (H, W); see `collect_missing`."""
    if not 0 <= tolerance < np.inf:
        raise UserError(f"The tolerance is {tolerance}", "give a number of at least 0")
    wanted = parse_color(key, picture.pixels.dtype)
    if not picture.is_color:
        if len(set(wanted)) > 1:
            kind = "gray" if picture.n_bands == 1 else f"in {picture.n_bands} bands"
            raise UserError(f"The picture is {kind}, so no pixel has that color", "give one value such as 0")
        near = _near(picture.pixels, wanted[0], tolerance)
        return near if near.ndim == 2 else np.asarray(near.all(axis=2), np.bool_)
    marked = _near(picture.pixels[..., 0], wanted[0], tolerance)
    for channel in (1, 2):
        marked &= _near(picture.pixels[..., channel], wanted[channel], tolerance)
    return marked


def _near(values: Array, wanted: float, tolerance: float) -> Mask:
    with np.errstate(over="ignore"):  # a limit that float32 cannot hold is infinite
        near: Mask = (values >= wanted - tolerance) & (values <= wanted + tolerance)
    return near


def _union(masks: list[Mask]) -> Mask:
    """Return where any mask is True; per channel only if channels differ."""
    union = reduce(np.logical_or, (mask if mask.ndim == 3 else mask[..., np.newaxis] for mask in masks))
    is_same = bool((union == union[..., :1]).all())
    return np.array(union[..., 0] if is_same else union, np.bool_)
