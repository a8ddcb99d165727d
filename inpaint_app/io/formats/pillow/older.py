"""Formats of 8 bits and older programs: BMP, which is read, GIF and TGA (Targa)."""

import re
from dataclasses import replace
from typing import BinaryIO

import numpy as np
from PIL import Image
from PIL.BmpImagePlugin import BmpImageFile
from PIL.GifImagePlugin import GifImageFile
from PIL.TgaImagePlugin import TgaImageFile

from inpaint_app.errors import DamagedError
from inpaint_app.io.format import Format
from inpaint_app.io.formats.pillow.codec import (
    OTHER_FRAMES,
    load_pixels,
    open_image,
    save_by_pillow,
    to_image,
)
from inpaint_app.model.picture import Metadata, MetadataBlock, MetadataKind, Picture

#: The modes of Pillow that are read, and as what.
_TARGETS = {"1": "L", "L": "L", "LA": "LA", "P": "RGB", "RGB": "RGB", "RGBA": "RGBA"}


def decode_bmp(data: bytes) -> Picture:
    """Return the picture in a BMP file."""
    image = open_image(BmpImageFile, data)
    if image.mode not in _TARGETS:
        raise DamagedError("its header is wrong")
    pixels, alpha = load_pixels(image, _TARGETS[image.mode])
    notices = ("The palette was converted to RGB.",) if image.mode == "P" else ()
    dpi = image.info.get("dpi")
    return Picture(
        pixels,
        alpha,
        Metadata(dpi=dpi if dpi and min(dpi) > 0 else None, source_format="BMP"),
        notices=notices,
    )


BMP = Format(
    name="BMP",
    suffixes=(".bmp",),
    mime_types=("image/bmp",),
    signature=re.compile(rb"BM"),
    decode=decode_bmp,
)


_MAX_COLORS = 256


def decode_gif(data: bytes) -> Picture:
    """Return the picture in a GIF file, or the first frame of an animation."""
    image = open_image(GifImageFile, data)
    is_gray = image.mode == "L" or _is_gray(image)
    target = ("L" if is_gray else "RGB") + ("A" if "transparency" in image.info else "")
    pixels, alpha = load_pixels(image, target)
    is_animation = bool(getattr(image, "is_animated", False))
    notices = () if is_gray else ("The palette was converted to RGB.",)
    comment = image.info.get("comment")
    return Picture(
        pixels,
        alpha,
        Metadata(
            source_format="GIF",
            blocks=(MetadataBlock(MetadataKind.COMMENT, comment),) if isinstance(comment, bytes) else (),
            lost=(OTHER_FRAMES.name,) if is_animation else (),
        ),
        notices=(*notices, OTHER_FRAMES.notice) if is_animation else notices,
    )


def _is_gray(image: Image.Image) -> bool:
    palette = np.frombuffer(bytes(image.getpalette("RGB") or ()), np.uint8).reshape(-1, 3)
    return bool((palette == palette[:, :1]).all())


def encode_gif(picture: Picture, file: BinaryIO, _quality: int) -> None:
    """Write an opaque 8-bit picture as GIF; colors beyond 256 are replaced by similar ones."""
    image = to_image(replace(picture, alpha=None))
    if picture.is_color:
        is_exact = image.getcolors(_MAX_COLORS) is not None
        image = _indexed(picture) if is_exact else image.quantize(_MAX_COLORS, Image.Quantize.MEDIANCUT)
    comments = [block.payload for block in picture.metadata.blocks if block.kind is MetadataKind.COMMENT]
    save_by_pillow(image, "GIF", picture, file, {"comment": b"\n".join(comments)} if comments else {})


def _indexed(picture: Picture) -> Image.Image:
    """Return a picture of few colors with a palette of exactly these."""
    numbers = picture.pixels.astype(np.uint32) @ np.array([65536, 256, 1], np.uint32)
    colors, indices = np.unique(numbers, return_inverse=True)
    image = Image.fromarray(indices.reshape(numbers.shape).astype(np.uint8), "P")
    image.putpalette(colors.astype(">u4").view(np.uint8).reshape(-1, 4)[:, 1:].tobytes())
    return image


GIF = Format(
    name="GIF",
    suffixes=(".gif",),
    mime_types=("image/gif",),
    signature=re.compile(rb"GIF8[79]a"),
    decode=decode_gif,
    encode=encode_gif,
    metadata=frozenset({MetadataKind.COMMENT}),
    has_alpha=False,
    max_colors=_MAX_COLORS,
    max_side=65_535,
)


def decode_tga(data: bytes) -> Picture:
    """Return the picture in a TGA file."""
    image = open_image(TgaImageFile, data)
    if image.mode not in _TARGETS:
        raise DamagedError("its header is wrong")
    target = _TARGETS[image.mode]
    if not data[17] & 15:  # a fourth channel of which no bit is said to be alpha is filling
        target = target.removesuffix("A")
    pixels, alpha = load_pixels(image, target)
    notices = {
        "P": ("The palette was converted to RGB.",),
        "1": ("The 1-bit picture was read as 8-bit gray.",),
    }
    return Picture(pixels, alpha, Metadata(source_format="TGA"), notices=notices.get(image.mode, ()))


def encode_tga(picture: Picture, file: BinaryIO, _quality: int) -> None:
    """Write an 8-bit picture as TGA, with run-length compression."""
    save_by_pillow(to_image(picture), "TGA", picture, file, {"compression": "tga_rle"})


# Files of this format have no signature: their first byte is the length of a text, then follow whether there
# is a palette, the kind of picture, and what is zero without a palette. So it is the last format to be tried.
TGA = Format(
    name="TGA",
    suffixes=(".tga",),
    mime_types=("image/x-tga",),
    signature=re.compile(
        rb".(?:\x00[\x02\x03\x0a\x0b]\x00{5}|\x01[\x01\x09].{4}[\x0f\x10\x18\x20]).{8}"
        rb"[\x01\x08\x0f\x10\x18\x20][\x00-\x3f]",
        re.DOTALL,
    ),
    decode=decode_tga,
    encode=encode_tga,
    metadata=frozenset(),
    max_side=65_535,
)
