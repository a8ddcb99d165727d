"""GIF: read and write, with at most 256 colors."""

import re
from dataclasses import replace
from typing import BinaryIO

import numpy as np
from PIL import Image
from PIL.GifImagePlugin import GifImageFile

from inpaint_app.io.format import Format
from inpaint_app.io.formats.pillow.codec import (
    OTHER_FRAMES,
    load_pixels,
    open_image,
    save_by_pillow,
    to_image,
)
from inpaint_app.model.metadata import Metadata, MetadataBlock, MetadataKind
from inpaint_app.model.picture import Picture

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


FORMAT = Format(
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
