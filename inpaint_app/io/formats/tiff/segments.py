"""The samples of the strips or tiles of a TIFF page."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.formats.shared.bands import row_bands
from inpaint_app.io.formats.tiff.layout import Layout
from inpaint_app.io.formats.tiff.unpack import UNPACKERS, unpack
from inpaint_app.model.picture import Array

Bytes = npt.NDArray[np.uint8]

_REVERSED_BITS = np.array([int(f"{value:08b}"[::-1], 2) for value in range(256)], np.uint8)


@dataclass(frozen=True, eq=False)
class Piece:
    """Some decoded rows, (rows, columns, samples), the first of their samples, and where they belong."""

    samples: Array
    plane: int
    top: int
    left: int

    def put(self, values: Array, page: Array) -> None:
        """Copy values, made of the samples, to where they belong; what lies outside the page is padding."""
        target = page[self.top : self.top + len(values), self.left : self.left + values.shape[1]]
        target[...] = values[: target.shape[0], : target.shape[1]]


def decode_pieces(data: bytes, layout: Layout, indices: Iterable[int] | None = None) -> Iterator[Piece]:
    """Yield the samples of a page, a few megabytes at a time unless a strip or tile is larger.

    With `indices`, only those of some strips or tiles. Raises `DamagedError` or `UnsupportedError` if parts
    are missing, or if their compression is not supported.
    """
    wanted = range(len(layout.offsets)) if indices is None else indices
    if layout.compression not in UNPACKERS:
        yield from _decode_by_tifffile(data, layout, wanted)
        return
    if layout.predictor not in (1, 2, 3) or (layout.predictor != 1 and layout.bits not in (8, 16, 32, 64)):
        raise UnsupportedError(f"its predictor ({layout.predictor}) is not supported", "save it without one")
    is_reversed = layout.page.fillorder == 2
    for index in wanted:
        plane, top, left, n_rows = layout.segment(index)
        packed, size = _packed(data, layout, index), n_rows * layout.row_bytes
        if is_reversed:
            packed = packed.translate(_REVERSED_BITS.tobytes())
        stored = np.frombuffer(unpack(packed, layout.compression, size), np.uint8)
        stored = stored.reshape(n_rows, layout.row_bytes)
        for rows in row_bands(n_rows, layout.row_bytes):
            yield Piece(_samples(stored[rows], layout), plane, top + rows.start, left)


def _packed(data: bytes, layout: Layout, index: int) -> bytes:
    return data[layout.offsets[index] : layout.offsets[index] + layout.counts[index]]


def _decode_by_tifffile(data: bytes, layout: Layout, indices: Iterable[int]) -> Iterator[Piece]:
    """Yield the samples of compressions that need imagecodecs: JPEG, fax, Zstandard, WebP, ..."""
    page = layout.page
    for index in indices:
        packed = _packed(data, layout, index)
        try:
            values, _, shape = page.decode(packed, index, jpegtables=page.jpegtables)
        except MemoryError:
            raise
        except Exception as error:  # each codec has its own
            raise DamagedError("its pixels cannot be unpacked") from error
        if values is None:
            raise DamagedError("parts of its pixels are missing")
        plane, top, left, _ = layout.segment(index)
        yield Piece(np.asarray(values).reshape(shape[1], -1, layout.segment_samples), plane, top, left)


def _samples(rows: Bytes, layout: Layout) -> Array:
    """Return samples, (rows, segment_width, segment_samples), native, predictor undone."""
    shape = (rows.shape[0], layout.segment_width, layout.segment_samples)
    if layout.bits % 8:
        return _unpack_bits(rows, layout).reshape(shape)
    size = layout.bits // 8
    if layout.predictor == 3 and layout.kind == "f":
        step = layout.segment_samples
        summed = np.add.accumulate(rows.reshape(rows.shape[0], -1, step), axis=1, dtype=np.uint8)
        planes = summed.reshape(rows.shape[0], size, -1)  # most significant bytes of a row first
        joined = np.ascontiguousarray(planes.swapaxes(1, 2)).view(f">f{size}")
        return joined.reshape(shape).astype(layout.dtype)
    whole = rows.view(f"{layout.order}u{size}").reshape(shape)
    if layout.predictor == 2:
        whole = np.add.accumulate(whole.astype(f"u{size}"), axis=1, dtype=f"u{size}")
    return whole.astype(f"u{size}", copy=False).view(layout.dtype)


def _unpack_bits(rows: Bytes, layout: Layout) -> Array:
    """Return samples of fewer than 8 or of 9 to 15 bits, packed from the most significant bit on."""
    n_samples = layout.segment_width * layout.segment_samples
    bits = np.unpackbits(rows, axis=1, count=n_samples * layout.bits)
    bits = bits.reshape(rows.shape[0], n_samples, layout.bits)
    values = np.zeros(bits.shape[:2], layout.dtype)
    for index in range(layout.bits):
        values <<= 1
        values |= bits[:, :, index]
    return values
