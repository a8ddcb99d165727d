"""Whatever the bytes are: a whole picture or one sentence, with little work and memory, and silently."""

import io
import resource
import struct
import time
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from build_png import chunk
from corpus import SHAPE, corpus
from PIL import Image

from inpaint_app.errors import DamagedError, UserError
from inpaint_app.io import format as limits
from inpaint_app.io.formats.jpeg import decode_jpeg
from inpaint_app.io.read import read_picture
from inpaint_app.model.missing import collect_missing
from inpaint_app.model.picture import Picture

FILES = corpus()
N_FLIPS = 60
SECONDS = 2.0
MEGABYTES = 150


@pytest.fixture(autouse=True)
def bounded(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Fail on output by C libraries and on memory out of proportion to the limit of a million pixels."""
    monkeypatch.setattr(limits, "MAX_PIXELS", 1_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < MEGABYTES
    assert capfd.readouterr() == ("", "")


def attempt(path: Path, data: bytes) -> Picture | None:
    """Return the picture, or None if it was refused with a sentence."""
    path.write_bytes(data)
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            picture = read_picture(path)
        except UserError as error:
            sentence = str(error)
            assert sentence.endswith(".")
            assert "\n" not in sentence
            assert str(path) in sentence
            picture = None
    assert not caught
    assert time.process_time() - start < SECONDS
    if picture is not None:
        assert picture.pixels.dtype.kind in "uif"
        assert picture.height * picture.width <= 1_000_000
    return picture


@pytest.mark.parametrize("name", FILES)
def test_whole(tmp_path: Path, name: str) -> None:
    picture = attempt(tmp_path / name, FILES[name])
    assert picture is not None
    assert (picture.height, picture.width) in (SHAPE, SHAPE[::-1])


@pytest.mark.parametrize("name", FILES)
def test_truncated_anywhere(tmp_path: Path, name: str) -> None:
    """Refused, unless what is cut off was padding or the end marker: then the pixels are all there.

    Of a JPEG file with a single scan, those that are there are right, and the others transparent. Of one with
    several, those that are there may have lost fine detail, which is said.
    """
    data = FILES[name]
    whole = attempt(tmp_path / name, data)
    assert whole is not None
    last = len(data) - (3 if name == "plain.ppm" else 0)  # "123" may have been "12": nobody can tell
    boundaries = set(_chunk_starts(name, data))
    step = 3 if last < 3000 else last // 120
    for length in sorted(boundaries | set(range(0, last, step)) | set(range(max(0, last - 40), last))):
        picture = attempt(tmp_path / name, data[:length])
        if picture is None:
            continue
        if name == "progressive.jpg" and picture.notices:
            there = np.s_[:] if picture.alpha is None else picture.alpha > 0
            errors = picture.pixels[there].astype(float) - whole.pixels[there]
            assert np.sqrt((errors**2).mean()) < 12
            assert "finest detail" in picture.notices[-1]
        elif name.endswith(".jpg") and picture.alpha is not None:
            there = picture.alpha > 0
            assert np.array_equal(picture.pixels[there], whole.pixels[there])
            assert "marked as missing" in picture.notices[-1]
        else:
            assert np.array_equal(picture.pixels, whole.pixels)


@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_the_lost_part_of_a_jpeg_file_is_missing(tmp_path: Path, mode: str, subsampling: int) -> None:
    n_channels = len(mode)
    values = np.random.default_rng(0).integers(0, 256, (10, 15, n_channels), np.uint8)
    image = Image.fromarray(values.repeat(12, 0).repeat(12, 1).squeeze(), mode)
    image.save(tmp_path / "whole.jpg", quality=90, subsampling=subsampling)
    data = (tmp_path / "whole.jpg").read_bytes()
    whole = attempt(tmp_path / "whole.jpg", data)
    for share in (0.5, 0.9):
        for end in (b"", b"\xff\xd9"):
            picture = attempt(tmp_path / "cut.jpg", data[: int(share * len(data))] + end)
            assert picture is not None
            lost = collect_missing(picture).mask
            assert 0.02 < lost.mean() < 1.3 - share
            assert not lost[: int((share - 0.3) * 120)].any()
            assert lost[-1].all()
            assert np.array_equal(picture.pixels[~lost], whole.pixels[~lost])


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
@pytest.mark.parametrize("end", [b"", b"\xff\xd9"])
def test_the_lost_part_of_a_progressive_jpeg_file_is_missing(tmp_path: Path, mode: str, end: bytes) -> None:
    """The scans are cut, one after the other: what a scan adds first is missing behind the cut."""
    values = np.random.default_rng(0).integers(0, 256, (10, 15, len(mode)), np.uint8)
    image = Image.fromarray(values.repeat(12, 0).repeat(12, 1).squeeze(), mode)
    image.save(tmp_path / "whole.jpg", quality=90, progressive=True)
    data = (tmp_path / "whole.jpg").read_bytes()
    whole = attempt(tmp_path / "whole.jpg", data)
    assert whole is not None
    assert whole.alpha is None
    n_missing, n_coarse = 0, 0
    for share in np.arange(0.05, 0.99, 0.02):
        picture = attempt(tmp_path / "cut.jpg", data[: int(share * len(data))] + end)
        if picture is None:
            continue
        assert "finest detail of the picture is lost" in picture.notices[-1]
        lost = collect_missing(picture).mask
        n_missing, n_coarse = n_missing + (lost.mean() > 0.05), n_coarse + (lost.mean() <= 0.05)
        errors = picture.pixels[~lost].astype(float) - whole.pixels[~lost]
        assert np.sqrt((errors**2).mean()) < 20
        if lost.mean() > 0.05:
            assert lost[-9:, -9:].all()
    assert n_missing > 0
    assert n_coarse > 0


def test_a_progressive_jpeg_file_of_a_larger_picture_is_refused(tmp_path: Path) -> None:
    data = bytearray(FILES["progressive.jpg"])
    frame = data.find(b"\xff\xc2")
    data[frame + 5 : frame + 9] = struct.pack(">HH", 640, 640)
    assert attempt(tmp_path / "a.jpg", bytes(data)) is None


def test_a_jpeg_file_too_short_for_its_size_is_not_unpacked(tmp_path: Path, monkeypatch) -> None:
    """14000 x 14000 pixels in a few hundred bytes would take gigabytes."""
    monkeypatch.setattr(limits, "MAX_PIXELS", 200_000_000)
    monkeypatch.setattr(Image, "frombytes", None)
    for name, marker in (("plain.jpg", b"\xff\xc0"), ("progressive.jpg", b"\xff\xc2")):
        data = bytearray(FILES[name])
        frame = data.find(marker)
        data[frame + 5 : frame + 9] = struct.pack(">HH", 14000, 14000)
        with pytest.raises(DamagedError, match="it is truncated"):
            decode_jpeg(bytes(data))


def _chunk_starts(name: str, data: bytes) -> Iterator[int]:
    """Yield the start, and the start of the contents, of every chunk or marker."""
    if name.endswith(".png"):
        position = 8
        while position < len(data):
            yield from (position, position + 4, position + 8)
            position += 12 + int.from_bytes(data[position : position + 4], "big")
    elif name.endswith(".jpg"):
        yield from (position for position in range(len(data)) if data[position] == 0xFF)
    elif name.endswith(".webp"):
        position = 12
        while position < len(data):
            yield from (position, position + 4, position + 8)
            size = int.from_bytes(data[position + 4 : position + 8], "little")
            position += 8 + size + size % 2


@pytest.mark.parametrize("name", FILES)
def test_flipped_bits(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(list(name.encode()))
    for number in range(N_FLIPS):
        broken = bytearray(FILES[name])
        for _ in range(int(rng.integers(1, 4))):
            end = len(broken) if number % 2 else min(len(broken), 120)  # headers more often
            broken[rng.integers(0, end)] ^= 1 << rng.integers(0, 8)
        attempt(tmp_path / name, bytes(broken))


@pytest.mark.parametrize("name", FILES)
def test_overwritten_and_repeated_parts(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(list(name.encode()))
    data = FILES[name]
    for fill in (0x00, 0xFF, 0x7F, 0x80):
        for _ in range(6):
            start = int(rng.integers(2, len(data)))
            size = int(rng.integers(1, 9))
            attempt(tmp_path / name, data[:start] + bytes([fill]) * size + data[start + size :])
            attempt(tmp_path / name, data[:start] + data[max(0, start - size) :])
            attempt(tmp_path / name, data[:start] + data[start + size :])


@pytest.mark.parametrize(
    "magic",
    [
        *(b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0+", b"BM", b"P5 ", b"P3\n", b"GIF89a"),
        *(b"\x93NUMPY\1\0", b"PK\3\4", b"SIMPLE  =", b"\xff\x4f\xff\x51", b"\0\0\0\x0cjP  \r\n\x87\n"),
        *(b"\0\0\0\x1cftypavif", bytes((0, 0, 2, 0, 0, 0, 0, 0))),
    ],
)
def test_noise_behind_a_magic_number(tmp_path: Path, magic: bytes) -> None:
    for seed in range(20):
        noise = np.random.default_rng(seed).integers(0, 256, seed * 20).astype(np.uint8).tobytes()
        attempt(tmp_path / "a", magic + noise)
        attempt(tmp_path / "a", b"RIFF" + struct.pack("<I", len(noise) + 4) + b"WEBP" + noise)


@pytest.mark.parametrize(
    ("width", "height", "depth", "kind", "rest"),
    [
        (2**31 - 1, 2**31 - 1, 8, 2, (0, 0, 0)),
        (2**32 - 1, 1, 8, 2, (0, 0, 0)),
        (2**31 - 1, 1, 1, 0, (0, 0, 1)),
        (1000, 1000, 16, 6, (0, 0, 0)),
        (0, 5, 8, 2, (0, 0, 0)),
        (5, 0, 8, 2, (0, 0, 0)),
        (5, 5, 3, 0, (0, 0, 0)),
        (5, 5, 16, 3, (0, 0, 0)),
        (5, 5, 4, 2, (0, 0, 0)),
        (5, 5, 8, 1, (0, 0, 0)),
        (5, 5, 8, 7, (0, 0, 0)),
        (5, 5, 8, 2, (1, 0, 0)),
        (5, 5, 8, 2, (0, 1, 0)),
        (5, 5, 8, 2, (0, 0, 2)),
        (5, 5, 8, 3, (0, 0, 0)),
    ],
)
def test_absurd_png_headers(
    tmp_path: Path, width: int, height: int, depth: int, kind: int, rest: tuple[int, int, int]
) -> None:
    header = struct.pack(">IIBBBBB", width, height, depth, kind, *rest)
    body = chunk(b"IDAT", zlib.compress(bytes(1000)))
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + body + chunk(b"IEND", b"")
    assert attempt(tmp_path / "a.png", data) is None


@pytest.mark.parametrize("name", ["plain.jpg", "progressive.jpg", "cmyk.jpg", "gray.jpg"])
def test_absurd_jpeg_sizes(tmp_path: Path, name: str) -> None:
    data = bytearray(FILES[name])
    frame = max(data.find(b"\xff\xc0"), data.find(b"\xff\xc2"))
    for size in ((0, 0), (0, 5), (5, 0), (65535, 65535), (65535, 1000), (2000, 400)):
        data[frame + 5 : frame + 9] = struct.pack(">HH", *size)
        picture = attempt(tmp_path / "a.jpg", bytes(data))
        assert picture is None


@pytest.mark.parametrize("bits", [8, 12, 16])
def test_absurd_jpeg_layouts(tmp_path: Path, bits: int) -> None:
    data = bytearray(FILES["plain.jpg"])
    frame = data.find(b"\xff\xc0")
    for channels in (0, 2, 5, 255):
        data[frame + 4], data[frame + 9] = bits, channels
        assert attempt(tmp_path / "a.jpg", bytes(data)) is None


@pytest.mark.parametrize("name", ["rgb.bmp", "palette.bmp", "bit.bmp"])
def test_absurd_bmp_sizes(tmp_path: Path, name: str) -> None:
    data = bytearray(FILES[name])
    for width, height in product((0, -1, -(2**31), 2**31 - 1, 2000), (0, -(2**31), 2**31 - 1, 900)):
        data[18:26] = struct.pack("<ii", width, height)
        assert attempt(tmp_path / "a.bmp", bytes(data)) is None


@pytest.mark.parametrize("bits", [0, 2, 3, 7, 64, 65535])
def test_absurd_bmp_depths(tmp_path: Path, bits: int) -> None:
    data = bytearray(FILES["rgb.bmp"])
    data[28:30] = struct.pack("<H", bits)
    assert attempt(tmp_path / "a.bmp", bytes(data)) is None


@pytest.mark.parametrize("name", ["extended.webp", "animated.webp", "lossless.webp", "lossy.webp"])
def test_absurd_webp_sizes(tmp_path: Path, name: str) -> None:
    data = bytearray(FILES[name])
    if data[12:16] == b"VP8X":
        for side in (b"\xff\xff\xff", b"\x80\x02\0", b"\0\0\0"):
            data[24:30] = side * 2
            assert attempt(tmp_path / "a.webp", bytes(data)) is None
    elif data[12:16] == b"VP8L":
        data[21:24] = b"\xff\xff\xff"
        assert attempt(tmp_path / "a.webp", bytes(data)) is None
    else:
        for size in (0xFFFF, 0x3FFF, 0):
            data[26:30] = struct.pack("<HH", size, size)
            assert attempt(tmp_path / "a.webp", bytes(data)) is None


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        ("<f8", "(100000, 100000)"),
        ("<f8", "(1000000000, 1000000000, 1000000000)"),
        ("|u1", "(1001, 1000)"),
        ("|u1", "(20000, 8, 8)"),
        ("|u1", "(0, 8)"),
        ("|u1", "(8, 8, 0)"),
        ("|u1", "(7,)"),
        ("|u1", "()"),
        ("|u1", f"({'9' * 400}, 8)"),
        ("<f16", "(8, 8)"),
        ("<c8", "(8, 8)"),
        ("|S9999", "(8, 8)"),
        ("|O", "(8, 8)"),
        ("<M8", "(8, 8)"),
        ("|u1", "(8, 8), __import__('os').system('echo no')"),
    ],
)
def test_absurd_npy_headers(tmp_path: Path, dtype: str, shape: str) -> None:
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    body = bytes(10 if "os" in shape else 2000)
    data = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + body
    assert attempt(tmp_path / "a.npy", data) is None
    with zipfile.ZipFile(tmp_path / "b.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("image.npy", data)
    assert attempt(tmp_path / "b.npz", (tmp_path / "b.npz").read_bytes()) is None


def test_npz_bomb(tmp_path: Path) -> None:
    """A member that unpacks to far more than its header says, and one whose size in the archive is a lie."""
    whole = io.BytesIO()
    np.save(whole, np.zeros((8, 8), np.uint8))
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("image.npy", whole.getvalue() + bytes(50_000_000))
    data = (tmp_path / "a.npz").read_bytes()
    assert attempt(tmp_path / "a.npz", data) is None
    small = bytearray(FILES["masked.npz"])
    at = small.rfind(b"PK\1\2")
    small[at + 24 : at + 28] = struct.pack("<I", 2**31)
    assert attempt(tmp_path / "b.npz", bytes(small)) is None


@pytest.mark.parametrize(
    ("card", "value"),
    [("NAXIS1", 10**9), ("NAXIS2", -1), ("NAXIS", 999), ("NAXIS", 1), ("NAXIS2", 0), ("BITPIX", 7)],
)
def test_absurd_fits_headers(tmp_path: Path, card: str, value: int) -> None:
    data = FILES["floats.fits"]
    at = data.find(f"{card:<8}=".encode())
    line = f"{card:<8}= {value:>20}".encode().ljust(80)
    assert attempt(tmp_path / "a.fits", data[:at] + line + data[at + 80 :]) is None


@pytest.mark.parametrize("name", ["rgb.tga", "packed.tga", "palette.gif", "gray.gif"])
def test_absurd_tga_and_gif_sizes(tmp_path: Path, name: str) -> None:
    data = bytearray(FILES[name])
    at = 12 if name.endswith(".tga") else 6
    for width, height in ((0, 0), (65535, 65535), (65535, 60), (900, 900)):
        data[at : at + 4] = struct.pack("<HH", width, height)
        picture = attempt(tmp_path / name, bytes(data))
        assert picture is None or (name.endswith(".gif") and (width, height) in ((900, 900), (0, 0)))


@pytest.mark.parametrize("name", ["rgb.jp2", "gray16.j2k"])
def test_absurd_jpeg_2000_sizes(tmp_path: Path, name: str) -> None:
    data = bytearray(FILES[name])
    at = data.find(b"\xff\x4f\xff\x51") + 8
    for width, height in ((0, 0), (2**32 - 1, 2**32 - 1), (2**31, 1), (900, 900)):
        data[at : at + 8] = struct.pack(">II", width, height)
        assert attempt(tmp_path / name, bytes(data)) is None


def test_png_bomb(tmp_path: Path) -> None:
    """Pixels that unpack to far more than the header says."""
    header = struct.pack(">IIBBBBB", 5, 5, 8, 2, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(bytes(200_000_000), 1))
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + body + chunk(b"IEND", b"")
    picture = attempt(tmp_path / "a.png", data)  # what lies behind its pixels is not unpacked
    assert picture is not None
    assert picture.pixels.shape == (5, 5, 3)
