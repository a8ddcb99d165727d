"""Whether a format can store a picture, known before the picture is restored."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from inpaint_app.errors import Remedy, UserError
from inpaint_app.io.format import Format
from inpaint_app.io.registry import format_names, transparent, writable
from inpaint_app.model.metadata import MetadataKind
from inpaint_app.model.picture import Picture, format_mode

#: Most formats that a sentence proposes.
_MAX_NAMED = 4


@dataclass(frozen=True)
class PictureProperties:
    """What decides whether a format can store a picture; known before its missing pixels are."""

    width: int
    height: int
    depth: int = 8  #: Bits per channel: 8, 16 or 32 (float).
    is_color: bool = True
    has_alpha: bool = False
    #: Its kind, if it is not gray or RGB of 8 or 16 bits or float32: "12 pages" or "16-bit in 4 bands".
    unusual: str = ""
    has_equal_pages: bool = True  #: Whether all its pages have the same size and kind of numbers.
    is_transparent: bool = False  #: Whether alpha is below full opacity anywhere, on any page.
    is_unit: bool = True  #: Whether all values of a float picture lie between 0 and 1; True for others.
    n_exif: int = 0  #: Bytes of EXIF information.
    n_icc: int = 0  #: Bytes of the color profile.


def properties_of(picture: Picture, *, missing: npt.NDArray[np.bool_] | None = None) -> PictureProperties:
    """Return the properties of a picture, or of what it will be when its missing pixels are restored.

    Those become opaque, and get values within the range of the others.
    """
    if picture.more_pages:
        return _properties_of_pages(picture, is_restored=missing is None)
    if missing is not None:
        picture = picture.with_pixels(picture.pixels, filled=missing)
    alpha, is_unit = picture.alpha, True
    if picture.is_float:
        is_unit = _is_unit(picture.pixels, missing) and (alpha is None or _is_unit(alpha, None))
    return PictureProperties(
        width=picture.width,
        height=picture.height,
        depth=picture.depth,
        is_color=picture.is_color,
        has_alpha=alpha is not None,
        unusual="" if picture.is_plain else _kind(picture),
        is_transparent=alpha is not None and bool((alpha < picture.max_value).any()),
        is_unit=is_unit,
        n_exif=len(picture.metadata.exif or b""),
        n_icc=len(picture.metadata.icc or b""),
    )


def _properties_of_pages(picture: Picture, *, is_restored: bool) -> PictureProperties:
    """Return the properties of a picture with several pages, of which transparent pixels will be restored."""
    first = properties_of(replace(picture, more_pages=()))
    is_transparent = any(
        bool(((page.alpha < page.max_value) & (is_restored | (page.alpha > 0))).any())
        for page in picture.pages
        if page.alpha is not None
    )
    kinds = {(page.pixels.shape, page.pixels.dtype) for page in picture.pages}
    return replace(
        first, unusual=_kind(picture), has_equal_pages=len(kinds) == 1, is_transparent=is_transparent
    )


def _kind(picture: Picture) -> str:
    n_pages = len(picture.more_pages) + 1
    if n_pages > 1:
        return f"{n_pages} pages"
    return format_mode(picture.pixels.dtype, n_bands=picture.n_bands, has_alpha=picture.alpha is not None)


def _is_unit(values: npt.NDArray[np.float32], missing: npt.NDArray[np.bool_] | None) -> bool:
    inside = (values >= 0) & (values <= 1)
    if missing is not None:
        inside |= missing[..., np.newaxis] if missing.ndim < values.ndim else missing
    return bool(inside.all())


def check_storable(
    properties: PictureProperties, target: Format, *, depth: int | None = None, quality: int | None = None
) -> None:
    """Refuse what a format cannot store, with this depth (8 or 16) and quality (1 to 100) if it has one."""
    if quality is not None and not 1 <= quality <= 100:
        raise UserError(f"The quality is {quality}", "give a number from 1 to 100")
    if depth not in (None, 8, 16):
        raise UserError(f"The depth is {depth}", "give 8 or 16")
    if properties.unusual and depth is not None:
        raise UserError(f"{properties.unusual} cannot be reduced to {depth} bits", "leave the depth as it is")
    if properties.unusual and not target.keeps_arrays:
        able = [each for each in writable() if each.keeps_arrays]
        raise UserError(f"{target.name} cannot store {properties.unusual}", _write(able))
    if target.has_equal_pages and not properties.has_equal_pages:
        raise UserError(f"{target.name} cannot store pages that differ in size or kind", "write TIFF")
    if depth is not None and not properties.is_unit:
        raise float_range_error(depth)
    name, bits = target.name, depth or properties.depth
    is_plain_gray = not properties.is_color and not properties.is_transparent
    if not properties.unusual and bits not in target.depths_of(is_plain_gray=is_plain_gray):
        dtype = {8: np.uint8, 16: np.uint16, 32: np.float32}[bits]
        n_bands = 3 if properties.is_color else 1
        mode = format_mode(dtype, n_bands=n_bands, has_alpha=properties.has_alpha)
        able = [each for each in writable() if bits in each.depths]
        raise UserError(
            f"{name} cannot store {mode}", Remedy.REDUCE_DEPTH if properties.is_unit else _write(able)
        )
    if target.max_side is not None and max(properties.width, properties.height) > target.max_side:
        raise UserError(
            f"{name} cannot be wider or taller than {target.max_side} pixels",
            _write([each for each in writable() if each.max_side is None]),
        )
    if properties.is_transparent and not target.has_alpha:
        raise UserError(f"{name} cannot store transparent pixels", _write(transparent()))
    for what, kind, size, limit in (
        ("EXIF information", MetadataKind.EXIF, properties.n_exif, target.max_exif),
        ("color profile", MetadataKind.ICC, properties.n_icc, target.max_icc),
    ):
        if kind in target.metadata and limit is not None and size > limit:
            others = [each for each in writable() if kind in each.metadata and each is not target]
            raise UserError(f"The {what} is too long for {name}", _write(others))


def float_range_error(depth: int) -> UserError:
    """Return the error for float values that cannot be converted to 8 or 16 bits."""
    return UserError(
        f"The float values do not all lie between 0 and 1, so they do not fit into {depth} bits",
        "scale them first, or write TIFF without changing the depth",
    )


def _write(some: list[Format]) -> str:
    return f"write {format_names(some[:_MAX_NAMED])}"
