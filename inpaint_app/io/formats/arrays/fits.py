"""FITS, the format of astronomy, by astropy."""

import io
import math
import re
import warnings
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.format import Format, PlugIn
from inpaint_app.io.formats.arrays.conversion import array_of_picture, check_array, picture_of_array
from inpaint_app.model.picture import Array, MetadataBlock, MetadataKind, Picture

_CHECKSUM = "CHECKSUM"
#: Bits of a number; negative for floats.
_SIZES = (8, 16, 32, 64, -32, -64)


def decode_fits(data: bytes) -> Picture:
    """Return the first image of a FITS file, all its planes as pages; the other parts are kept as they are.

    The first row of the array is the first row of the picture, as everywhere in Python; astronomical
    programs show it at the bottom.
    """
    from astropy.io import fits  # noqa: PLC0415  (an extra)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            options = {"memmap": False, "disable_image_compression": True, "ignore_blank": True}
            with fits.open(io.BytesIO(data), **options) as units:
                unit = _first_image(units)
                place = unit.fileinfo()
                _check(unit, len(data) - place["datLoc"])
                stored = unit.header.copy()
                values = np.asarray(unit.data)
                header = stored if stored["BITPIX"] > 0 else unit.header  # scaled no more
                blank = stored.get("BLANK")
                is_scaled = stored["BITPIX"] > 0 and values.dtype.kind == "f"
                if is_scaled and isinstance(blank, int):
                    scaled = np.array([blank], values.dtype) * _scale(stored) + _zero(stored)
                    values = np.where(values == scaled.astype(values.dtype), np.nan, values)
        except (OSError, EOFError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise DamagedError("its header or its pixels cannot be read") from error
        parts = (
            data[: place["hdrLoc"]],
            header.tostring().encode("ascii", "replace"),
            data[place["datLoc"] + place["datSpan"] :],
        )
    picture = picture_of_array(values, "FITS", channels=False)
    if is_scaled:
        picture = picture.with_notices(
            f"The scaled whole numbers of the file were read as {values.dtype.name}."
        )
    elif isinstance(blank, int):  # as stored, which is less than the value by BZERO
        no_data = float(blank + _zero(stored))
        first, *others = (page.with_metadata(no_data=no_data) for page in picture.pages)
        picture = replace(first, more_pages=tuple(others))
    blocks = tuple(MetadataBlock(MetadataKind.FITS_HEADER, part) for part in parts)
    return picture.with_metadata(blocks=blocks)


def _scale(header: Any) -> float:  # noqa: ANN401  (of astropy, which has no types)
    return float(header.get("BSCALE", 1))


def _zero(header: Any) -> float:  # noqa: ANN401
    return float(header.get("BZERO", 0))


def _first_image(units: Any) -> Any:  # noqa: ANN401
    from astropy.io import fits  # noqa: PLC0415

    for unit in units:
        if isinstance(unit, fits.GroupsHDU):
            continue
        if isinstance(unit, fits.PrimaryHDU | fits.ImageHDU) and unit.header["NAXIS"]:
            return unit
        if unit.header.get("ZIMAGE"):
            raise UnsupportedError("its image is compressed inside a table", "unpack it with funpack first")
    raise UnsupportedError("it holds no image", "give one that does")


def _check(unit: Any, n_bytes_left: int) -> None:  # noqa: ANN401
    """Refuse, from the header alone, an image that is too large or not all there."""
    bits, n_axes = unit.header["BITPIX"], unit.header["NAXIS"]
    shape = tuple(int(unit.header[f"NAXIS{number}"]) for number in range(n_axes, 0, -1))
    if bits not in _SIZES or any(size < 0 for size in shape):
        raise DamagedError("its header is wrong")
    dtype = np.dtype(f"{'f' if bits < 0 else 'i'}{abs(bits) // 8}")
    check_array(shape, dtype, channels=False)
    if math.prod(shape) * dtype.itemsize > n_bytes_left:
        raise DamagedError("it is truncated")


def encode_fits(picture: Picture, file: BinaryIO, _quality: int) -> None:
    """Write all pages as one image, with the header and the other parts that the file had."""
    from astropy.io import fits  # noqa: PLC0415

    before, text, after = [
        block.payload for block in picture.metadata.blocks if block.kind is MetadataKind.FITS_HEADER
    ] or (b"", b"", b"")
    values = _values(picture)
    packed = io.BytesIO()  # so that a full disk is seen by our own write
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        header = fits.Header.fromstring(text) if text else None
        scaling: dict[str, float] = {}
        if header is not None and header["BITPIX"] > 0 and values.dtype.kind == "f":
            if _can_unscale(picture, values, header):
                scaling = {"BSCALE": _scale(header), "BZERO": _zero(header)}
                values = _unscaled(values, header)
            for name in ("BSCALE", "BZERO") if scaling else ("BSCALE", "BZERO", "BLANK"):
                header.remove(name, ignore_missing=True)
        unit = (fits.ImageHDU if before else fits.PrimaryHDU)(values, header)
        unit.header.update(scaling)
        if header is not None and _CHECKSUM in header:
            unit.add_checksum()
        unit.writeto(packed, output_verify="silentfix+ignore")
    written = packed.getvalue()
    if before:  # astropy puts an empty first unit in front
        written = written[_end_of_first_unit(written) :]
    for part in (before, written, after):
        file.write(part)


def _can_unscale(picture: Picture, values: Array, header: Any) -> bool:  # noqa: ANN401
    """Return whether values can be stored as the scaled whole numbers that the file had."""
    is_same_kind = picture.metadata.array is not None and picture.metadata.array.dtype == values.dtype
    return is_same_kind and ("BLANK" in header or bool(np.isfinite(values).all()))


def _unscaled(values: Array, header: Any) -> Array:  # noqa: ANN401
    """Return whole numbers for scaled values: the one for "no data" where a value is NaN, and only there."""
    bits, blank = header["BITPIX"], header.get("BLANK")
    limits = np.iinfo(np.uint8 if bits == 8 else f"i{bits // 8}")
    exact = np.rint((values.astype(np.float64) - _zero(header)) / _scale(header))
    is_known = np.isfinite(exact)
    whole = np.clip(np.where(is_known, exact, 0), limits.min, limits.max).astype(limits.dtype)
    if isinstance(blank, int) and limits.min <= blank <= limits.max:
        whole[whole == blank] = blank - 1 if blank == limits.max else blank + 1
        whole[~is_known] = blank
    return whole


def _values(picture: Picture) -> Array:
    """Return the array to write: channels, if any, before rows and columns, as FITS has them."""
    if picture.metadata.source_format == "FITS":
        return array_of_picture(picture)
    values = array_of_picture(picture.with_metadata(array=None))
    values = np.moveaxis(values, -1, -3) if picture.n_bands > 1 else values
    return values.astype(np.int16) if values.dtype == np.int8 else values


def _end_of_first_unit(data: bytes) -> int:
    return next(at for at in range(2880, len(data), 2880) if data.startswith(b"XTENSION", at))


FORMAT = Format(
    name="FITS",
    suffixes=(".fits", ".fit", ".fts"),
    mime_types=("image/fits", "application/fits"),
    signature=re.compile(rb"SIMPLE  ="),
    decode=decode_fits,
    encode=encode_fits,
    depths=(8, 16, 32),
    keeps_arrays=True,
    has_equal_pages=True,
    metadata=frozenset({MetadataKind.FITS_HEADER}),
    has_alpha=False,
    plug_in=PlugIn("astropy", "dictsel[fits]"),
)
