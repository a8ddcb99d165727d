"""NPZ: arrays that NumPy has saved together, one of them the picture, one perhaps its mask."""

import io
import re
import zipfile
import zlib
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.format import Format
from inpaint_app.io.formats.arrays.conversion import array_of_picture, has_channels, picture_of_array
from inpaint_app.io.formats.arrays.npy import MAX_HEADER_BYTES, read_header
from inpaint_app.model.picture import Array, Picture

_MASK, _ALPHA, _IMAGE = "mask", "alpha", "image"
_PREFERRED = (_IMAGE, "arr_0", "data")
_MAX_ARRAYS = 1000
_PIECE_BYTES = 2**20


def decode_npz(data: bytes) -> Picture:
    """Return the array of an NPZ file that is called "image", "arr_0" or "data", or else the only one.

    An array "mask" (not 0 = missing) or "alpha" (0 = transparent, white or 1.0 = opaque) belongs to it.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _decode(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise DamagedError("it cannot be unpacked") from error


def _decode(archive: zipfile.ZipFile) -> Picture:
    members = {
        info.filename.removesuffix(".npy"): info
        for info in archive.infolist()[:_MAX_ARRAYS]
        if info.filename.endswith(".npy")
    }
    candidates = [name for name in members if name not in (_MASK, _ALPHA)]
    chosen = next((name for name in _PREFERRED if name in candidates), None)
    if chosen is None and len(candidates) == 1:
        chosen = candidates[0]
    if chosen is None and not candidates:
        raise UnsupportedError("it is a ZIP archive without a NumPy array", "unpack it first")
    if chosen is None:
        names = ", ".join(candidates[:5])
        raise UnsupportedError(f"it holds several arrays ({names})", 'name the picture "image"')
    values = _read(archive, members[chosen])
    channels = has_channels(values.shape)
    alpha = None
    if _MASK in members:
        marked = _read(archive, members[_MASK]) != 0
        alpha = ~_fitted(marked, values, _MASK, channels=channels)
    elif _ALPHA in members:
        opacity = _read(archive, members[_ALPHA])
        white = np.iinfo(opacity.dtype).max if opacity.dtype.kind in "ui" else 1
        alpha = _fitted(opacity, values, _ALPHA, channels=channels) / white
    picture = picture_of_array(values, "NPZ", channels=channels, alpha=alpha)
    if _MASK in members:
        pages = [replace(page, alpha_is_mask=True) for page in picture.more_pages]
        picture = replace(picture, alpha_is_mask=True, more_pages=tuple(pages))
    rest = [name for name in candidates if name != chosen]
    return picture.with_metadata(lost=tuple(f"the array {name[:40]!r}" for name in rest))


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Array:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnsupportedError("it uses a compression that is not supported", "save it with numpy.savez")
    with archive.open(info) as member:
        start = member.read(MAX_HEADER_BYTES)
        header = read_header(start)
        # Deflate reaches 1032 to 1; more is a lie about the size.
        if info.file_size != header.end or info.file_size > 1100 * info.compress_size + 1000:
            raise DamagedError("it has too few or too many values")
        data = bytearray(header.end)  # at once: pieces that are joined take twice the memory
        data[: len(start)] = start
        position = len(start)
        while piece := member.read(_PIECE_BYTES):
            data[position : position + len(piece)] = piece
            position += len(piece)
        if position != header.end:
            raise DamagedError("it ends too early")
        return header.read(data)


def _fitted(values: Array, image: Array, name: str, *, channels: bool) -> Array:
    """Return a mask or alpha, of one page or of all, with the shape of the picture without its channels."""
    wanted = image.shape[:-1] if channels else image.shape
    if values.shape not in (wanted, wanted[-2:]):
        raise UnsupportedError(
            f'its array "{name}" has the shape {values.shape} but the picture has {wanted}',
            "give both the same rows and columns",
        )
    return np.broadcast_to(values, wanted)


def encode_npz(picture: Picture, file: BinaryIO, _quality: int) -> None:
    """Write all pages as one array, and which pixels are missing as a mask."""
    arrays: dict[str, Any] = {_IMAGE: array_of_picture(picture)}
    opacities = [page.alpha for page in picture.pages]
    if any(alpha is not None for alpha in opacities):
        shape, white = picture.pixels.shape[:2], picture.max_value
        whole = np.stack([np.full(shape, white, picture.pixels.dtype) if a is None else a for a in opacities])
        is_mask = bool(np.isin(whole, (0, white)).all())
        whole = whole[0] if len(opacities) == 1 else whole
        arrays |= {_MASK: whole == 0} if is_mask else {_ALPHA: whole}
    packed = io.BytesIO()  # so that a full disk is seen by our own write
    np.savez_compressed(packed, **arrays)
    file.write(packed.getbuffer())


FORMAT = Format(
    name="NPZ",
    suffixes=(".npz",),
    mime_types=(),
    signature=re.compile(rb"PK(?:\x03\x04|\x05\x06)"),
    decode=decode_npz,
    encode=encode_npz,
    depths=(8, 16, 32),
    keeps_arrays=True,
    has_equal_pages=True,
    metadata=frozenset(),
)
