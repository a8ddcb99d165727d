"""How a TIFF file stores its first page, read from its directory and checked."""

from dataclasses import dataclass

import numpy as np

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.files.formats.shared import tags
from inpaint_app.files.formats.shared.ifd import Directory, Order
from inpaint_app.files.limits import MAX_FILE_BYTES, check_size

NO_COMPRESSION, JPEG = 1, 7
FAX = (2, 3, 4)
# LZW, deflate (two numbers), PackBits, LZMA, Zstandard
PACKED = (5, 8, 32946, 32773, 34925, 50000)
_KNOWN = {6: "old-style JPEG", 34712: "JPEG 2000", 34887: "LERC", 50001: "WebP", 50002: "JPEG XL"}

MIN_IS_WHITE, MIN_IS_BLACK, RGB, PALETTE, CMYK, YCBCR = 0, 1, 2, 3, 5, 6
_RAW_CAMERA = (32803, 34892)
_KINDS = {1: "u", 2: "i", 3: "f", 4: "u"}


@dataclass(frozen=True)
class Layout:
    """Storage of one page.

    The page is cut into segments (strips or tiles) of `segment_height` x `segment_width` pixels; a strip is
    as wide as the page. With separate planes each segment holds one of the samples, else all.

    Attributes
    ----------
    kind : str
        "u" unsigned, "i" signed, "f" floating point.
    bits : int
        Bits per sample.
    extra : tuple of int
        Meaning of the samples beyond gray or RGB: 1 premultiplied alpha, 2 alpha, 0 something else.
    """

    width: int
    height: int
    samples: int
    bits: int
    kind: str
    order: Order
    compression: int
    photometric: int
    predictor: int
    reversed_bits: bool
    separate: bool
    tiled: bool
    segment_width: int
    segment_height: int
    offsets: tuple[int, ...]
    counts: tuple[int, ...]
    extra: tuple[int, ...] | None

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


def read_layout(directory: Directory) -> Layout:
    """Return the layout that a directory describes."""
    _refuse_raw_camera(directory)
    width, height = directory.integer(tags.WIDTH, 0), directory.integer(tags.HEIGHT, 0)
    check_size(width, height)
    samples = directory.integer(tags.SAMPLES, 1)
    if not 1 <= samples <= 16:
        raise UnsupportedError(f"it has {samples} channels", "save it as gray or RGB first")
    bits, kind = _sample_type(directory, samples)
    tiled = tags.TILE_WIDTH in directory.fields
    separate = directory.integer(tags.PLANAR, 1) == 2 and samples > 1
    segment_width = directory.integer(tags.TILE_WIDTH, 0) if tiled else width
    strip_rows = min(directory.integer(tags.STRIP_ROWS, height), height)
    segment_height = directory.integer(tags.TILE_HEIGHT, 0) if tiled else strip_rows
    check_size(segment_width, segment_height)
    layout = Layout(
        width=width,
        height=height,
        samples=samples,
        bits=bits,
        kind=kind,
        order=directory.order,
        compression=_compression(directory),
        photometric=directory.integer(tags.PHOTOMETRIC, RGB if samples > 2 else MIN_IS_BLACK),
        predictor=directory.integer(tags.PREDICTOR, 1),
        reversed_bits=directory.integer(tags.FILL_ORDER, 1) == 2,
        separate=separate,
        tiled=tiled,
        segment_width=segment_width,
        segment_height=segment_height,
        offsets=directory.integers(tags.TILE_OFFSETS if tiled else tags.STRIP_OFFSETS),
        counts=directory.integers(tags.TILE_COUNTS if tiled else tags.STRIP_COUNTS),
        extra=directory.integers(tags.EXTRA_SAMPLES) if tags.EXTRA_SAMPLES in directory.fields else None,
    )
    return _checked(layout, len(directory.data))


def _refuse_raw_camera(directory: Directory) -> None:
    photometric = directory.integer(tags.PHOTOMETRIC, 1)
    is_preview = directory.integer(tags.SUBFILE_TYPE, 0) & 1
    if tags.DNG_VERSION in directory.fields or photometric in _RAW_CAMERA or is_preview:
        raise UnsupportedError("it is a raw camera file", "develop it to a 16-bit TIFF first")


def _compression(directory: Directory) -> int:
    compression = directory.integer(tags.COMPRESSION, 1)
    if compression in (NO_COMPRESSION, JPEG, *FAX, *PACKED):
        return compression
    name = _KNOWN.get(compression, f"type {compression}")
    raise UnsupportedError(f"its compression ({name}) is not read here", "save it with LZW or deflate")


def _sample_type(directory: Directory, samples: int) -> tuple[int, str]:
    """Return bits per sample and "u", "i" or "f"."""
    bits = directory.integers(tags.BITS, (1,))
    formats = directory.integers(tags.SAMPLE_FORMAT, (1,))
    if len(set(bits[:samples])) > 1 or len(set(formats[:samples])) > 1:
        raise UnsupportedError("its channels have different depths", "save it as gray or RGB first")
    depth, kind = bits[0], _KINDS.get(formats[0])
    if kind is None:
        raise UnsupportedError("it holds complex numbers", "save it as float32 first")
    allowed = {"u": (*range(1, 17), 32, 64), "i": (8, 16, 32, 64), "f": (16, 32, 64)}[kind]
    if depth not in allowed:
        raise UnsupportedError(f"it has {depth} bits per channel", "save it with 8, 16 or 32 bits first")
    return depth, kind


def _checked(layout: Layout, file_size: int) -> Layout:
    """Refuse segments that are missing, lie outside the file or are absurdly large."""
    expected = layout.across * layout.down * (layout.samples if layout.separate else 1)
    counts, size = layout.counts, layout.row_bytes * layout.segment_height
    if not counts and layout.compression == NO_COMPRESSION and expected == 1 and len(layout.offsets) == 1:
        counts = (size,)  # some old programs leave it out
    if layout.compression == NO_COMPRESSION:
        counts = tuple(min(count, size) for count in counts)  # some programs count too much
    if len(layout.offsets) < expected or len(counts) < expected:
        raise DamagedError("parts of its pixels are missing")
    if any(offset + count > file_size for offset, count in zip(layout.offsets, counts, strict=False)):
        raise DamagedError("it ends too early")
    if sum(counts[:expected]) > 2 * file_size:  # or a small file could be copied a million times
        raise DamagedError("its parts lie on top of each other")
    unpacked = expected * size
    if unpacked > MAX_FILE_BYTES:
        raise UnsupportedError("its pixels need more than 4 GB", "crop it or scale it down first")
    # The best that the packings reach is 2,700 (LZW of one colour); Zstandard could do better in theory.
    if unpacked > 4000 * sum(counts[:expected]) + 1_000_000:
        raise DamagedError("it ends too early")
    return Layout(**{**layout.__dict__, "offsets": layout.offsets[:expected], "counts": counts[:expected]})
