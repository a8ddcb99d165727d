"""Write JPEG and WebP, by Pillow."""

import io
from typing import Any, BinaryIO

import numpy as np
from PIL import Image

from inpaint_app.errors import UserError
from inpaint_app.files.formats.shared.exif import PREFIX
from inpaint_app.image.picture import Picture

_MAX_SIDE = {"JPEG": 65_500, "WebP": 16_383}
_MAX_JPEG_EXIF = 65_527


def encode_jpeg(picture: Picture, file: BinaryIO, quality: int) -> None:
    """Write an 8-bit picture as JPEG, with full colour resolution.

    Raises
    ------
    UserError
        If the picture has transparent pixels, or is too large.
    """
    _check_side(picture, "JPEG")
    if picture.alpha is not None and bool((picture.alpha < picture.max_value).any()):
        raise UserError("JPEG cannot keep transparent pixels", "write PNG, TIFF or WebP")
    if picture.exif is not None and len(picture.exif) > _MAX_JPEG_EXIF:
        raise UserError("The EXIF information is too long for JPEG", "write PNG, TIFF or WebP")
    options: dict[str, Any] = {"quality": quality, "subsampling": 0}
    if picture.exif is not None:
        options["exif"] = PREFIX + picture.exif
    if picture.dpi is not None:
        options["dpi"] = tuple(min(max(round(value), 1), 65535) for value in picture.dpi)
    _save(Image.fromarray(picture.pixels), "JPEG", picture, file, options)


def encode_webp(picture: Picture, file: BinaryIO, quality: int) -> None:
    """Write an 8-bit picture as WebP; quality 100 is without loss.

    Raises
    ------
    UserError
        If the picture is too large.
    """
    _check_side(picture, "WebP")
    values = picture.pixels if picture.is_color else np.repeat(picture.pixels[..., np.newaxis], 3, axis=2)
    if picture.alpha is not None:
        values = np.concatenate((values, picture.alpha[..., np.newaxis]), axis=2)
    options = {"quality": quality, "lossless": quality == 100, "exact": True, "exif": picture.exif or b""}
    _save(Image.fromarray(values), "WEBP", picture, file, options)


def _check_side(picture: Picture, name: str) -> None:
    limit = _MAX_SIDE[name]
    if max(picture.width, picture.height) > limit:
        raise UserError(f"{name} cannot be wider or taller than {limit} pixels", "write PNG or TIFF")


def _save(image: Image.Image, name: str, picture: Picture, file: BinaryIO, options: dict[str, Any]) -> None:
    """Encode in memory, so that a full disk is seen by our own write."""
    packed = io.BytesIO()
    image.save(packed, name, icc_profile=picture.icc, **options)
    file.write(packed.getbuffer())
