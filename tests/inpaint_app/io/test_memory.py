"""A file takes memory in proportion to its own size and to the picture in it, not a multiple of them."""

import io
import string
import struct
import zlib
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from build_png import CHANNELS, chunk
from build_tiff import directory, header
from memory import reading_megabytes
from PIL import Image

from inpaint_app.errors import UserError
from inpaint_app.io.format import check_packed_size
from inpaint_app.io.read import read_picture

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is Linux's to tell")

WIDTH, HEIGHT = 4000, 3000
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def flat_png(depth: int, kind: int, *, extra: bytes = b"") -> bytes:
    """A black picture, packed a thousandfold."""
    row = bytes(1 + (WIDTH * CHANNELS[kind] * depth + 7) // 8)
    return _png(WIDTH, HEIGHT, depth, kind, extra + chunk(b"IDAT", zlib.compress(row * HEIGHT)))


def _png(width: int, height: int, depth: int, kind: int, chunks: bytes) -> bytes:
    start = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", start) + chunks + chunk(b"IEND", b"")


def flat_tiff(samples: int, bits: int, sample_format: int, strip_rows: int = 20) -> bytes:
    """A black picture whose strips all lie at the same place."""
    packed = zlib.compress(bytes(WIDTH * samples * bits // 8 * strip_rows))
    count = HEIGHT // strip_rows
    body = packed + bytes(len(packed) * count // 2)
    body += bytes(len(body) % 2)
    fields = {
        256: (4, [WIDTH]),
        257: (4, [HEIGHT]),
        258: (3, [bits] * samples),
        259: (3, [8]),
        262: (3, [2 if samples > 2 else 1]),
        273: (4, [8] * count),
        277: (3, [samples]),
        278: (4, [strip_rows]),
        279: (4, [len(packed)] * count),
        339: (3, [sample_format] * samples),
    }
    return header("<", 8 + len(body), False) + body + directory(fields, "<", 8 + len(body))


@pytest.mark.parametrize(
    ("make", "pixel_bytes", "factor"),
    [
        pytest.param(lambda: flat_png(16, 6), 8, 1.25, id="16-bit RGBA PNG"),
        pytest.param(
            lambda: flat_png(1, 3, extra=chunk(b"PLTE", b"abcdef")), 3, 1.25, id="1-bit palette PNG"
        ),
        pytest.param(lambda: flat_tiff(4, 32, 3), 16, 1.25, id="float RGBA TIFF"),
        pytest.param(lambda: flat_tiff(2, 64, 3), 16, 1.25, id="float64 TIFF"),
        # A strip is unpacked as a whole.
        pytest.param(lambda: flat_tiff(3, 16, 1, HEIGHT), 6, 1.9, id="TIFF of one strip"),
    ],
)
def test_pictures_are_decoded_into_place(
    tmp_path: Path, make: Callable[[], bytes], pixel_bytes: int, factor: float
) -> None:
    path = tmp_path / "a"
    path.write_bytes(make())
    held = WIDTH * HEIGHT * pixel_bytes
    assert path.stat().st_size < held / 200
    assert 0.9 * held / 1e6 < reading_megabytes(path) < factor * held / 1e6 + 45


@pytest.mark.parametrize("filling", [b" ", b"#\n", b"# words\r"])
def test_endless_header_of_a_pnm_file(tmp_path: Path, filling: bytes) -> None:
    path = tmp_path / "a.pgm"
    path.write_bytes(b"P5\n" + filling * (4_000_000 // len(filling)))
    with pytest.raises(UserError, match="header"):
        read_picture(path)
    assert reading_megabytes(path) < 30


def test_pnm_header_with_long_comments_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.pgm"
    path.write_bytes(b"P5\n" + b"# where and when\n" * 1000 + b"1 1 255 x")
    assert read_picture(path).pixels.tolist() == [[ord("x")]]


def test_pnm_header_is_not_cut_within_a_number(tmp_path: Path) -> None:
    path = tmp_path / "a.pgm"
    for n_blanks in range(65_520, 65_540):
        path.write_bytes(b"P5" + b" " * n_blanks + b"11 1 255 elevenbytes")
        try:
            assert read_picture(path).width == 11
        except UserError as error:
            assert "header" in str(error)


def test_plain_pnm_takes_no_multiple_of_its_text(tmp_path: Path) -> None:
    path = tmp_path / "a.ppm"
    path.write_bytes(b"P3 1000 700 255\n" + b"1 2 3 " * 700_000)
    assert reading_megabytes(path) < 4.2 + 3 * 4.2 + 20  # the text; 2 million numbers
    assert (read_picture(path).pixels == [1, 2, 3]).all()


def test_file_that_is_no_image_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "disk.img"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(UserError, match="not an image"):
        read_picture(path)
    assert reading_megabytes(path) < 20


def test_chunks_that_nobody_needs_are_not_kept(tmp_path: Path) -> None:
    names = product(
        string.ascii_lowercase, string.ascii_letters, string.ascii_uppercase, string.ascii_letters
    )
    strange = [chunk("".join(name).encode(), b"") for name, _ in zip(names, range(400_000), strict=False)]
    path = tmp_path / "a.png"
    path.write_bytes(_png(2, 1, 8, 0, b"".join(strange) + chunk(b"IDAT", zlib.compress(b"\0ab"))))
    assert reading_megabytes(path) < 15
    assert np.array_equal(read_picture(path).pixels, [[97, 98]])


def _black(name: str, **options: object) -> bytearray:
    file = io.BytesIO()
    Image.new("RGB", (16, 16)).save(file, name, **options)
    return bytearray(file.getvalue())


def _lying_jpeg_2000(side: int) -> bytes:
    data, sides = _black("JPEG2000"), struct.pack(">II", side, side)
    header, coded = data.index(b"ihdr"), data.index(b"\xff\x4f\xff\x51")
    data[header + 4 : header + 12] = sides
    data[coded + 8 : coded + 16] = data[coded + 24 : coded + 32] = sides  # of the picture, and of its tile
    return bytes(data)


def _lying_avif(side: int) -> bytes:
    data = _black("AVIF")
    start = data.index(b"ispe")
    data[start + 8 : start + 16] = struct.pack(">II", side, side)
    return bytes(data)


def _lying_webp(side: int) -> bytes:
    data = _black("WEBP", lossless=True)
    start = data.index(b"VP8L")
    data[start + 9 : start + 13] = struct.pack("<I", (side - 1) | (side - 1) << 14)
    return bytes(data)


@pytest.mark.parametrize(
    ("make", "side"),
    [
        pytest.param(_lying_jpeg_2000, 14_000, id="JPEG 2000"),
        pytest.param(lambda side: _cut_boxes(_lying_jpeg_2000(side)), 14_000, id="JPEG 2000 without boxes"),
        pytest.param(_lying_avif, 14_000, id="AVIF"),
        pytest.param(_lying_webp, 13_000, id="WebP"),
    ],
)
def test_header_that_says_more_than_its_file_can_hold(
    tmp_path: Path, make: Callable[[int], bytes], side: int
) -> None:
    path = tmp_path / "a"
    path.write_bytes(make(side))
    with pytest.raises(UserError, match=f"it says it has {side} x {side} pixels, too many for a photograph"):
        read_picture(path)
    assert reading_megabytes(path) < 20


def _cut_boxes(data: bytes) -> bytes:
    return data[data.index(b"\xff\x4f\xff\x51") :]


def test_few_bytes_may_hold_a_picture_of_usual_size(tmp_path: Path) -> None:
    Image.new("L", (4000, 3000)).save(tmp_path / "a.webp", lossless=True, quality=0, method=0)
    assert (tmp_path / "a.webp").stat().st_size < 500
    assert read_picture(tmp_path / "a.webp").pixels.shape[:2] == (3000, 4000)
    check_packed_size(6000, 4000, 2960)  # a mask of one stroke, as WebP stores it
