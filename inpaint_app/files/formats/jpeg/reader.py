"""Read JPEG."""

import re

import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.files.formats.jpeg.header import END, SCAN, Header, read_header
from inpaint_app.files.formats.shared.bands import image_array
from inpaint_app.files.formats.shared.cmyk import cmyk_to_rgb
from inpaint_app.files.formats.shared.photoshop import resource_blocks
from inpaint_app.files.limits import check_size
from inpaint_app.formatting import format_percent
from inpaint_app.image.picture import Array, Picture

_SEQUENTIAL = (0xC0, 0xC1)
_ANY_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")  # not stuffing, fill bytes or restarts
_MODES = {1: ("L", "L"), 3: ("RGB", "RGB"), 4: ("CMYK", "CMYK;I")}  # Adobe stores inks inverted; all follow
# A progressive file may go over the whole picture once per scan. Real ones have about ten; a small file
# with thousands would decode for hours.
_MAX_SCANS = 200
#: Files of which less is left are refused.
_MAX_LOST = 0.9


def decode_jpeg(data: bytes) -> Picture:
    """Return the (first) picture in a JPEG file; the lost part of one that ends too early is transparent."""
    header = read_header(data)
    check_size(*header.size)
    if header.precision != 8:
        raise UnsupportedError(f"it is a {header.precision}-bit JPEG", "convert it to PNG or TIFF first")
    if header.channels not in _MODES:
        raise UnsupportedError(f"it has {header.channels} channels", "convert it to RGB first")
    lost = None
    try:
        pixels = _unpack(_open_ended(data, header), header)
    except DamagedError:
        pixels = _unpack(_closed(data, header), header)
        lost = _lost_part(pixels, header.mcu)
    icc, notices = header.icc, list(header.notices)
    if header.channels == 4:
        pixels, notice = cmyk_to_rgb(pixels, icc)
        icc, notices = None, [notice]
    if header.several:
        notices.append("The file holds more than one picture (such as a depth map): the first was used.")
        header.lost.append("further pictures in the file")
    alpha = None
    if lost is not None:
        alpha = np.where(lost, np.uint8(0), np.uint8(255))
        part = format_percent(float(lost.mean()))
        notices.append(f"The file ends too early: the lost part ({part}) is marked as missing.")
    return Picture(
        pixels,
        alpha,
        exif=header.exif,
        icc=icc,
        dpi=header.dpi,
        source_format="JPEG",
        notices=tuple(notices),
        other_metadata=(*header.blocks, *resource_blocks(bytes(header.resources))),
        lost=tuple(dict.fromkeys(header.lost)),
    )


def _unpack(data: bytes, header: Header) -> Array:
    mode, raw_mode = _MODES[header.channels]
    try:
        return image_array(Image.frombytes(mode, header.size, data, "jpeg", raw_mode, ""))
    except ValueError as error:
        raise DamagedError("it ends too early or its pixels cannot be unpacked") from error


def _closed(data: bytes, header: Header) -> bytes:
    """Return a truncated picture with an end marker: libjpeg fills up what is missing before it.

    Raises `DamagedError` if it has more than one scan: then what is lost is detail everywhere.
    """
    found = _ANY_MARKER.search(data, header.scan_start)
    end = len(data) if found is None else found.start()
    if header.frame not in _SEQUENTIAL or (found is not None and data[end + 1] != END):
        raise DamagedError("it ends too early")
    return data[:end].rstrip(b"\xff") + bytes((0xFF, END))


def _lost_part(pixels: Array, mcu: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """Return where a picture was filled up: from the last unit that holds anything to the end.

    Units (MCU), of so many rows and columns, follow each other in rows; that last one may be incomplete.
    Where colors are stored in half the resolution, units and filling mix at their borders, by a pixel on
    either side.
    """
    height, width = pixels.shape[:2]
    filled: npt.NDArray[np.bool_] = np.asarray(np.atleast_3d(pixels == pixels[-1, -1]).all(axis=2))
    for border in (slice(None, None, mcu[0]), slice(mcu[0] - 1, None, mcu[0])):
        filled[border] = True
    for border in (slice(None, None, mcu[1]), slice(mcu[1] - 1, None, mcu[1])):
        filled[:, border] = True
    rows, columns = np.arange(0, height, mcu[0]), np.arange(0, width, mcu[1])
    units = np.logical_and.reduceat(np.logical_and.reduceat(filled, rows, axis=0), columns, axis=1)
    held = np.flatnonzero(~units)
    first = held[-1] if held.size else 0
    order = np.arange(units.size).reshape(units.shape)
    lost = (order >= first).repeat(mcu[0], axis=0).repeat(mcu[1], axis=1)[:height, :width]
    lost[:-1] |= lost[1:]
    lost[:, :-1] |= lost[:, 1:]
    if lost.mean() > _MAX_LOST:
        raise DamagedError("it ends too early")
    return lost


def _open_ended(data: bytes, header: Header) -> bytes:
    """Return the picture alone; if it has a single sequential scan, without its end marker.

    At an end marker, libjpeg fills up with gray what is missing before it. Without one it asks for more data,
    which is refused; the zeros are what it reads ahead when all is there.
    """
    end, n_scans = _scan_end(data, header.scan_start), 1
    while data[end + 1] != END:
        n_scans += data[end + 1] == SCAN
        if n_scans > _MAX_SCANS:
            raise UnsupportedError("it has more scans than any camera writes", "save it again in an editor")
        end = _scan_end(data, end + 2 + int.from_bytes(data[end + 2 : end + 4]))
    if header.frame in _SEQUENTIAL and n_scans == 1:
        return data[:end] + bytes(8)
    return data[: end + 2]


def _scan_end(data: bytes, start: int) -> int:
    """Return the position of the next marker behind the pixels at `start`."""
    found = _ANY_MARKER.search(data, start)
    if found is None:
        raise DamagedError("it ends too early")
    return found.start()
