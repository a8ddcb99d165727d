"""Formats of the HEIF family, with 8 bits: AVIF, and HEIC, the format of phones, by pillow-heif."""

import re
from typing import BinaryIO

from PIL.AvifImagePlugin import AvifImageFile

from inpaint_app.io.format import USUAL_METADATA, Format, PlugIn
from inpaint_app.io.formats.pillow.codec import (
    OTHER_FRAMES,
    Loss,
    load_pixels,
    lossy_encoder,
    open_image,
    picture_of_image,
)
from inpaint_app.model.picture import MetadataKind, Picture

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


AVIF = Format(
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


_OTHERS = Loss("further pictures in the file", "The file holds more than one picture: the main one was used.")
_DEPTH_MAP = Loss("the depth map", "The depth map of the file was left out.")


def decode_heic(data: bytes) -> Picture:
    """Return the main picture of a HEIC file."""
    from pillow_heif import HeifImageFile  # noqa: PLC0415  (a plug-in)

    image = open_image(HeifImageFile, data)
    bits, has_more = image.info.get("bit_depth", 8), getattr(image, "n_frames", 1) > 1
    pixels, alpha = load_pixels(image)
    losses = [Loss.of_depth(bits)] if bits > 8 else []
    if has_more:
        losses.append(_OTHERS)
    if image.info.get("depth_images"):
        losses.append(_DEPTH_MAP)
    return picture_of_image(image, "HEIC", pixels, alpha, losses)


_encode = lossy_encoder("HEIF", lambda _quality: {"chroma": 444})


def encode_heic(picture: Picture, file: BinaryIO, quality: int) -> None:
    """Write an 8-bit picture as HEIC with full color resolution; it is lossy at any quality."""
    from pillow_heif import register_heif_opener  # noqa: PLC0415

    register_heif_opener()
    _encode(picture, file, quality)


HEIC = Format(
    name="HEIC",
    suffixes=(".heic", ".heif"),
    mime_types=("image/heic", "image/heif"),
    signature=re.compile(rb".{4}ftyp(?:.{4}){0,12}?(?:hei[cxms]|hev[cxms]|mif1)", re.DOTALL),
    decode=decode_heic,
    encode=encode_heic,
    metadata=USUAL_METADATA - {MetadataKind.RESOLUTION} | {MetadataKind.XMP},
    is_lossy=True,
    max_side=16_384,
    plug_in=PlugIn("pillow_heif", "pillow-heif"),
)
