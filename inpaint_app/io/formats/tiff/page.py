"""A page of a TIFF file whose pixels can be read: checked, its channels known, decoded by tifffile."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import tifffile

from inpaint_app.errors import DamagedError, TooLargeError, UnsupportedError
from inpaint_app.io.format import MAX_FILE_BYTES, check_size
from inpaint_app.io.formats.arrays.conversion import accepted_dtype, to_accepted
from inpaint_app.io.formats.shared import tags
from inpaint_app.io.formats.shared.pixels import cmyk_to_rgb, row_bands, stretch
from inpaint_app.io.formats.tiff.lzw import check_lzw
from inpaint_app.model.picture import Array, full_scale

MIN_IS_WHITE, MIN_IS_BLACK, RGB, PALETTE, CMYK, YCBCR = 0, 1, 2, 3, 5, 6
NO_COMPRESSION, JPEG, _OLD_JPEG, _LZW = 1, 7, 6, 5
#: Compressions that tifffile unpacks no further than to the size of a strip or tile.
_GENERAL = frozenset({1, 5, 8, 32946, 32773, 34925})
#: Those whose decoders refuse more bytes than wanted: deflate, PackBits, Zstandard.
_REFUSE_MORE = frozenset({8, 32946, 32773, 50000, 34926})
_REVERSED_BITS = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_RAW_CAMERA = (32803, 34892)
_KINDS = {1: "u", 2: "i", 3: "f", 4: "u"}
_BITS = {"u": (*range(1, 17), 32, 64), "i": (8, 16, 32, 64), "f": (16, 32, 64)}
_MAX_SAMPLES = 4096
_NAMES = {4: "a mask", 6: "YCbCr", 8: "CIE Lab", 9: "ICC Lab", 10: "ITU Lab", 32844: "LogL", 32845: "LogLuv"}
_STORED = {MIN_IS_WHITE: 1, MIN_IS_BLACK: 1, RGB: 3, PALETTE: 1, CMYK: 4}
_PREMULTIPLIED, _STRAIGHT = 1, 2


class Channels(NamedTuple):
    """Which samples of a pixel are used, and notices about the others.

    `bands` hold the color (a place in the palette, 4 inks) or other bands; `alpha` is declared to be that,
    and the colors may be multiplied with it.
    """

    bands: tuple[int, ...]
    alpha: int | None
    is_premultiplied: bool
    notices: tuple[str, ...]


class Piece(NamedTuple):
    """Samples of a strip or tile, (rows, columns, samples), the first of them, and where they belong."""

    samples: Array
    plane: int
    top: int
    left: int

    def put(self, values: Array, page: Array) -> None:
        """Copy values, made of the samples, to where they belong; what lies outside the page is padding."""
        target = page[self.top : self.top + len(values), self.left : self.left + values.shape[1]]
        target[...] = values[: target.shape[0], : target.shape[1]]


@dataclass(frozen=True, eq=False)
class StoredPage:
    """A page, and where its strips or tiles lie in the file."""

    page: Any  #: What tifffile knows of it.
    bits: int  #: Of a sample.
    kind: str  #: "u" unsigned, "i" signed, "f" floating point.
    channels: Channels
    offsets: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width, and number of samples."""
        return self.page.imagelength, self.page.imagewidth, self.page.samplesperpixel

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Native dtype that holds a sample."""
        return np.dtype(f"{self.kind}{-(-self.bits // 8) if self.bits < 16 else self.bits // 8}")

    @property
    def is_separate(self) -> bool:
        """Whether each strip or tile holds one of several samples."""
        return bool(self.page.planarconfig == 2 and self.page.samplesperpixel > 1)

    @property
    def segment_shape(self) -> tuple[int, int]:
        """Height and width of a strip or tile."""
        if self.page.is_tiled:
            return self.page.tilelength, self.page.tilewidth
        return min(self.page.rowsperstrip, self.page.imagelength), self.page.imagewidth

    @property
    def grid(self) -> tuple[int, int, int]:
        """Number of planes, and of strips or tiles of each, down and across."""
        height, width = self.segment_shape
        planes = self.page.samplesperpixel if self.is_separate else 1
        return planes, -(-self.page.imagelength // height), -(-self.page.imagewidth // width)

    @property
    def segment_bytes(self) -> int:
        """Number of bytes of an unpacked strip or tile."""
        height, width = self.segment_shape
        samples = 1 if self.is_separate else self.page.samplesperpixel
        return height * -(-width * samples * self.bits // 8)

    @property
    def keeps_values(self) -> bool:
        """Whether pixels have the values of the file, so that its "no data" means the same of them."""
        is_stretched = self.kind == "u" and self.bits < 16 and self.bits != 8
        is_inverted = self.kind == "u" and self.page.photometric == MIN_IS_WHITE
        return not (is_stretched or is_inverted or self.page.photometric in (PALETTE, CMYK))

    def decode(self, data: bytes, indices: Iterable[int] | None = None) -> Iterator[Piece]:
        """Yield the samples of all strips or tiles, or of some, in bands of rows.

        Raises `DamagedError` if they are not there.
        """
        for index in range(len(self.offsets)) if indices is None else indices:
            packed = data[self.offsets[index] : self.offsets[index] + self.counts[index]]
            values, place = self._unpacked(packed, index)
            if values is None:
                raise DamagedError("parts of its pixels are missing")
            samples = np.asarray(values)[0]  # of tiles at the edge there may be fewer than of others
            samples = samples.view(np.uint8) if samples.dtype == np.bool_ else samples
            for rows in row_bands(len(samples), samples[:1].nbytes):
                yield Piece(samples[rows], place[0], place[2] + rows.start, place[3])

    def _unpacked(self, packed: bytes, index: int) -> tuple[Any, Any]:
        """Return samples, (1, rows, columns, samples), and their place, as tifffile does."""
        if self.page.compression == _LZW:
            check_lzw(packed.translate(_REVERSED_BITS) if self.page.fillorder == 2 else packed)
        try:
            try:
                values, place, _ = self.page.decode(packed, index, jpegtables=self.page.jpegtables)
            except (RuntimeError, ValueError):  # some programs fill strips up, or write a few bytes too many
                if self.page.compression not in _REFUSE_MORE:
                    raise
                values, place, _ = self.page.decode(self._cut(packed, index), index)
        except MemoryError:
            raise
        except Exception as error:  # each codec has its own
            raise DamagedError("its pixels cannot be unpacked") from error
        return values, place

    def _cut(self, packed: bytes, index: int) -> bytes:
        """Return the packed bytes of a strip or tile without those that do not belong to it."""
        number, is_reversed = int(self.page.compression), self.page.fillorder == 2
        packed = packed.translate(_REVERSED_BITS) if is_reversed else packed
        unpacked = tifffile.TIFF.DECOMPRESSORS[number](packed, out=2 * self.segment_bytes + 1_000_000)
        height, n_rows = self.segment_shape[0], self.shape[0]
        below = height if self.page.is_tiled else n_rows - index % self.grid[1] * height
        size = self.segment_bytes // height * min(height, below)
        cut = bytes(tifffile.TIFF.COMPRESSORS[number](unpacked[:size]))
        return cut.translate(_REVERSED_BITS) if is_reversed else cut


def check_page(page: tifffile.TiffPage, file_size: int, *, is_limited: bool = True) -> StoredPage:
    """Return a page of a file of some size as it is stored.

    A page that will be read in parts is not `is_limited` in its size. Raises `DamagedError` or
    `UnsupportedError` if parts are missing, lie outside the file or are absurdly large, or if it is no
    picture.
    """
    photometric, samples = int(page.photometric), page.samplesperpixel
    if tags.DNG_VERSION in page.tags or photometric in _RAW_CAMERA or (page.index == 0 and page.is_reduced):
        raise UnsupportedError("it is a raw camera file", "develop it to a 16-bit TIFF first")
    if is_limited:
        check_size(page.imagewidth, page.imagelength)
    if not 1 <= samples <= _MAX_SAMPLES or page.imagedepth != 1:
        raise UnsupportedError(f"it has {samples} channels", "save it as gray or RGB first")
    bits, kind = _sample_type(page)
    _check_compression(page, bits, kind)
    stored = StoredPage(page, bits, kind, _channels(page, bits, kind))
    if is_limited:
        check_size(*stored.segment_shape[::-1])
    return _with_places(stored, file_size, is_limited=is_limited)


def _check_compression(page: tifffile.TiffPage, bits: int, kind: str) -> None:
    """Refuse a compression or a predictor that cannot be decoded."""
    number, known = int(page.compression), getattr(page.compression, "name", None)
    if number == _OLD_JPEG or (number != NO_COMPRESSION and number not in tifffile.TIFF.DECOMPRESSORS):
        name = known.replace("_", " ") if known else f"type {number}"
        raise UnsupportedError(f"its compression ({name}) is not supported", "save it with LZW or deflate")
    is_predicted = page.predictor in ((2, 3) if kind == "f" else (2,)) and bits in (8, 16, 32, 64)
    if number in _GENERAL and page.predictor != 1 and not is_predicted:
        raise UnsupportedError(f"its predictor ({page.predictor}) is not supported", "save it without one")


def _sample_type(page: tifffile.TiffPage) -> tuple[int, str]:
    """Return bits per sample and "u", "i" or "f"."""
    for number in (tags.BITS, tags.SAMPLE_FORMAT):
        values = page.tags[number].value if number in page.tags else ()
        if isinstance(values, tuple) and len(set(values[: page.samplesperpixel])) > 1:
            raise UnsupportedError("its channels have different depths", "save it as gray or RGB first")
    bits, kind = int(page.bitspersample), _KINDS.get(int(page.sampleformat or 1))
    if kind is None:
        raise UnsupportedError("it holds complex numbers", "save it as float32 first")
    if bits not in _BITS[kind]:
        raise UnsupportedError(f"it has {bits} bits per channel", "save it with 8, 16 or 32 bits first")
    return bits, kind


def _with_places(stored: StoredPage, file_size: int, *, is_limited: bool) -> StoredPage:
    """Refuse strips or tiles that are missing, lie outside the file or are absurdly large."""
    planes, down, across = stored.grid
    expected, size, compression = planes * down * across, stored.segment_bytes, int(stored.page.compression)
    offsets, counts = stored.page.dataoffsets, stored.page.databytecounts
    if compression == NO_COMPRESSION and expected == 1 and len(offsets) == 1:
        counts = (size,)  # some old programs leave it out, others count too much
    if len(offsets) < expected or len(counts) < expected:
        raise DamagedError("parts of its pixels are missing")
    offsets, counts = tuple(offsets[:expected]), tuple(counts[:expected])
    if compression == NO_COMPRESSION:
        counts = tuple(min(count, size) for count in counts)
    if any(offset + count > file_size for offset, count in zip(offsets, counts, strict=True)):
        raise DamagedError("it is truncated")
    if sum(counts) > 2 * file_size:  # or a small file could be copied a million times
        raise DamagedError("its parts lie on top of each other")
    if is_limited and expected * size > MAX_FILE_BYTES:
        raise TooLargeError("its pixels need more than 4 GB", "crop it or scale it down first")
    # The best that the compressions reach is 2,700 (LZW of one color).
    n_packed = expected if is_limited else np.count_nonzero(counts)  # a part without bytes holds "no data"
    if compression in _GENERAL and n_packed * size > 4000 * sum(counts) + 1_000_000:
        raise DamagedError("it is truncated")
    return StoredPage(stored.page, stored.bits, stored.kind, stored.channels, offsets, counts)


def _channels(page: tifffile.TiffPage, bits: int, kind: str) -> Channels:
    """Return which samples are used; raises `UnsupportedError` if the colors are not known here."""
    photometric, samples = int(page.photometric), page.samplesperpixel
    if photometric == CMYK and (kind != "u" or bits not in (8, 16)):
        raise UnsupportedError("it is CMYK of an unusual depth", "save it as RGB first")
    n_stored = 3 if (photometric, page.compression) == (YCBCR, JPEG) else _STORED.get(photometric)
    if n_stored is None:
        name = _NAMES.get(photometric, f"type {photometric}")
        raise UnsupportedError(f"its colors ({name}) are not supported", "save it as gray or RGB first")
    if n_stored > samples:
        raise DamagedError(f"it has {samples} channels where its colors need {n_stored}")
    others = range(n_stored, samples)
    meanings = dict(zip(others, (*map(int, page.extrasamples), *[0] * len(others)), strict=False))
    alpha = next((at for at in others if meanings[at] in (_PREMULTIPLIED, _STRAIGHT)), None)
    more, notices = tuple(at for at in others if at != alpha), []
    if more and photometric in (PALETTE, CMYK):
        notices.append("Channels other than the colors were left out.")
        more = ()
    if photometric in (MIN_IS_WHITE, MIN_IS_BLACK) and n_stored + len(more) == 3:
        notices.append("Three gray channels were read as red, green and blue.")
    is_premultiplied = alpha is not None and meanings[alpha] == _PREMULTIPLIED
    return Channels((*range(n_stored), *more), alpha, is_premultiplied, tuple(notices))


def read_pixels(
    data: bytes, stored: StoredPage, icc: bytes | None
) -> tuple[Array, Array | None, tuple[str, ...]]:
    """Return pixels, alpha, and notices about what was converted."""
    dtype, notices = _accepted_type(stored)
    channels, photometric = stored.channels, int(stored.page.photometric)
    is_converted, shape = photometric in (PALETTE, CMYK), stored.shape[:2]
    table = _palette(stored) if photometric == PALETTE else None
    pixels = np.empty((*shape, len(channels.bands)), stored.dtype if is_converted else dtype)
    alpha = None if channels.alpha is None else np.empty((*shape, 1), dtype)
    for piece in stored.decode(data):
        held = range(piece.plane, piece.plane + piece.samples.shape[2])
        here = [(to, at - piece.plane) for to, at in enumerate(channels.bands) if at in held]
        if here:
            bands = piece.samples[..., [at for _, at in here]]
            values = bands if is_converted else _color(bands, stored)
            piece.put(values, pixels[..., here[0][0] : here[-1][0] + 1])
        if alpha is not None and channels.alpha is not None and channels.alpha in held:
            at = channels.alpha - piece.plane
            piece.put(_accept(piece.samples[..., at : at + 1], stored), alpha)
    if photometric == CMYK:
        pixels, notice = cmyk_to_rgb(pixels, icc)
        notices = (notice,)
    elif table is not None:
        pixels, notices = _look_up(pixels[..., 0], table), ("The palette was converted to RGB.",)
    pixels = pixels[..., 0] if pixels.shape[2] == 1 else pixels
    opacity = None if alpha is None else alpha[..., 0]
    if opacity is not None and channels.is_premultiplied:
        unmultiply(pixels, opacity)
    return pixels, opacity, notices


def _accepted_type(stored: StoredPage) -> tuple[np.dtype[np.generic], tuple[str, ...]]:
    """Return the dtype that the picture will have, with a notice where that is not the file's own."""
    bits, kind = stored.bits, stored.kind
    if kind == "u" and bits <= 16:
        dtype = np.dtype(np.uint8 if bits <= 8 else np.uint16)
        if bits not in (8, 16):
            return dtype, (f"The {bits}-bit values were stretched to {8 * dtype.itemsize} bits.",)
        return dtype, ("The picture has 16 bits per channel.",) if bits == 16 else ()
    if bits == (16 if kind == "f" else 64):
        name = "float16 values" if kind == "f" else "64-bit integers"
        dtype = accepted_dtype(stored.dtype)
        return dtype, (f"The {name} are kept exactly, as {dtype.name}.",)
    return accepted_dtype(stored.dtype), ()


def _accept(samples: Array, stored: StoredPage) -> Array:
    """Return samples in the accepted dtype."""
    if stored.kind == "u" and stored.bits <= 16:
        return stretch(samples, 2**stored.bits - 1)
    return to_accepted(samples)


def _color(samples: Array, stored: StoredPage) -> Array:
    """Return gray or RGB samples, bright where they are large."""
    values = _accept(samples, stored)
    if stored.page.photometric == MIN_IS_WHITE and values.dtype.kind == "u":
        return np.iinfo(values.dtype).max - values
    return values


def _palette(stored: StoredPage) -> Array:
    """Return the colors of the palette, (n, 3), uint8."""
    tag = stored.page.tags.get(tags.COLOR_MAP)
    colors = np.ravel(() if tag is None else tag.value)
    if stored.bits > 8 or stored.kind != "u" or len(colors) != 3 * 2**stored.bits:
        raise DamagedError("its palette is wrong")
    table = colors.astype(np.uint16).reshape(3, -1).T
    shift = 8 if table.max() > 255 else 0  # some programs store 8-bit colors
    return (table >> shift).astype(np.uint8)


def _look_up(indices: Array, table: Array) -> Array:
    rgb = np.empty((*indices.shape, 3), np.uint8)
    for rows in row_bands(indices.shape[0], 3 * indices.shape[1]):
        rgb[rows] = table[indices[rows]]
    return rgb


def unmultiply(pixels: Array, alpha: Array) -> None:
    """Divide colors by alpha, the file having them multiplied; values under alpha = 0 stay as stored."""
    top = full_scale(alpha.dtype)
    for rows in row_bands(alpha.shape[0], 8 * pixels[:1].size):
        partly = (alpha[rows] > 0) & (alpha[rows] < top)
        if not bool(partly.any()):
            continue
        factor = top / alpha[rows][partly].astype(np.float64)
        values = pixels[rows][partly] * (factor[:, np.newaxis] if pixels.ndim == 3 else factor)
        pixels[rows][partly] = np.minimum(np.rint(values), top) if pixels.dtype.kind == "u" else values
