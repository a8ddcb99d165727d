"""Read and write a picture by one of Pillow's plug-ins."""

import io
import warnings
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from PIL import Image, ImageFile

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.format import Encoder, check_packed_size
from inpaint_app.io.formats.shared.pixels import pixels_and_alpha
from inpaint_app.model.picture import Array, Metadata, MetadataBlock, MetadataKind, Picture

_BROKEN = (OSError, EOFError, SyntaxError, ValueError, KeyError, IndexError, TypeError, AssertionError)


def open_image(plug_in: type[ImageFile.ImageFile], data: bytes) -> ImageFile.ImageFile:
    """Return an image of which only the header has been read; refuse it if it says it has too many pixels."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = plug_in(io.BytesIO(data))
    except Image.DecompressionBombError as error:
        raise UnsupportedError("it has more than 178 million pixels", "scale it down first") from error
    except _BROKEN as error:
        raise DamagedError("its header is wrong") from error
    check_packed_size(*image.size, len(data))
    return image


def load_pixels(image: ImageFile.ImageFile, mode: str | None = None) -> tuple[Array, Array | None]:
    """Return pixels and alpha after conversion to "L", "LA", "RGB" or "RGBA"; by default as they are."""
    size = image.size
    try:
        image.load()
        if image.size != size:
            raise DamagedError("its header is wrong")
        return pixels_and_alpha(image, mode or image.mode)
    except Image.DecompressionBombError as error:
        raise UnsupportedError("it has more than 178 million pixels", "scale it down first") from error
    except _BROKEN as error:
        raise DamagedError("it is truncated or its pixels cannot be unpacked") from error


class Loss(NamedTuple):
    """What is lost when a picture is read: its name, and a sentence about it."""

    name: str
    notice: str

    @classmethod
    def of_depth(cls, bits: int) -> "Loss":
        """Return the loss of a picture of more than 8 bits per channel, of which 8 are read."""
        return cls(f"{bits} bits per channel", f"The {bits}-bit picture was read as 8-bit.")


OTHER_FRAMES = Loss(
    "the other frames of the animation", "The file is an animation: its first frame was used."
)


def picture_of_image(
    image: Image.Image, name: str, pixels: Array, alpha: Array | None, losses: Iterable[Loss] = ()
) -> Picture:
    """Return a picture with the EXIF information, color profile and XMP that Pillow found."""
    packet = image.info.get("xmp")
    return Picture(
        pixels,
        alpha,
        Metadata(
            exif=image.info.get("exif"),
            icc=image.info.get("icc_profile"),
            source_format=name,
            blocks=(MetadataBlock(MetadataKind.XMP, packet),) if isinstance(packet, bytes) and packet else (),
            lost=tuple(loss.name for loss in losses),
        ),
        notices=tuple(loss.notice for loss in losses),
    )


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
