"""What is written is what is read, by us and by others."""

from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from inpaint_app.errors import UserError
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import write_picture
from inpaint_app.model.picture import Picture

SHAPES = [(1, 1), (1, 300), (300, 1), (37, 53)]


def make_picture(shape: tuple[int, int], dtype: str, *, color: bool, alpha: bool) -> Picture:
    rng = np.random.default_rng(shape[0] * 1000 + shape[1])
    kind = np.dtype(dtype)

    def values(*size: int) -> np.ndarray:
        if kind.kind == "f":
            return rng.normal(0, 100, size).astype(kind)
        return rng.integers(0, np.iinfo(kind).max, size, endpoint=True).astype(kind)

    return Picture(values(*shape, 3) if color else values(*shape), values(*shape) if alpha else None)


def assert_same(left: Picture, right: Picture) -> None:
    assert left.pixels.dtype == right.pixels.dtype
    assert np.array_equal(left.pixels, right.pixels, equal_nan=left.depth == 32)
    assert (left.alpha is None) == (right.alpha is None)
    if left.alpha is not None and right.alpha is not None:
        assert np.array_equal(left.alpha, right.alpha)


@pytest.mark.parametrize("alpha", [False, True])
@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize(
    ("ending", "dtype"),
    [("png", "u1"), ("png", "u2"), ("tif", "u1"), ("tif", "u2"), ("tif", "f4"), ("webp", "u1")],
)
def test_lossless_formats_are_exact(
    tmp_path: Path, ending: str, dtype: str, color: bool, alpha: bool
) -> None:
    for shape in SHAPES:
        picture = make_picture(shape, dtype, color=color, alpha=alpha)
        path = tmp_path / f"a.{ending}"
        write_picture(picture, path, overwrite=True, quality=100)
        again = read_picture(path)
        if ending == "webp" and not color:  # WebP has no gray
            assert again.is_color
            again = again.with_pixels(again.pixels[..., 1])
        assert_same(again, picture)


@pytest.mark.parametrize("alpha", [False, True])
@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
def test_tifffile_reads_our_tiff(tmp_path: Path, dtype: str, color: bool, alpha: bool) -> None:
    picture = make_picture((37, 53), dtype, color=color, alpha=alpha)
    write_picture(picture, tmp_path / "a.tif")
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        values = np.atleast_3d(file.pages[0].asarray())
    expected = np.atleast_3d(picture.pixels)
    if picture.alpha is not None:
        expected = np.concatenate((expected, picture.alpha[..., np.newaxis]), axis=2)
    assert np.array_equal(values, expected)


@pytest.mark.parametrize("ending", ["png", "tif"])
@pytest.mark.parametrize(("color", "alpha"), [(False, False), (True, False), (True, True), (False, True)])
def test_pillow_reads_our_8_bit_files(tmp_path: Path, ending: str, color: bool, alpha: bool) -> None:
    picture = make_picture((37, 53), "u1", color=color, alpha=alpha)
    write_picture(picture, tmp_path / f"a.{ending}")
    with Image.open(tmp_path / f"a.{ending}") as image:
        values = np.atleast_3d(np.asarray(image))
    assert np.array_equal(values[..., : 3 if color else 1], np.atleast_3d(picture.pixels))
    if picture.alpha is not None:
        assert np.array_equal(values[..., -1], picture.alpha)


def test_pillow_reads_our_16_bit_gray(tmp_path: Path) -> None:
    picture = make_picture((37, 53), "u2", color=False, alpha=False)
    for ending in ("png", "tif"):
        write_picture(picture, tmp_path / f"a.{ending}")
        with Image.open(tmp_path / f"a.{ending}") as image:
            assert np.array_equal(np.asarray(image), picture.pixels)


@pytest.mark.parametrize("dtype", ["u1", "u2"])
def test_large_pictures_span_several_bands(tmp_path: Path, dtype: str) -> None:
    y, x = np.mgrid[0:1300, 0:900]
    pixels = np.stack([x * 3, y * 5, x * y], -1).astype(dtype)
    for ending in ("png", "tif"):
        write_picture(Picture(pixels), tmp_path / f"a.{ending}")
        assert np.array_equal(read_picture(tmp_path / f"a.{ending}").pixels, pixels)


def test_nan_survives_tiff(tmp_path: Path) -> None:
    picture = make_picture((37, 53), "f4", color=True, alpha=False)
    pixels = picture.pixels.copy()
    pixels[3:5, 7:9, 1] = np.nan
    pixels[0, 0] = -np.inf
    write_picture(Picture(pixels), tmp_path / "a.tif")
    assert_same(read_picture(tmp_path / "a.tif"), Picture(pixels))


@pytest.mark.parametrize("color", [False, True])
def test_jpeg_is_close(tmp_path: Path, color: bool) -> None:
    y, x = np.mgrid[0:40, 0:60]
    pixels = np.stack([x * 4, y * 6, 255 - x - y], -1).astype(np.uint8)
    picture = Picture(pixels if color else pixels[..., 0], np.full((40, 60), 255, np.uint8))
    write_picture(picture, tmp_path / "a.jpg")  # an opaque alpha channel may go
    again = read_picture(tmp_path / "a.jpg")
    assert again.alpha is None
    assert np.abs(again.pixels.astype(int) - picture.pixels).max() <= 4
    write_picture(picture, tmp_path / "b.jpg", quality=20)
    assert (tmp_path / "b.jpg").stat().st_size < (tmp_path / "a.jpg").stat().st_size


@pytest.mark.parametrize("ending", ["jpg", "webp", "png"])
def test_depth_is_kept_or_refused(tmp_path: Path, ending: str) -> None:
    for dtype in ("u2", "f4"):
        if (ending, dtype) == ("png", "u2"):
            continue
        with pytest.raises(UserError, match=r"write .*TIFF"):
            write_picture(make_picture((9, 9), dtype, color=True, alpha=False), tmp_path / f"a.{ending}")
    assert not any(tmp_path.iterdir())


def test_depth_can_be_converted(tmp_path: Path) -> None:
    wide = np.array([[0, 128, 129, 257, 32768, 65535]], np.uint16)
    write_picture(Picture(wide, wide), tmp_path / "a.png", depth=8)
    picture = read_picture(tmp_path / "a.png")
    assert picture.pixels.tolist() == np.rint(wide / 257).tolist() == [[0, 0, 1, 1, 128, 255]]
    assert picture.alpha is not None
    assert np.array_equal(picture.alpha, picture.pixels)
    write_picture(picture, tmp_path / "b.png", depth=16)
    assert np.array_equal(read_picture(tmp_path / "b.png").pixels, picture.pixels.astype(int) * 257)
    floats = np.array([[0, 0.25, 0.5, 1]], np.float32)
    write_picture(Picture(floats), tmp_path / "c.png", depth=16)
    assert np.array_equal(read_picture(tmp_path / "c.png").pixels, np.rint(floats * 65535))
    for bad in (np.float32(1.1), np.float32(-0.1), np.float32(np.nan)):
        with pytest.raises(UserError, match="between 0 and 1"):
            write_picture(Picture(np.full((2, 2), bad)), tmp_path / "d.png", depth=8)
    with pytest.raises(UserError, match="give 8 or 16"):
        write_picture(Picture(floats), tmp_path / "d.png", depth=12)
    assert not (tmp_path / "d.png").exists()


def test_formats_that_cannot_hold_the_picture(tmp_path: Path) -> None:
    alpha = np.full((4, 4), 255, np.uint8)
    alpha[1, 1] = 0
    with pytest.raises(UserError, match="transparent"):
        write_picture(Picture(np.zeros((4, 4), np.uint8), alpha), tmp_path / "a.jpg")
    wide = Picture(np.zeros((1, 65_501), np.uint8))
    with pytest.raises(UserError, match="65500"):
        write_picture(wide, tmp_path / "a.jpg")
    with pytest.raises(UserError, match="16383"):
        write_picture(wide, tmp_path / "a.webp")
    assert not any(tmp_path.iterdir())
    write_picture(wide, tmp_path / "a.png")
