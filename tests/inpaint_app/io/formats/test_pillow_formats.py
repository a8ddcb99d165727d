"""AVIF, JPEG 2000, GIF, TGA, and HEIC and JPEG XL where their plug-ins are installed."""

import importlib.util
import io
import struct
from pathlib import Path

import imagecodecs
import numpy as np
import pytest
from PIL import Image, ImageCms

from inpaint_app.errors import UserError
from inpaint_app.io import registry
from inpaint_app.io.formats.pillow import jpeg_xl
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import Output, default_output, write_picture
from inpaint_app.model.picture import Metadata, MetadataBlock, MetadataKind, Picture

ICC = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
NOISE = np.random.default_rng(0).integers(0, 256, (20, 30, 4)).astype(np.uint8)
SMOOTH = np.stack([np.add.outer(np.arange(20), np.arange(30)) * step for step in (2, 4, 5)], -1)
SMOOTH = SMOOTH.astype(np.uint8)
XMP = MetadataBlock(MetadataKind.XMP, b"<x:xmpmeta>a</x:xmpmeta>")


def stored(image: Image.Image, path: Path, **options) -> Path:
    image.save(path, **options)
    return path


@pytest.mark.parametrize("alpha", [False, True])
@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("ending", ["tga", "jp2"])
def test_exact_formats(tmp_path: Path, ending: str, color: bool, alpha: bool) -> None:
    picture = Picture(NOISE[..., :3] if color else NOISE[..., 0], NOISE[..., 3] if alpha else None)
    write_picture(picture, tmp_path / f"a.{ending}")
    again = read_picture(tmp_path / f"a.{ending}")
    assert np.array_equal(again.pixels, picture.pixels)
    assert (again.alpha is None) == (not alpha)
    if alpha:
        assert np.array_equal(again.alpha, picture.alpha)
    with Image.open(tmp_path / f"a.{ending}") as image:
        assert image.size == (30, 20)


def test_avif_is_close_and_keeps_metadata(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[271] = "Maker of cameras"
    block = exif.tobytes().removeprefix(b"Exif\0\0")
    picture = Picture(SMOOTH, NOISE[..., 3], Metadata(exif=block, icc=ICC, blocks=(XMP,)))
    write_picture(picture, tmp_path / "a.avif")
    again = read_picture(tmp_path / "a.avif")
    assert np.abs(again.pixels.astype(int) - picture.pixels).mean() < 3
    assert again.metadata.icc == ICC
    assert again.metadata.blocks == (XMP,)
    with Image.open(tmp_path / "a.avif") as image:
        assert image.getexif()[271] == "Maker of cameras"
    assert Output(tmp_path / "a.avif").lost(picture) == ()


def test_avif_orientation_and_depth(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[274] = 6
    picture = read_picture(stored(Image.fromarray(SMOOTH), tmp_path / "a.avif", exif=exif))
    assert (picture.height, picture.width) == (30, 20)
    (tmp_path / "b.avif").write_bytes(imagecodecs.avif_encode(SMOOTH.astype(np.uint16) * 4, bitspersample=10))
    picture = read_picture(tmp_path / "b.avif")
    assert picture.metadata.lost == ("10 bits per channel",)
    assert np.abs(picture.pixels.astype(int) - SMOOTH).mean() < 8


def test_animations_lose_frames_and_say_so(tmp_path: Path) -> None:
    images = [Image.fromarray(np.roll(SMOOTH, 5 * step, 1)) for step in range(3)]
    for ending in ("avif", "gif", "webp"):
        path = stored(images[0], tmp_path / f"a.{ending}", save_all=True, append_images=images[1:])
        picture = read_picture(path)
        assert picture.metadata.lost == ("the other frames of the animation",)
        assert "first frame" in picture.notices[-1]


def test_jpeg_2000_keeps_16_bits_of_gray(tmp_path: Path) -> None:
    gray = np.random.default_rng(1).integers(0, 65536, (20, 30)).astype(np.uint16)
    write_picture(Picture(gray), tmp_path / "a.jp2")
    assert np.array_equal(read_picture(tmp_path / "a.jp2").pixels, gray)
    with pytest.raises(UserError, match="JPEG 2000 cannot store 16-bit color"):
        write_picture(Picture(np.stack([gray] * 3, -1)), tmp_path / "b.jp2")


@pytest.mark.parametrize("bits", [10, 12, 15])
def test_jpeg_2000_keeps_the_values_of_odd_depths(tmp_path: Path, bits: int) -> None:
    gray = np.random.default_rng(1).integers(0, 2**bits, (20, 30)).astype(np.uint16)
    data = imagecodecs.jpeg2k_encode(gray, level=0, bitspersample=bits, reversible=True)
    (tmp_path / "a.jp2").write_bytes(data)
    assert np.array_equal(read_picture(tmp_path / "a.jp2").pixels, gray)


def test_jpeg_2000_channels(tmp_path: Path) -> None:
    """Four channels are bands unless the file declares alpha; colors of 16 bits are kept."""
    data = imagecodecs.jpeg2k_encode(NOISE, level=0, reversible=True, colorspace=3)
    (tmp_path / "a.jp2").write_bytes(data)
    picture = read_picture(tmp_path / "a.jp2")
    if b"cdef" not in data:
        assert picture.n_bands == 4
        assert picture.alpha is None
    wide = NOISE[..., :3].astype(np.uint16) * 257
    (tmp_path / "b.jp2").write_bytes(imagecodecs.jpeg2k_encode(wide, level=0, reversible=True))
    picture = read_picture(tmp_path / "b.jp2")
    assert np.array_equal(picture.pixels, wide)  # Pillow would turn white into black
    signed = imagecodecs.jpeg2k_encode(NOISE[..., 0].astype(np.int16), level=0, reversible=True)
    (tmp_path / "c.jp2").write_bytes(signed)
    with pytest.raises(UserError, match="signed numbers"):
        read_picture(tmp_path / "c.jp2")


def test_jpeg_2000_boxes_survive(tmp_path: Path) -> None:
    write_picture(Picture(NOISE[..., 0], metadata=Metadata(blocks=(XMP,))), tmp_path / "a.jp2")
    place = b"\0\0\0\x14xml <place>Earth"
    (tmp_path / "b.jp2").write_bytes((tmp_path / "a.jp2").read_bytes() + place)
    picture = read_picture(tmp_path / "b.jp2")
    assert picture.metadata.blocks == (XMP, MetadataBlock(MetadataKind.JP2_BOXES, place))
    write_picture(picture, tmp_path / "c.jp2")
    assert read_picture(tmp_path / "c.jp2").metadata.blocks == picture.metadata.blocks
    assert Output(tmp_path / "c.tga").lost(picture) == ("XMP", "JPEG 2000 boxes")


def test_gif_is_exact_with_few_colors_or_gray(tmp_path: Path) -> None:
    few = NOISE[..., :3] // 64 * 64
    for values in (few, NOISE[..., 0]):
        comment = MetadataBlock(MetadataKind.COMMENT, b"a comment")
        write_picture(
            Picture(values, metadata=Metadata(blocks=(comment,))), tmp_path / "a.gif", overwrite=True
        )
        again = read_picture(tmp_path / "a.gif")
        assert np.array_equal(again.pixels, values)
        assert again.metadata.blocks == (comment,)


def test_gif_of_many_colors_says_so(tmp_path: Path) -> None:
    picture = Picture(SMOOTH)
    assert Output(tmp_path / "a.gif").lost(picture) == ("colors beyond 256",)
    write_picture(picture, tmp_path / "a.gif")
    assert np.abs(read_picture(tmp_path / "a.gif").pixels.astype(int) - SMOOTH).mean() < 10


def test_gif_transparency_is_read(tmp_path: Path) -> None:
    image = Image.fromarray(NOISE[..., :3].copy()).quantize(16)
    picture = read_picture(stored(image, tmp_path / "a.gif", transparency=3))
    assert picture.alpha is not None
    assert np.array_equal(picture.alpha == 0, np.asarray(image) == 3)
    with pytest.raises(UserError, match="transparent"):
        write_picture(picture, tmp_path / "b.gif")


def test_tga_filling_is_not_alpha(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    Image.fromarray(NOISE).save(buffer, "TGA")
    data = bytearray(buffer.getvalue())
    data[17] &= 0xF0
    (tmp_path / "a.tga").write_bytes(data)
    assert read_picture(tmp_path / "a.tga").alpha is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("8BPS\0\1", "a Photoshop document"),
        ("%PDF-1.7", "a PDF document"),
        ("<?xml version='1.0'?><svg>", "an SVG drawing"),
        ("\0\0\1\0\1\0", "an icon file"),
        ("CDF\1....", "a HDF5 or NetCDF file"),
        ("hello world", "not an image"),
    ],
)
def test_other_files_are_named(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "a").write_bytes(name.encode("latin-1").ljust(100, b"."))
    with pytest.raises(UserError, match=f"is {words}.*; convert it to PNG or TIFF"):
        read_picture(tmp_path / "a")


def test_packed_files_are_to_be_unpacked(tmp_path: Path) -> None:
    (tmp_path / "a.fits.gz").write_bytes(b"\x1f\x8b\x08".ljust(100, b"."))
    with pytest.raises(UserError, match="gzip; unpack it with gunzip first"):
        read_picture(tmp_path / "a.fits.gz")


HEADS = {
    ".heic": (b"\0\0\0\x1cftypheic\0\0\0\0mif1heic", "pillow-heif"),
    ".jxl": (b"\xff\x0a\x08\x10", "pillow-jxl-plugin"),
}


@pytest.mark.parametrize("ending", HEADS)
def test_without_its_plug_in_the_sentence_names_it(tmp_path: Path, ending: str, monkeypatch) -> None:
    data, package = HEADS[ending]
    monkeypatch.setattr("inpaint_app.io.format.find_spec", lambda _name: None)
    path = tmp_path / f"a{ending}"
    path.write_bytes(data.ljust(80, b"\0"))
    with pytest.raises(UserError, match=f"without {package}; install it with pip install {package}"):
        read_picture(path)
    with pytest.raises(UserError, match=f"pip install {package}"):
        write_picture(Picture(SMOOTH), tmp_path / f"b{ending}")
    assert default_output(path).suffix == ".png"
    assert ending not in registry.suffixes(registry.writable())


@pytest.mark.parametrize("lossless", [False, True])
@pytest.mark.parametrize("frames", [1, 2])
def test_lossless_webp_stays_lossless(tmp_path: Path, lossless: bool, frames: int) -> None:
    image, more = Image.fromarray(NOISE[..., :3]), [Image.fromarray(SMOOTH)] * (frames - 1)
    several = {"save_all": True, "append_images": more} if more else {}
    picture = read_picture(stored(image, tmp_path / "a.webp", lossless=lossless, **several))
    assert picture.metadata.is_lossless == lossless
    write_picture(picture, tmp_path / "b.webp")
    assert np.array_equal(read_picture(tmp_path / "b.webp").pixels, picture.pixels) == lossless
    write_picture(picture, tmp_path / "c.webp", quality=50)
    assert not np.array_equal(read_picture(tmp_path / "c.webp").pixels, picture.pixels)


@pytest.mark.parametrize("lossless", [False, True])
@pytest.mark.parametrize("n_channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_lossless_jpeg_xl_is_recognized(lossless: bool, n_channels: int, dtype: type) -> None:
    values = NOISE[..., :n_channels].astype(dtype) / (255 if dtype is np.float32 else 1)
    data = imagecodecs.jpegxl_encode(values.astype(dtype).squeeze(), lossless=lossless)
    header = jpeg_xl._Bits(jpeg_xl._header_bytes(data))
    assert jpeg_xl._read_size(header) == (30, 20)
    assert jpeg_xl._is_lossless(header) == lossless


@pytest.mark.parametrize("n_parts", [1, 3])
def test_size_of_jpeg_xl_is_that_of_the_coded_picture(n_parts: int) -> None:
    """Other boxes may hold bytes that look like one, and the coded picture may be in parts."""
    coded = imagecodecs.jpegxl_encode(NOISE[..., :3], lossless=True)
    lie = imagecodecs.jpegxl_encode(np.zeros((8, 8), np.uint8), lossless=True)
    assert coded.startswith(b"\xff\x0a")
    data = b"\0\0\0\x0cJXL \r\n\x87\n" + _box(b"ftyp", b"jxl \0\0\0\0jxl ") + _box(b"free", lie)
    if n_parts == 1:
        data += _box(b"jxlc", coded)
    else:
        parts = (coded[:4], coded[4:7], coded[7:])
        numbers = (0, 1, 2 | 1 << 31)  # the last is marked
        data += b"".join(_box(b"jxlp", struct.pack(">I", n) + p) for n, p in zip(numbers, parts, strict=True))
    assert np.array_equal(imagecodecs.jpegxl_decode(data), NOISE[..., :3])
    assert jpeg_xl._read_size(jpeg_xl._Bits(jpeg_xl._header_bytes(data))) == (30, 20)


def _box(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(content), name) + content


@pytest.mark.parametrize(("ending", "module"), [("heic", "pillow_heif"), ("jxl", "pillow_jxl")])
def test_with_its_plug_in(tmp_path: Path, ending: str, module: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    picture = Picture(SMOOTH, metadata=Metadata(icc=ICC))
    write_picture(picture, tmp_path / f"a.{ending}", quality=100)
    again = read_picture(tmp_path / f"a.{ending}")
    error = np.abs(again.pixels.astype(int) - SMOOTH).max()
    assert error == 0 if ending == "jxl" else error < 8
    assert again.metadata.icc is not None
    if ending == "jxl":
        write_picture(again, tmp_path / "again.jxl")
        assert np.array_equal(read_picture(tmp_path / "again.jxl").pixels, SMOOTH)
    data = (tmp_path / f"a.{ending}").read_bytes()
    for length in range(0, len(data) - 1, max(1, len(data) // 40)):
        (tmp_path / f"b.{ending}").write_bytes(data[:length])
        with pytest.raises(UserError):
            read_picture(tmp_path / f"b.{ending}")
