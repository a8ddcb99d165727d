"""PNG of every depth and color type, against an independent encoder and Pillow."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from build_png import CHANNELS, chunk, png_bytes
from PIL import Image

from inpaint_app.errors import UserError
from inpaint_app.io.read import read_picture

KINDS = [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (8, 2), (16, 2), (8, 4), (16, 4), (8, 6), (16, 6)]


def random_samples(depth: int, kind: int, shape: tuple[int, int] = (13, 11)) -> np.ndarray:
    rng = np.random.default_rng(depth * 10 + kind)
    return rng.integers(0, 2**depth, (*shape, CHANNELS[kind])).astype(np.uint16)


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize(("depth", "kind"), KINDS)
def test_every_kind_is_exact(tmp_path: Path, depth: int, kind: int, interlaced: bool) -> None:
    samples = random_samples(depth, kind)
    path = tmp_path / "a.png"
    path.write_bytes(png_bytes(samples, depth, kind, interlaced=interlaced))
    picture = read_picture(path)
    expected = samples * (255 // (2**depth - 1)) if depth < 8 else samples
    assert picture.pixels.dtype == (np.uint16 if depth == 16 else np.uint8)
    assert picture.metadata.source_format == "PNG"
    if kind in (4, 6):
        assert picture.alpha is not None
        assert picture.alpha.dtype == picture.pixels.dtype
        assert np.array_equal(picture.alpha, expected[..., -1])
        expected = expected[..., :-1]
    else:
        assert picture.alpha is None
    assert np.array_equal(picture.pixels, expected[..., 0] if kind in (0, 4) else expected)


@pytest.mark.parametrize(("depth", "kind"), [(1, 0), (8, 2), (16, 2), (16, 4), (16, 6)])
def test_small_interlaced(tmp_path: Path, depth: int, kind: int) -> None:
    path, plain = tmp_path / "a.png", tmp_path / "b.png"
    for shape in ((1, 1), (1, 9), (9, 1), (2, 3), (5, 5), (8, 8), (3, 17)):
        samples = random_samples(depth, kind, shape)
        path.write_bytes(png_bytes(samples, depth, kind, interlaced=True))
        plain.write_bytes(png_bytes(samples, depth, kind))
        assert np.array_equal(read_picture(path).pixels, read_picture(plain).pixels)


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
@pytest.mark.parametrize("interlaced", [False, True])
def test_palette_with_and_without_transparency(tmp_path: Path, depth: int, interlaced: bool) -> None:
    indices = random_samples(depth, 3)
    rng = np.random.default_rng(1)
    table = rng.integers(0, 256, (2**depth, 3)).astype(np.uint8)
    palette = chunk(b"PLTE", table.tobytes())
    path = tmp_path / "a.png"
    path.write_bytes(png_bytes(indices, depth, 3, interlaced=interlaced, extra=palette))
    picture = read_picture(path)
    assert np.array_equal(picture.pixels, table[indices[..., 0]])
    assert picture.alpha is None
    assert any("palette" in notice for notice in picture.notices)
    alphas = bytes([0, 7])
    path.write_bytes(
        png_bytes(indices, depth, 3, interlaced=interlaced, extra=palette + chunk(b"tRNS", alphas))
    )
    picture = read_picture(path)
    full = np.full(256, 255)
    full[:2] = list(alphas)
    assert picture.alpha is not None
    assert np.array_equal(picture.alpha, full[indices[..., 0]])
    assert np.array_equal(picture.pixels, table[indices[..., 0]])  # colors under alpha = 0 stay
    with Image.open(path) as image:
        assert np.array_equal(np.asarray(image.convert("RGBA"))[..., 3], picture.alpha)


@pytest.mark.parametrize(("depth", "kind"), [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (8, 2), (16, 2)])
def test_transparent_color(tmp_path: Path, depth: int, kind: int) -> None:
    samples = random_samples(depth, kind)
    samples[3, 4] = samples[5, 6]
    near = samples[3, 5] = samples[5, 6].copy()
    if depth == 16:
        near[0] ^= 1  # differs in the low byte only
        samples[3, 5] = near
    key = struct.pack(f">{len(near)}H", *samples[5, 6])
    path = tmp_path / "a.png"
    path.write_bytes(png_bytes(samples, depth, kind, extra=chunk(b"tRNS", key)))
    picture = read_picture(path)
    hidden = (samples == samples[5, 6]).all(axis=2)
    assert picture.alpha is not None
    assert np.array_equal(picture.alpha == 0, hidden)
    assert (picture.alpha[~hidden] == picture.max_value).all()


@pytest.mark.parametrize(("kind", "transparent"), [(3, bytes(40)), (0, b"\1"), (2, b"\0\1")])
def test_transparency_that_is_damaged_is_not_lost_silently(
    tmp_path: Path, kind: int, transparent: bytes
) -> None:
    extra = chunk(b"PLTE", bytes(48)) if kind == 3 else b""
    path = tmp_path / "a.png"
    samples = random_samples(4 if kind == 3 else 8, kind)
    path.write_bytes(
        png_bytes(samples, 4 if kind == 3 else 8, kind, extra=extra + chunk(b"tRNS", transparent))
    )
    picture = read_picture(path)
    assert picture.alpha is None
    assert "The transparency of the file is damaged and was left out." in picture.notices


def test_sixteen_bit_is_what_pillow_loses(tmp_path: Path) -> None:
    samples = np.full((2, 2, 3), 0x1234, np.uint16)
    path = tmp_path / "a.png"
    path.write_bytes(png_bytes(samples, 16, 2))
    assert (read_picture(path).pixels == 0x1234).all()
    assert any("16 bits" in notice for notice in read_picture(path).notices)


def test_animation_gives_the_first_picture(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (8, 6), color) for color in ("red", "blue", "green")]
    path = tmp_path / "a.png"
    frames[0].save(path, save_all=True, append_images=frames[1:], format_duration=100)
    picture = read_picture(path)
    assert np.array_equal(picture.pixels, np.asarray(frames[0]))
    assert any("animation" in notice for notice in picture.notices)


def test_a_stream_with_too_few_rows_is_refused(tmp_path: Path) -> None:
    """Pillow fills such a picture up with black."""
    samples = random_samples(8, 0, (10, 10))
    data = png_bytes(samples, 8, 0, idat_size=10**6)
    header = struct.pack(">IIBBBBB", 10, 20, 8, 0, 0, 0, 0)
    longer = data[:8] + chunk(b"IHDR", header) + data[33:]
    with Image.open(io.BytesIO(longer)) as image:
        image.load()  # no complaint: the reason for our own check
    path = tmp_path / "a.png"
    path.write_bytes(longer)
    with pytest.raises(UserError, match="damaged PNG"):
        read_picture(path)


def test_damaged_extra_chunk_is_left_out_with_a_notice(tmp_path: Path) -> None:
    samples = random_samples(8, 2)
    bad = bytearray(chunk(b"tEXt", b"Title\0something"))
    bad[-1] ^= 1
    path = tmp_path / "a.png"
    path.write_bytes(png_bytes(samples, 8, 2, extra=bytes(bad)))
    picture = read_picture(path)
    assert np.array_equal(picture.pixels, samples)
    assert any("left out" in notice for notice in picture.notices)


def test_profile_bomb_is_dropped(tmp_path: Path) -> None:
    bomb = chunk(b"iCCP", b"x\0\0" + zlib.compress(bytes(40_000_000)))
    path = tmp_path / "a.png"
    path.write_bytes(png_bytes(random_samples(8, 0), 8, 0, extra=bomb))
    assert read_picture(path).metadata.icc is None


def test_damaged_extra_chunks_are_counted_in_one_notice(tmp_path: Path) -> None:
    bad = b"\0\0\0\0tEXt\0\0\0\0"  # no checksum is 0
    path = tmp_path / "a.png"
    path.write_bytes(png_bytes(random_samples(8, 2), 8, 2, extra=bad * 2000))
    assert read_picture(path).notices == (
        "2,000 damaged parts of the file's extra information were left out.",
    )
