"""AVIF: read and write with 8 bits."""

import re

from PIL.AvifImagePlugin import AvifImageFile

from inpaint_app.io.format import USUAL_METADATA, Format
from inpaint_app.io.formats.pillow.codec import (
    OTHER_FRAMES,
    Loss,
    load_pixels,
    lossy_encoder,
    open_image,
    picture_of_image,
)
from inpaint_app.model.metadata import MetadataKind
from inpaint_app.model.picture import Picture

# The record that describes the coded picture; its third byte has a bit for more than 8 bits, one for 12.
_CODEC_RECORD = re.compile(rb"av1C\x81.(.)", re.DOTALL)
_HEADER_BYTES = 1024**2


def decode_avif(data: bytes) -> Picture:
    """Return the picture in an AVIF file, or the first frame of an animation."""
    image = open_image(AvifImageFile, data)
    pixels, alpha = load_pixels(image)
    losses = []
    record = _CODEC_RECORD.search(data, 0, _HEADER_BYTES)
    if record is not None and record[1][0] & 0x40:
        losses.append(Loss.of_depth(12 if record[1][0] & 0x20 else 10))
    if getattr(image, "n_frames", 1) > 1:
        losses.append(OTHER_FRAMES)
    return picture_of_image(image, "AVIF", pixels, alpha, losses)


FORMAT = Format(
    name="AVIF",
    suffixes=(".avif",),
    mime_types=("image/avif",),
    signature=re.compile(rb".{4}ftyp(?:.{4}){0,12}?avi[fs]", re.DOTALL),
    decode=decode_avif,
    encode=lossy_encoder("AVIF", lambda _quality: {"subsampling": "4:4:4"}),
    metadata=USUAL_METADATA - {MetadataKind.RESOLUTION} | {MetadataKind.XMP},
    is_lossy=True,
    max_side=32_768,
)
