"""HEIC and HEIF, the formats of phones, by pillow-heif."""

import re
from typing import BinaryIO

from inpaint_app.files.format import USUAL_METADATA, Format, PlugIn
from inpaint_app.files.formats.shared.pillow_reader import load_pixels, open_image, xmp_blocks
from inpaint_app.files.formats.shared.pillow_writer import metadata_options, save_by_pillow, to_image
from inpaint_app.image.metadata import MetadataKind
from inpaint_app.image.picture import Picture


def decode_heic(data: bytes) -> Picture:
    """Return the main picture of a HEIC file."""
    from pillow_heif import HeifImageFile  # noqa: PLC0415  (a plug-in)

    image = open_image(HeifImageFile, data)
    bits, is_one_of_several = image.info.get("bit_depth", 8), getattr(image, "n_frames", 1) > 1
    pixels, alpha = load_pixels(image)
    lost, notices = [], []
    if bits > 8:
        lost.append(f"{bits} bits per channel")
        notices.append(f"The {bits}-bit picture was read as 8-bit.")
    if is_one_of_several:
        lost.append("further pictures in the file")
        notices.append("The file holds more than one picture: the main one was used.")
    if image.info.get("depth_images"):
        lost.append("the depth map")
    return Picture(
        pixels,
        alpha,
        exif=image.info.get("exif"),
        icc=image.info.get("icc_profile"),
        source_format="HEIC",
        notices=tuple(notices),
        blocks=xmp_blocks(image),
        lost=tuple(lost),
    )


def encode_heic(picture: Picture, file: BinaryIO, quality: int) -> None:
    """Write an 8-bit picture as HEIC with full colour resolution; it is lossy at any quality."""
    from pillow_heif import register_heif_opener  # noqa: PLC0415

    register_heif_opener()
    options = {"quality": quality, "chroma": 444, **metadata_options(picture)}
    save_by_pillow(to_image(picture, as_rgb=True), "HEIF", picture, file, options)


FORMAT = Format(
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
