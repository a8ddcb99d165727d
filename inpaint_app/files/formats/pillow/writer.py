"""Write a picture by Pillow."""

import io
from typing import Any, BinaryIO

import numpy as np
from PIL import Image

from inpaint_app.image.metadata import MetadataKind
from inpaint_app.image.picture import Picture


def to_image(picture: Picture, *, as_rgb: bool = False) -> Image.Image:
    """Return pixels and alpha as an image; with `as_rgb` gray becomes RGB, for formats without gray.

    Alpha of 16 bits is left out: what is written so is opaque.
    """
    values = picture.pixels
    if as_rgb and not picture.is_color:
        values = np.repeat(values[..., np.newaxis], 3, axis=2)
    if picture.alpha is not None and picture.depth == 8:
        values = np.concatenate((np.atleast_3d(values), picture.alpha[..., np.newaxis]), axis=2)
    return Image.fromarray(values)


def save_by_pillow(
    image: Image.Image, name: str, picture: Picture, file: BinaryIO, options: dict[str, Any]
) -> None:
    """Encode in memory, so that a full disk is seen by our own write."""
    packed = io.BytesIO()
    image.save(packed, name, icc_profile=picture.icc, **options)
    with packed.getbuffer() as contents:  # released also where writing fails
        file.write(contents)


def metadata_options(picture: Picture) -> dict[str, bytes]:
    """Return EXIF and XMP as Pillow takes them."""
    options = {} if picture.exif is None else {"exif": picture.exif}
    packet = picture.block(MetadataKind.XMP)
    return options if packet is None else options | {"xmp": packet}
