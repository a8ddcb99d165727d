"""How a TIFF page stores its pixels, as tifffile reads it from the directory, checked."""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import tifffile

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.formats.shared import tags
from inpaint_app.io.formats.tiff.unpack import UNPACKERS
from inpaint_app.io.limits import MAX_FILE_BYTES, check_size

MIN_IS_WHITE, MIN_IS_BLACK, RGB, PALETTE, CMYK, YCBCR = 0, 1, 2, 3, 5, 6
JPEG, _OLD_JPEG = 7, 6
_RAW_CAMERA = (32803, 34892)
_KINDS = {1: "u", 2: "i", 3: "f", 4: "u"}
_MAX_SAMPLES = 4096


@dataclass(frozen=True, eq=False)
class Layout:
    """Storage of one page.

    The page is cut into segments (strips or tiles) of `segment_height` x `segment_width` pixels; a strip is
    as wide as the page. With separate planes each segment holds one of the samples, else all.
    """

    page: Any  #: What tifffile knows of it.
    order: str  #: "<" or ">".
    width: int
    height: int
    samples: int
    bits: int  #: Bits per sample.
    kind: str  #: "u" unsigned, "i" signed, "f" floating point.
    compression: int
    photometric: int
    predictor: int
    separate: bool
    segment_width: int
    segment_height: int
    offsets: tuple[int, ...]
    counts: tuple[int, ...]
    #: Meaning of the samples beyond gray or RGB: 1 premultiplied alpha, 2 alpha, 0 something else.
    extra: tuple[int, ...]

    @property
    def across(self) -> int:
        """Number of segments side by side."""
        return -(-self.width // self.segment_width)

    @property
    def down(self) -> int:
        """Number of segments below each other."""
        return -(-self.height // self.segment_height)

    @property
    def segment_samples(self) -> int:
        """Number of samples per pixel in a segment."""
        return 1 if self.separate else self.samples

    @property
    def row_bytes(self) -> int:
        """Number of bytes of a row of a segment."""
        return (self.segment_width * self.segment_samples * self.bits + 7) // 8

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Native dtype that holds a sample."""
        size = self.bits // 8 if self.bits % 8 == 0 else 1 + self.bits // 8
        return np.dtype(f"{self.kind}{size}")

    def segment(self, index: int) -> tuple[int, int, int, int]:
        """Return plane, top row, left column and number of rows of a segment."""
        plane, within = divmod(index, self.across * self.down)
        top = within // self.across * self.segment_height
        rows = self.segment_height if self.page.is_tiled else min(self.segment_height, self.height - top)
        return plane, top, within % self.across * self.segment_width, rows


def read_layout(page: tifffile.TiffPage, file_size: int, *, is_limited: bool = True) -> Layout:
    """Return the layout of a page of a file of some size.

    A page that will be read in parts is not `is_limited` in its size. Raises `DamagedError` or
    `UnsupportedError` if parts are missing, lie outside the file or are absurdly large, or if it is no
    picture.
    """
    photometric = int(page.photometric)
    if tags.DNG_VERSION in page.tags or photometric in _RAW_CAMERA or (page.index == 0 and page.is_reduced):
        raise UnsupportedError("it is a raw camera file", "develop it to a 16-bit TIFF first")
    if is_limited:
        check_size(page.imagewidth, page.imagelength)
    samples = page.samplesperpixel
    if not 1 <= samples <= _MAX_SAMPLES or page.imagedepth != 1:
        raise UnsupportedError(f"it has {samples} channels", "save it as gray or RGB first")
    bits, kind = _sample_type(page, samples)
    is_tiled = page.is_tiled
    layout = Layout(
        page=page,
        order=page.parent.byteorder,
        width=page.imagewidth,
        height=page.imagelength,
        samples=samples,
        bits=bits,
        kind=kind,
        compression=int(page.compression),
        photometric=photometric,
        predictor=int(page.predictor),
        separate=page.planarconfig == 2 and samples > 1,
        segment_width=page.tilewidth if is_tiled else page.imagewidth,
        segment_height=page.tilelength if is_tiled else min(page.rowsperstrip, page.imagelength),
        offsets=page.dataoffsets,
        counts=page.databytecounts,
        extra=tuple(map(int, page.extrasamples)),
    )
    if is_limited:
        check_size(layout.segment_width, layout.segment_height)
    _check_compression(layout)
    return _checked(layout, file_size, is_limited=is_limited)


def _check_compression(layout: Layout) -> None:
    """Refuse a compression that cannot be decoded with what is installed."""
    number, known = layout.compression, getattr(layout.page.compression, "name", None)
    if number in UNPACKERS or (number != _OLD_JPEG and number in tifffile.TIFF.DECOMPRESSORS):
        return
    name = known.replace("_", " ") if known else f"type {number}"
    if known and number != _OLD_JPEG and find_spec("imagecodecs") is None:
        raise UnsupportedError(
            f"its compression ({name}) needs imagecodecs", "install dictsel[codecs], or save it with LZW"
        )
    raise UnsupportedError(f"its compression ({name}) is not supported", "save it with LZW or deflate")


def _sample_type(page: tifffile.TiffPage, samples: int) -> tuple[int, str]:
    """Return bits per sample and "u", "i" or "f"."""
    for number in (tags.BITS, tags.SAMPLE_FORMAT):
        values = page.tags[number].value if number in page.tags else ()
        if isinstance(values, tuple) and len(set(values[:samples])) > 1:
            raise UnsupportedError("its channels have different depths", "save it as gray or RGB first")
    bits, kind = int(page.bitspersample), _KINDS.get(int(page.sampleformat or 1))
    if kind is None:
        raise UnsupportedError("it holds complex numbers", "save it as float32 first")
    allowed = {"u": (*range(1, 17), 32, 64), "i": (8, 16, 32, 64), "f": (16, 32, 64)}[kind]
    if bits not in allowed:
        raise UnsupportedError(f"it has {bits} bits per channel", "save it with 8, 16 or 32 bits first")
    return bits, kind


def _checked(layout: Layout, file_size: int, *, is_limited: bool) -> Layout:
    """Refuse segments that are missing, lie outside the file or are absurdly large."""
    expected = layout.across * layout.down * (layout.samples if layout.separate else 1)
    offsets, counts, size = layout.offsets, layout.counts, layout.row_bytes * layout.segment_height
    is_plain = layout.compression == 1
    if is_plain and expected == 1 and len(offsets) == 1:
        counts = (size,)  # some old programs leave it out, others count too much
    if len(offsets) < expected or len(counts) < expected:
        raise DamagedError("parts of its pixels are missing")
    offsets, counts = tuple(offsets[:expected]), tuple(counts[:expected])
    if is_plain:
        counts = tuple(min(count, size) for count in counts)
    if any(offset + count > file_size for offset, count in zip(offsets, counts, strict=True)):
        raise DamagedError("it ends too early")
    if sum(counts) > 2 * file_size:  # or a small file could be copied a million times
        raise DamagedError("its parts lie on top of each other")
    if is_limited and expected * size > MAX_FILE_BYTES:
        raise UnsupportedError("its pixels need more than 4 GB", "crop it or scale it down first")
    # The best that the compressions reach is 2,700 (LZW of one color).
    n_packed = expected if is_limited else np.count_nonzero(counts)  # a part without bytes holds "no data"
    if layout.compression in UNPACKERS and n_packed * size > 4000 * sum(counts) + 1_000_000:
        raise DamagedError("it ends too early")
    return replace(layout, offsets=offsets, counts=counts)
