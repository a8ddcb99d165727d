"""JPEG, WebP, BMP, PNM, and files that are not pictures."""

import io
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms

from inpaint_app.errors import UserError
from inpaint_app.io import format as limits
from inpaint_app.io.read import read_picture
from inpaint_app.model.missing import collect_missing

RNG = np.random.default_rng(0)
NOISE = RNG.integers(0, 256, (21, 34, 4)).astype(np.uint8)
Y, X = np.mgrid[0:21, 0:34]
SMOOTH = np.stack([X * 7, Y * 12, X + Y, 40 + X], -1).astype(np.uint8)


def saved(image: Image.Image, path: Path, **options: Any) -> Path:
    image.save(path, **options)
    return path


@pytest.mark.parametrize("mode", ["L", "RGB"])
@pytest.mark.parametrize("progressive", [False, True])
def test_jpeg_equals_pillow(tmp_path: Path, mode: str, progressive: bool) -> None:
    image = Image.fromarray(SMOOTH[..., :3]).convert(mode)
    path = saved(image, tmp_path / "a.jpg", quality=90, progressive=progressive)
    with Image.open(path) as expected:
        assert np.array_equal(read_picture(path).pixels, np.asarray(expected))
    assert read_picture(path).metadata.source_format == "JPEG"


def test_cmyk_jpeg(tmp_path: Path) -> None:
    path = saved(Image.fromarray(SMOOTH, "CMYK"), tmp_path / "a.jpg", quality=95)
    picture = read_picture(path)
    with Image.open(path) as image:
        expected = np.asarray(image.convert("RGB")).astype(int)
    assert np.abs(picture.pixels - expected).max() <= 1
    assert any("CMYK" in notice for notice in picture.notices)


def test_cmyk_with_a_profile_for_other_colors_falls_back(tmp_path: Path) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for icc in (profile, b"nonsense" * 20):
        path = saved(Image.fromarray(SMOOTH, "CMYK"), tmp_path / "a.jpg", icc_profile=icc)
        picture = read_picture(path)
        assert picture.metadata.icc is None  # it no longer describes the pixels
        assert "without a color profile" in picture.notices[0]


def gray_ink_profile() -> bytes:
    """Return a small CMYK profile in which every ink is a gray: cyan of lightness 60, and so on."""
    lightness = {0: 100, 1: 60, 2: 50, 4: 90}
    nodes = b""
    for inks in range(16):  # the first ink changes slowest
        cyan, magenta, yellow, black = (inks >> 3) & 1, (inks >> 2) & 1, (inks >> 1) & 1, inks & 1
        light = 0 if black else min(lightness[cyan], lightness[2 * magenta], lightness[4 * yellow])
        nodes += bytes([round(light * 2.55), 128, 128])
    identity = struct.pack(">9i", *[65536 if i % 4 == 0 else 0 for i in range(9)])
    ramp = bytes(range(256))
    table = b"mft1" + bytes(4) + bytes([4, 3, 2, 0]) + identity + ramp * 4 + nodes + ramp * 3
    table += bytes(-len(table) % 4)
    white = b"XYZ " + bytes(4) + struct.pack(">3i", 63190, 65536, 54061)
    tags = {b"A2B0": table, b"wtpt": white}
    offset, entries, body = 132 + 12 * len(tags), b"", b""
    for name, content in tags.items():
        entries += name + struct.pack(">II", offset + len(body), len(content))
        body += content
    head = struct.pack(">I4sI4s4s4s", offset + len(body), b"lcms", 0x02400000, b"prtr", b"CMYK", b"Lab ")
    head += struct.pack(">6H4s", 2024, 1, 1, 0, 0, 0, b"acsp") + bytes(28)
    head += struct.pack(">3i", 63190, 65536, 54061)
    return head.ljust(128, b"\0") + struct.pack(">I", len(tags)) + entries + body


def test_cmyk_with_its_profile(tmp_path: Path) -> None:
    inks = np.zeros((16, 32, 4), np.uint8)
    inks[:, :16, 0] = 255  # cyan
    path = saved(
        Image.fromarray(inks, "CMYK"), tmp_path / "a.jpg", icc_profile=gray_ink_profile(), quality=100
    )
    picture = read_picture(path)
    assert picture.notices == ("CMYK was converted to sRGB by the file's color profile.",)
    assert picture.metadata.icc is None
    assert np.abs(picture.pixels[4, 4].astype(int) - 145).max() <= 3  # lightness 60, where plainly it is cyan
    assert np.abs(picture.pixels[4, 28].astype(int) - 255).max() <= 3


def test_webp_modes(tmp_path: Path) -> None:
    for channels in (3, 4):
        values = NOISE[..., :channels].copy()
        if channels == 4:
            values[:5, :, 3] = 0
        path = saved(Image.fromarray(values), tmp_path / "a.webp", lossless=True, exact=True)
        picture = read_picture(path)
        assert np.array_equal(picture.pixels, NOISE[..., :3])  # under alpha = 0 as well
        assert (picture.alpha is not None) == (channels == 4)
    assert picture.alpha is not None
    assert np.array_equal(picture.alpha, values[..., 3])
    path = saved(Image.fromarray(SMOOTH[..., :3]), tmp_path / "b.webp", quality=90)
    with Image.open(path) as expected:
        assert np.array_equal(read_picture(path).pixels, np.asarray(expected))


def test_animated_webp(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (16, 12), color) for color in ("red", "blue")]
    frames[0].save(tmp_path / "a.webp", save_all=True, append_images=frames[1:], lossless=True)
    picture = read_picture(tmp_path / "a.webp")
    assert np.array_equal(picture.pixels, np.asarray(frames[0]))
    assert any("animation" in notice for notice in picture.notices)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA"])
def test_bmp(tmp_path: Path, mode: str) -> None:
    image = Image.fromarray(NOISE).convert(mode)
    path = saved(image, tmp_path / "a.bmp")
    picture = read_picture(path)
    expected = np.asarray(image.convert({"1": "L", "P": "RGB"}.get(mode, mode)))
    assert picture.metadata.source_format == "BMP"
    assert np.array_equal(picture.pixels, expected[..., :3] if expected.ndim == 3 else expected)
    assert picture.alpha is None  # the fourth byte of a plain 32-bit BMP means nothing


def test_bmp_with_alpha_and_rows_from_the_top(tmp_path: Path) -> None:
    height, width = NOISE.shape[:2]
    masks = struct.pack("<IIII", 0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    head = struct.pack("<IiiHHIIiiII", 108, width, -height, 1, 32, 3, 0, 2835, 2835, 0, 0) + masks + bytes(52)
    data = NOISE[..., [2, 1, 0, 3]].tobytes()
    path = tmp_path / "a.bmp"
    path.write_bytes(b"BM" + struct.pack("<IHHI", 122 + len(data), 0, 0, 122) + head + data)
    picture = read_picture(path)
    assert np.array_equal(picture.pixels, NOISE[..., :3])
    assert picture.alpha is not None
    assert np.array_equal(picture.alpha, NOISE[..., 3])
    assert picture.metadata.dpi == pytest.approx((72, 72), abs=0.1)


def pnm(kind: int, values: np.ndarray, white: int, comment: str = "") -> bytes:
    """Encode by hand: kind 1 to 6."""
    height, width = values.shape[:2]
    head = f"P{kind}\n{comment}{width} {height}\n" + ("" if kind in (1, 4) else f"{white}\n")
    if kind < 4:
        return (head + "\n".join(" ".join(map(str, row.ravel())) for row in values) + "\n").encode()
    if kind == 4:
        return head.encode() + np.packbits(values, axis=1).tobytes()
    return head.encode() + values.astype(">u2" if white > 255 else "u1").tobytes()


@pytest.mark.parametrize("white", [1, 15, 255, 300, 4095, 65535])
@pytest.mark.parametrize("kind", [2, 3, 5, 6])
def test_pnm_values(tmp_path: Path, kind: int, white: int) -> None:
    shape = (9, 14, 3) if kind in (3, 6) else (9, 14)
    values = np.random.default_rng(white).integers(0, white + 1, shape)
    path = tmp_path / "a.pnm"
    path.write_bytes(pnm(kind, values, white, comment="# made by hand 12 34\n"))
    picture = read_picture(path)
    top = 255 if white < 256 else 65535
    assert picture.depth == (8 if white < 256 else 16)
    assert np.array_equal(picture.pixels, np.floor(values / white * top + 0.5))
    assert bool(picture.notices) == (white not in (255, 65535))


@pytest.mark.parametrize("kind", [1, 4])
def test_pbm(tmp_path: Path, kind: int) -> None:
    values = RNG.integers(0, 2, (7, 13)).astype(np.uint8)
    path = tmp_path / "a.pbm"
    path.write_bytes(pnm(kind, values, 1))
    assert np.array_equal(read_picture(path).pixels, (1 - values) * 255)
    with Image.open(path) as image:
        assert np.array_equal(read_picture(path).pixels, np.asarray(image.convert("L")))
    if kind == 1:
        path.write_bytes(b"P1 3 2 101\n010")
        assert read_picture(path).pixels.tolist() == [[0, 255, 0], [255, 0, 255]]


@pytest.mark.parametrize(
    "data",
    [
        b"P5\n3 2\n255\n12345",
        b"P5\n3 2\n0\n123456",
        b"P5\n3 2\n70000\n123456789012",
        b"P5\n0 2\n255\n",
        b"P5\n99999 99999\n255\n",
        b"P5\n-3 2\n255\n123456",
        b"P5\n9999999999999999 2\n255\n123456",
        b"P5\n3",
        b"P5 ",
        b"P5\n3 2\n100\n\xff\xff\xff\xff\xff\xff",
        b"P2 3 1 255 1 2 x",
        b"P2 3 1 255 1 2",
        b"P2 3 1 255 1 2 999",
        b"P2 1 1 255 " + b"9" * 5000,
        b"P2 3 1 255 1 -2 3",
        b"P1 3 1 012",
        b"P1 3 1 01",
        b"P3 1000 1000 255 1",
    ],
)
def test_broken_pnm(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.pnm"
    path.write_bytes(data)
    with pytest.raises(UserError):
        read_picture(path)


def test_second_pnm_picture_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.pgm"
    path.write_bytes(b"P5 2 1 255\nabP5 2 1 255\ncd")
    picture = read_picture(path)
    assert picture.pixels.tolist() == [[97, 98]]
    assert any("more than one" in notice for notice in picture.notices)


@pytest.mark.parametrize("name", ["ICO", "PCX", "SGI", "PDF", "EPS"])
def test_other_formats_are_refused(tmp_path: Path, name: str) -> None:
    buffer = io.BytesIO()
    Image.fromarray(NOISE[..., :3]).resize((32, 32)).save(buffer, name)
    path = tmp_path / "picture.png"  # the ending does not decide
    path.write_bytes(buffer.getvalue())
    with pytest.raises(UserError, match="convert it to PNG or TIFF"):
        read_picture(path)


def test_contents_decide_not_the_ending(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    Image.fromarray(NOISE).save(path, "PNG")
    assert read_picture(path).metadata.source_format == "PNG"


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="does not exist"):
        read_picture(tmp_path / "no.png")
    with pytest.raises(UserError, match="is a folder"):
        read_picture(tmp_path)
    with pytest.raises(UserError, match="could not be read"):
        read_picture("a\0b.png")
    (tmp_path / "empty.png").touch()
    with pytest.raises(UserError, match="is empty"):
        read_picture(tmp_path / "empty.png")
    with pytest.raises(UserError, match="does not exist"):
        read_picture(tmp_path / "empty.png" / "a.png")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="not a regular file"):
        read_picture(tmp_path / "pipe")
    with pytest.raises(UserError, match="not a regular file"):
        read_picture("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UserError, match="could not be read"):
        read_picture(tmp_path / "loop")
    monkeypatch.setattr("inpaint_app.io.read.MAX_FILE_BYTES", 3)
    (tmp_path / "large.png").write_bytes(b"1234")
    with pytest.raises(UserError, match="larger than"):
        read_picture(tmp_path / "large.png")


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read everything, so the refusal itself is simulated."""
    path = tmp_path / "a.png"
    path.write_bytes(b"x")

    def refuse(self: Path, *_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UserError, match="permission to read"):
        read_picture(path)


def test_bad_names_print_on_one_line(tmp_path: Path) -> None:
    name = os.fsdecode(b"a\nb\x1b[31m\xff.png")
    with pytest.raises(UserError) as caught:
        read_picture(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    str(caught.value).encode("utf-8")


def test_the_limit_acts_before_decoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_PIXELS", 21 * 34 - 1)
    image = Image.fromarray(NOISE[..., :3])
    for ending in ("png", "jpg", "tif", "bmp", "webp", "ppm"):
        path = saved(image, tmp_path / f"a.{ending}")
        with pytest.raises(UserError, match="34 x 21 pixels and the limit"):
            read_picture(path)


def test_longest_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row is the least that is decoded at once."""
    monkeypatch.setattr(limits, "MAX_SIDE", 33)
    path = saved(Image.fromarray(NOISE[..., :3]), tmp_path / "a.png")
    with pytest.raises(UserError, match="34 x 21 pixels and the limit is 33 along a side"):
        read_picture(path)


def exif_segments(n_bytes: int) -> bytes:
    block = b"II*\0\x08\0\0\0\x01\0" + struct.pack("<HHII", 274, 3, 1, 6) + bytes(4)
    rest = block + bytes(n_bytes - len(block))
    parts = [rest[start : start + 65_000] for start in range(0, len(rest), 65_000)]
    return b"".join(b"\xff\xe1" + struct.pack(">H", 8 + len(part)) + b"Exif\0\0" + part for part in parts)


def test_jpeg_with_endless_exif_is_read_without_it(tmp_path: Path) -> None:
    path = saved(Image.fromarray(SMOOTH[..., :3]), tmp_path / "a.jpg")
    data, whole = path.read_bytes(), read_picture(path).pixels
    path.write_bytes(data[:2] + exif_segments(limits.MAX_EXIF_BYTES) + data[2:])
    picture = read_picture(path)
    assert picture.metadata.exif is not None
    assert len(picture.metadata.exif) == limits.MAX_EXIF_BYTES
    assert np.array_equal(picture.pixels, whole.swapaxes(0, 1)[:, ::-1])  # turned as its orientation asks
    path.write_bytes(data[:2] + exif_segments(limits.MAX_EXIF_BYTES + 1) + data[2:])
    picture = read_picture(path)
    assert picture.metadata.exif is None
    assert picture.notices == ("The EXIF information is longer than any camera writes and was left out.",)
    assert np.array_equal(picture.pixels, whole)


def test_jpeg_with_endless_segments_is_refused(tmp_path: Path) -> None:
    path = saved(Image.fromarray(SMOOTH[..., :3]), tmp_path / "a.jpg")
    data = path.read_bytes()
    path.write_bytes(data[:2] + b"\xff\xfe\0\2" * 100_000 + data[2:])
    with pytest.raises(UserError, match="more segments"):
        read_picture(path)


def test_jpeg_with_fill_bytes_and_markers_that_stand_alone(tmp_path: Path) -> None:
    path = saved(Image.fromarray(SMOOTH[..., :3]), tmp_path / "a.jpg")
    data, whole = path.read_bytes(), read_picture(path).pixels
    path.write_bytes(data[:2] + b"\xff" * 5000 + data[2:])
    assert np.array_equal(read_picture(path).pixels, whole)


def test_jpeg_with_endless_scans_is_refused(tmp_path: Path) -> None:
    path = saved(Image.fromarray(NOISE[..., :3]), tmp_path / "a.jpg")
    data = path.read_bytes()
    scan = b"\xff\xda" + struct.pack(">HBBBBBB", 8, 1, 1, 0, 0, 63, 0)
    path.write_bytes(data[:-2] + scan * 300 + data[-2:])
    with pytest.raises(UserError, match="scans"):
        read_picture(path)


@pytest.mark.parametrize("options", [{}, {"quality": 100}, {"quality": 30}, {"restart_marker_blocks": 2}])
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_jpeg_that_lost_its_tail_misses_pixels(tmp_path: Path, mode: str, options: dict[str, Any]) -> None:
    """Some programs put an end marker behind a broken download; libjpeg then fills up with gray."""
    rng = np.random.default_rng(0)
    image = Image.fromarray(rng.integers(0, 256, (100, 120, 4)).astype(np.uint8), "CMYK").convert(mode)
    path = saved(image, tmp_path / "a.jpg", **options)
    data = path.read_bytes()
    whole = read_picture(path).pixels
    for lost in (300, 400, len(data) // 3, len(data) // 2):
        path.write_bytes(data[: -2 - lost] + b"\xff\xd9")
        picture = read_picture(path)
        missing = collect_missing(picture).mask
        assert missing[-1, -1]
        assert np.array_equal(picture.pixels[~missing], whole[~missing])
    for tail in (b"\xff\xd9 a film \xff\xd8\xff\xd9" + b"\xff\xda" * 300, b"\xff\xff\xff\xd9"):
        path.write_bytes(data[:-2] + tail)
        assert np.array_equal(read_picture(path).pixels, whole)
