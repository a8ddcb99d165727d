"""Write a picture by Pillow."""

import io
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np
from PIL import Image

from inpaint_app.io.format import Encoder
from inpaint_app.model.metadata import MetadataKind
from inpaint_app.model.picture import Picture


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
    image.save(packed, name, icc_profile=picture.metadata.icc, **options)
    with packed.getbuffer() as contents:  # released also where writing fails
        file.write(contents)


def lossy_encoder(name: str, options: Callable[[int], dict[str, Any]]) -> Encoder:
    """Return the encoder of a format with quality, EXIF and XMP, but without gray; options go by quality."""

    def encode(picture: Picture, file: BinaryIO, quality: int) -> None:
        metadata = {"exif": picture.metadata.exif, "xmp": picture.metadata.block(MetadataKind.XMP)}
        given = {kind: value for kind, value in metadata.items() if value is not None}
        image = to_image(picture, as_rgb=True)
        save_by_pillow(image, name, picture, file, {"quality": quality, **options(quality), **given})

    return encode
