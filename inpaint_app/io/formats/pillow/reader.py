"""Read a picture by one of Pillow's plug-ins."""

import io
import warnings
from collections.abc import Iterable
from typing import NamedTuple

from PIL import Image, ImageFile

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.formats.shared.bands import pixels_and_alpha
from inpaint_app.io.limits import check_packed_size
from inpaint_app.model.metadata import Metadata, MetadataBlock, MetadataKind
from inpaint_app.model.picture import Array, Picture

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
        raise DamagedError("it ends too early or its pixels cannot be unpacked") from error


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
