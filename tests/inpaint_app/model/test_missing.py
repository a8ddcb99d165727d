"""Where the missing pixels are."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageColor

from inpaint_app.errors import UserError
from inpaint_app.io.read import read_picture
from inpaint_app.model.missing import check_missing, collect_missing, parse_color, without_no_data
from inpaint_app.model.picture import Picture


def require_missing(picture, **marks):
    """Detect missing pixels as a front end does that needs some."""
    missing = collect_missing(picture, **marks)
    check_missing(missing.fraction, has_mask="mask" in marks, has_key="key" in marks)
    return missing


SHAPE = (6, 8)
HOLE = np.zeros(SHAPE, bool)
HOLE[1:3, 2:6] = True


def gray(dtype: str = "u1") -> Picture:
    return Picture(np.full(SHAPE, 50, dtype))


def rgb(dtype: str = "u1") -> Picture:
    return Picture(np.full((*SHAPE, 3), 50, dtype))


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
def test_alpha(dtype: str) -> None:
    alpha = np.where(HOLE, 0, 1).astype(dtype)
    missing = require_missing(Picture(rgb(dtype).pixels, alpha))
    assert np.array_equal(missing.mask, HOLE)
    assert missing.mask.dtype == np.bool_
    assert missing.sources == ("alpha",)
    assert missing.fraction == HOLE.mean()


def test_nan_per_pixel_and_per_channel() -> None:
    pixels = rgb("f4").pixels.copy()
    pixels[HOLE] = np.nan
    missing = require_missing(Picture(pixels))
    assert np.array_equal(missing.mask, HOLE)  # channels agree: one mask
    assert missing.sources == ("nan",)
    pixels[0, 0, 1] = np.inf
    missing = require_missing(Picture(pixels))
    assert missing.mask.shape == (*SHAPE, 3)
    assert missing.mask[0, 0].tolist() == [False, True, False]
    assert missing.fraction == (HOLE.sum() * 3 + 1) / (HOLE.size * 3)


@pytest.mark.parametrize(
    "mask",
    [
        HOLE,
        HOLE.astype(np.uint8) * 255,
        HOLE.astype(np.uint8),
        HOLE.astype(np.int64),
        HOLE.astype(np.int64) * 255,
        HOLE.astype(np.uint16) * 65535,
        HOLE.astype(np.uint16) * 255,
        HOLE.astype(np.int16) * 255,
        HOLE.astype(np.int16) * 32767,
        HOLE.astype(np.int8) * 127,
        np.where(HOLE, 128, 127).astype(np.uint8),
        np.where(HOLE, 32768, 32767).astype(np.uint16),
        HOLE.astype(np.float32),
        HOLE.astype(np.float64) * 255,
        np.repeat(HOLE[..., np.newaxis], 3, axis=2).astype(np.uint8) * 255,
        Picture(HOLE.astype(np.uint8) * np.uint8(255)),
        Picture(HOLE.astype(np.uint16) * np.uint16(65535)),
        Picture(np.full(SHAPE, 255, np.uint8), HOLE.astype(np.uint8) * np.uint8(255)),
    ],
)
def test_masks_of_any_kind(mask: np.ndarray | Picture) -> None:
    for picture in (gray(), rgb(), rgb("f4")):
        missing = require_missing(picture, mask=mask)
        assert np.array_equal(missing.mask, HOLE)
        assert missing.sources == ("mask",)
        assert np.array_equal(require_missing(picture, mask=mask, invert_mask=True).mask, ~HOLE)


@pytest.mark.parametrize(
    ("dtype", "no_data", "near"), [("u1", 0, 1), ("u1", 255, 254), ("i2", -99, -98), ("f4", -9999, -9999)]
)
def test_nothing_that_is_restored_is_no_data(dtype: str, no_data: float, near: float) -> None:
    for picture in (gray(dtype), rgb(dtype)):
        noted = picture.with_metadata(no_data=no_data)
        restored = np.full_like(picture.pixels, 7)
        restored[HOLE] = no_data
        found = without_no_data(noted, restored)
        assert found.dtype == restored.dtype
        assert not collect_missing(replace(noted, pixels=found)).sources
        np.testing.assert_allclose(found, np.where(restored == 7, 7, near))


def test_boolean_mask_per_channel() -> None:
    mask = np.zeros((*SHAPE, 3), bool)
    mask[2, 2, 1] = True
    assert np.array_equal(require_missing(rgb(), mask=mask).mask, mask)
    with pytest.raises(UserError, match="channels"):
        require_missing(gray(), mask=mask)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "I;16"])
@pytest.mark.parametrize("ending", ["png", "tif"])
def test_masks_from_files(tmp_path: Path, mode: str, ending: str) -> None:
    image = Image.fromarray(HOLE.astype(np.uint8) * 255)
    if mode == "I;16":
        image = Image.fromarray(HOLE.astype(np.uint16) * 65535)
    else:
        image = image.convert("RGB").convert(mode) if mode == "P" else image.convert(mode)
    image.save(tmp_path / f"m.{ending}")
    missing = require_missing(rgb(), mask=read_picture(tmp_path / f"m.{ending}"))
    assert np.array_equal(missing.mask, HOLE)


@pytest.mark.parametrize(
    ("key", "dtype", "color"),
    [
        ("#ff00ff", "u1", (255, 0, 255)),
        ("#f0f", "u1", (255, 0, 255)),
        ("Magenta", "u1", (255, 0, 255)),
        ("255,0,255", "u1", (255, 0, 255)),
        (" 255 , 0 , 255 ", "u1", (255, 0, 255)),
        ("#ff0080", "u2", (65535, 0, 128 * 257)),
        ("65535,0,1", "u2", (65535, 0, 1)),
        ("magenta", "f4", (1, 0, 1)),
        ("#ff0080", "f4", (1, 0, np.float32(128 / 255))),
        ("-9999", "f4", (-9999, -9999, -9999)),
        ("0", "u2", (0, 0, 0)),
    ],
)
def test_key(key: str, dtype: str, color: tuple[float, ...]) -> None:
    pixels = rgb(dtype).pixels.copy()
    pixels[HOLE] = color
    pixels[0, 0] = (color[0], 50, color[2])  # two of three channels are not enough
    missing = require_missing(Picture(pixels), key=key)
    assert np.array_equal(missing.mask, HOLE)
    assert missing.sources == ("key",)


def test_key_in_gray_pictures() -> None:
    pixels = gray("u2").pixels.copy()
    pixels[HOLE] = 65535
    for key in ("white", "65535", "#ffffff", "65535,65535,65535"):
        assert np.array_equal(require_missing(Picture(pixels), key=key).mask, HOLE)
    with pytest.raises(UserError, match="gray"):
        require_missing(Picture(pixels), key="magenta")


def test_tolerance() -> None:
    pixels = rgb().pixels.copy()
    pixels[HOLE] = (250, 4, 255)
    with pytest.raises(UserError, match="tolerance"):
        require_missing(Picture(pixels), key="magenta", tolerance=4)
    assert np.array_equal(require_missing(Picture(pixels), key="magenta", tolerance=5).mask, HOLE)
    for bad in (-1, np.nan, np.inf):
        with pytest.raises(UserError, match="of at least 0"):
            require_missing(Picture(pixels), key="magenta", tolerance=bad)


def test_union_of_all_sources() -> None:
    pixels = rgb("f4").pixels.copy()
    pixels[0, 0] = (1, 0, 1)
    pixels[0, 1, 2] = np.nan
    alpha = np.ones(SHAPE, np.float32)
    alpha[0, 2] = 0
    mask = np.zeros(SHAPE, bool)
    mask[0, 3] = True
    missing = require_missing(Picture(pixels, alpha), mask=mask, key="magenta")
    assert missing.sources == ("alpha", "nan", "mask", "key")
    expected = np.zeros((*SHAPE, 3), bool)
    expected[0, [0, 2, 3]] = True
    expected[0, 1, 2] = True
    assert np.array_equal(missing.mask, expected)


def test_a_source_that_marks_nothing_is_not_named() -> None:
    opaque = Picture(rgb().pixels, np.full(SHAPE, 255, np.uint8))
    assert require_missing(opaque, mask=HOLE).sources == ("mask",)


def test_sentences() -> None:
    with pytest.raises(UserError, match="No missing pixels were found; mark them"):
        require_missing(rgb())
    with pytest.raises(UserError, match="The mask has 9 x 5 pixels but the picture has 8 x 6"):
        require_missing(rgb(), mask=np.ones((5, 9), np.uint8))
    with pytest.raises(UserError, match="marks no pixel"):
        require_missing(rgb(), mask=~HOLE & HOLE)
    with pytest.raises(UserError, match="No pixel has that color"):
        require_missing(rgb(), key="magenta")
    with pytest.raises(UserError, match="Neither"):
        require_missing(rgb(), key="magenta", mask=np.zeros(SHAPE, bool))
    with pytest.raises(UserError, match=r"Every pixel.*invert the mask"):
        require_missing(rgb(), mask=HOLE | ~HOLE)
    with pytest.raises(UserError, match="Every pixel"):
        require_missing(rgb(), key="50")
    with pytest.raises(UserError, match="NaN"):
        require_missing(rgb(), mask=np.full(SHAPE, np.nan))
    for bad in (np.zeros(8), np.array([["a"]]), np.zeros((1, 1, 1, 1))):
        with pytest.raises(UserError, match="not an image"):
            require_missing(rgb(), mask=bad)


def test_all_css_names() -> None:
    for name in ImageColor.colormap:
        red, green, blue = ImageColor.getrgb(name)[:3]
        assert parse_color(name.upper(), np.uint8) == (red, green, blue)


@pytest.mark.parametrize(
    "text",
    ["", "#12", "#12345", "#ff00ff00", "nocolor", "1,2", "1,2,3,4", "rgb(1,2,3)", "nan", "1e"],
)
def test_what_is_not_a_color(text: str) -> None:
    with pytest.raises(UserError, match="not a color"):
        parse_color(text, np.uint8)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_tolerance_and_key_beyond_all_values(dtype) -> None:
    picture = Picture(np.array([[0, 1]], dtype))
    assert collect_missing(picture, key="0", tolerance=1e308).mask.all()
    assert not collect_missing(picture, key="1e308").mask.any()


def soft_picture() -> Picture:
    """A hole with a soft rim, and a soft spot elsewhere."""
    alpha = np.full((30, 40), 255, np.uint8)
    alpha[5:15, 5:15] = 90
    alpha[8:12, 8:12] = 0
    alpha[20:24, 30:34] = 90
    return Picture(np.full((30, 40, 3), 100, np.uint8), alpha)


def test_the_soft_rim_of_a_hole_is_missing_too():
    picture = soft_picture()
    found = collect_missing(picture)
    assert found.sources == ("alpha", "soft")
    assert found.mask[5:15, 5:15].all()
    assert found.mask.sum() == 100, "a soft spot by itself is no damage"
    assert collect_missing(picture, soft_edges=False).mask.sum() == 16


def test_a_picture_that_is_translucent_as_a_whole_has_no_soft_rims():
    picture = soft_picture()
    alpha = np.minimum(picture.alpha, 200)
    assert collect_missing(Picture(picture.pixels, alpha)).mask.sum() == 16
