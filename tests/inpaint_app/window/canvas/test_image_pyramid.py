"""Arrays as images of Qt."""

import gc
import io

import numpy as np
import pytest
from PIL import Image, ImageCms
from PySide6.QtGui import QColor, QColorSpace, QImage

from inpaint_app.model.look import Look
from inpaint_app.window.canvas.image_pyramid import as_uint32, build_pyramid, display_values, to_image


def colors(image: QImage):
    return np.array(
        [
            [QColor(image.pixel(x, y)).getRgb()[:3] for x in range(image.width())]
            for y in range(image.height())
        ]
    )


@pytest.mark.parametrize("width", [1, 2, 3, 5, 7])
def test_rgb_pixels_arrive_whatever_the_width(width):
    pixels = np.random.default_rng(0).integers(0, 256, (4, width, 3), np.uint8)
    assert np.array_equal(colors(to_image(pixels)), pixels)


def test_gray_pixels_arrive_in_all_three_channels():
    pixels = np.random.default_rng(0).integers(0, 256, (300, 5), np.uint8)
    assert np.array_equal(colors(to_image(pixels)), np.repeat(pixels[..., None], 3, axis=2))


def test_image_outlives_its_array_and_does_not_follow_it():
    pixels = np.full((50, 51, 3), 7, np.uint8)
    image = to_image(pixels)
    pixels[:] = 200
    del pixels
    gc.collect()
    assert (colors(image) == 7).all()


def test_views_of_larger_arrays_are_read_in_their_own_order():
    pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    view = pixels[::-2, 3:20:3]
    assert np.array_equal(colors(to_image(view)), view)


def test_sixteen_bits_are_rounded_to_the_nearest_of_eight():
    pixels = np.array([[0, 128, 129, 257 * 9, 65535]], np.uint16)
    assert display_values(pixels).tolist() == [[0, 0, 1, 9, 255]]


def test_floats_are_clipped_and_what_is_no_number_is_gray():
    pixels = np.array([[-1, 0, 0.5, 1, 2, np.nan, np.inf, -np.inf]], np.float32)
    assert display_values(pixels).tolist() == [[0, 0, 128, 255, 255, 128, 128, 128]]


def test_range_stretches_and_an_empty_one_is_black():
    pixels = np.array([[10, 20, 30]], np.uint8)
    assert display_values(pixels, (10, 30)).tolist() == [[0, 128, 255]]
    assert display_values(pixels, (5, 5)).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("shape", [(1, 1), (3, 700), (513, 257), (1024, 600)])
def test_levels_are_halved_until_they_are_small(shape):
    levels = build_pyramid(np.zeros(shape, np.uint8))
    assert (levels.height, levels.width) == shape
    for finer, coarser in zip(levels.images, levels.images[1:], strict=False):
        assert coarser.width() == -(-finer.width() // 2)
        assert coarser.height() == -(-finer.height() // 2)
    assert max(levels.images[-1].width(), levels.images[-1].height()) <= 256


def test_halved_pixels_are_means():
    pixels = np.random.default_rng(0).integers(0, 256, (600, 602, 3), np.uint8)
    levels = build_pyramid(pixels)
    half = as_uint32(levels.images[1]).view(np.uint8).reshape(300, 301, 4)[..., 2::-1]
    means = pixels.reshape(300, 2, 301, 2, 3).mean(axis=(1, 3))
    difference = half - means
    assert np.abs(difference).max() <= 1
    assert abs(difference.mean()) < 0.05


def test_last_row_and_column_of_odd_sizes_are_kept():
    pixels = np.zeros((301, 303), np.uint8)
    pixels[-1] = 200
    pixels[:, -1] = 200
    half = build_pyramid(pixels).images[1]
    assert QColor(half.pixel(151, 150)).red() == 200
    assert QColor(half.pixel(0, 150)).red() == 200
    assert QColor(half.pixel(151, 0)).red() == 200


@pytest.mark.parametrize(("zoom", "level"), [(5, 0), (1, 0), (0.51, 0), (0.5, 1), (0.2, 2), (0.001, 2)])
def test_reduced_pictures_are_drawn_from_the_smallest_level_that_is_fine_enough(zoom, level):
    assert build_pyramid(np.zeros((900, 700), np.uint8)).best(zoom) == level


def test_translucent_pixels_are_drawn_on_a_checkerboard():
    pixels = np.full((100, 40, 3), 200, np.uint8)
    alpha = np.full((100, 40), 255, np.uint8)
    alpha[:, 10:30], alpha[:, 30:] = 128, 0
    shown = colors(to_image(pixels, alpha=alpha))
    assert (shown[:, :10] == 200).all()
    assert (shown[:, 30:] == 200).all(), "missing pixels are hatched, not see-through"
    assert set(np.unique(shown[:, 10:30])) == {151, 177}
    assert set(np.unique(shown[72, 10:30])) == {151, 177}, "in every band"


def test_colors_are_those_of_the_profile():
    wide = QColorSpace(QColorSpace.NamedColorSpace.ProPhotoRgb).iccProfile().data()
    pixels = np.random.default_rng(0).integers(60, 190, (70, 31, 3), np.uint8)
    shown = colors(to_image(pixels, icc=wide))
    source, screen = ImageCms.ImageCmsProfile(io.BytesIO(wide)), ImageCms.createProfile("sRGB")
    transform = ImageCms.buildTransform(source, screen, "RGB", "RGB", ImageCms.Intent.RELATIVE_COLORIMETRIC)
    expected = np.asarray(ImageCms.applyTransform(Image.fromarray(pixels), transform)).astype(int)
    assert np.abs(shown - pixels).max() > 20
    assert np.abs(shown - expected).max() <= 2


@pytest.mark.parametrize("is_color", [True, False])
@pytest.mark.parametrize("has_profile", [True, False])
def test_colors_are_those_of_the_screen(is_color, has_profile):
    wide, screen = (
        QColorSpace(name).iccProfile().data()
        for name in (QColorSpace.NamedColorSpace.ProPhotoRgb, QColorSpace.NamedColorSpace.AdobeRgb)
    )
    pixels = np.random.default_rng(0).integers(90, 160, (70, 31, 3) if is_color else (70, 31), np.uint8)
    has_profile = has_profile and is_color
    shown = colors(to_image(pixels, icc=wide if has_profile else None, screen=screen))
    given = ImageCms.ImageCmsProfile(io.BytesIO(wide)) if has_profile else ImageCms.createProfile("sRGB")
    target = ImageCms.ImageCmsProfile(io.BytesIO(screen))
    transform = ImageCms.buildTransform(given, target, "RGB", "RGB", ImageCms.Intent.RELATIVE_COLORIMETRIC)
    rgb = pixels if is_color else np.repeat(pixels[..., None], 3, axis=2)
    expected = np.asarray(ImageCms.applyTransform(Image.fromarray(rgb), transform)).astype(int)
    assert np.abs(shown - expected).max() <= 2
    assert not is_color or np.abs(shown - rgb).max() > 5


@pytest.mark.parametrize("shape", [(9, 9), (9, 9, 3)])
def test_a_profile_that_cannot_be_used_changes_nothing(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    wide = QColorSpace(QColorSpace.NamedColorSpace.ProPhotoRgb).iccProfile().data()
    for icc in (b"no profile", *((wide,) if len(shape) == 2 else ())):
        assert np.array_equal(as_uint32(to_image(pixels, icc=icc)), as_uint32(to_image(pixels)))


@pytest.fixture
def small_is_large(monkeypatch):
    monkeypatch.setattr("inpaint_app.window.canvas.image_pyramid._LARGE", 1)


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("shape", [(300, 401), (300, 401, 3)])
def test_large_pictures_of_eight_bits_take_no_memory_again(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    levels = build_pyramid(pixels, alpha=np.full(shape[:2], 255, np.uint8))
    assert np.shares_memory(levels.viewed, pixels)
    assert np.array_equal(colors(levels.images[0]), np.broadcast_to(np.atleast_3d(pixels), (300, 401, 3)))


@pytest.mark.parametrize("kind", ["gray", "color", "16 bits", "translucent", "in colors", "one channel"])
def test_large_pictures_look_as_small_ones_do(kind, monkeypatch):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (300, 401, 3), np.uint8)
    drawn = {}
    if kind == "gray":
        pixels = pixels[..., 0]
    elif kind == "16 bits":
        pixels = pixels.astype(np.uint16) * 200
    elif kind == "translucent":
        drawn["alpha"] = np.full((300, 401), 255, np.uint8)
        drawn["alpha"][200:] = 100
    elif kind == "in colors":
        pixels, drawn["look"] = pixels[..., 0], Look(color_map="heat")
    elif kind == "one channel":
        drawn["look"] = Look(channel=1)
    small = build_pyramid(pixels, **drawn)
    monkeypatch.setattr("inpaint_app.window.canvas.image_pyramid._LARGE", 1)
    large = build_pyramid(pixels, **drawn)
    assert large.viewed is not None
    assert all(
        one.convertToFormat(QImage.Format.Format_RGB32) == other
        for one, other in zip(large.images, small.images, strict=True)
    )
