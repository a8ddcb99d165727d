"""The tolerance of a color that marks missing pixels."""

from dataclasses import replace

import numpy as np
import pytest
import skimage.data
from PIL import Image, ImageDraw

from inpaint_app.io.read import read_picture
from inpaint_app.model.marks import choose_tolerance, note_on_neighbors
from inpaint_app.model.missing import collect_missing
from inpaint_app.model.picture import Picture

COLORS = {"#ff00ff": (255, 0, 255), "#00ff00": (0, 255, 0), "white": (255, 255, 255)}


def marked(key: str) -> tuple[np.ndarray, np.ndarray]:
    pixels = skimage.data.chelsea()
    page = Image.new("1", pixels.shape[1::-1])
    for start in range(20, 300, 40):
        ImageDraw.Draw(page).line((start, 10, start + 120, 280), fill=1, width=5)
    mask = np.array(page)
    pixels[mask] = COLORS[key]
    return pixels, mask


def compressed(pixels: np.ndarray, tmp_path, quality: int) -> Picture:
    Image.fromarray(pixels).save(tmp_path / "a.jpg", quality=quality)
    return read_picture(tmp_path / "a.jpg")


@pytest.mark.parametrize("key", COLORS)
def test_exact_marks_need_none(key) -> None:
    pixels, mask = marked(key)
    assert choose_tolerance(Picture(pixels), key) == 0
    assert choose_tolerance(Picture(pixels.astype(np.uint16) * 257), key) == 0
    assert np.array_equal(collect_missing(Picture(pixels), key=key).mask, mask)


@pytest.mark.parametrize("quality", [50, 75, 90])
@pytest.mark.parametrize("key", ["#ff00ff", "#00ff00"])
def test_compressed_marks_are_found_nevertheless(key, quality, tmp_path) -> None:
    pixels, mask = marked(key)
    picture = compressed(pixels, tmp_path, quality)
    few = collect_missing(picture, key=key, tolerance=8, grow=None).mask
    tolerance = choose_tolerance(picture, key)
    found = collect_missing(picture, key=key, tolerance=tolerance, grow=None).mask
    assert np.count_nonzero(few & mask) < 0.8 * mask.sum()
    assert np.count_nonzero(found & mask) > 0.95 * mask.sum()
    far = ~collect_missing(Picture(np.zeros_like(mask, np.uint8)), mask=mask, grow=4).mask
    assert not (found & far).any()
    again = picture.with_metadata(source_format="PNG")
    assert choose_tolerance(again, key) == tolerance, "a PNG that was a JPEG"
    assert note_on_neighbors(picture, key, 8, few)
    assert not note_on_neighbors(Picture(pixels), key, 0, mask)


def test_measurements_and_plain_values_are_exact() -> None:
    dark = np.random.default_rng(0).integers(0, 30, (40, 40))
    for picture in (
        Picture(dark.astype(np.uint8)),
        Picture(dark.astype(np.float32)),
        Picture(dark.astype(np.int16)),
    ):
        assert choose_tolerance(picture, "0") == 0


def test_a_tolerance_for_16_bits_is_in_their_values(tmp_path) -> None:
    pixels, _ = marked("#ff00ff")
    picture = compressed(pixels, tmp_path, 75)
    wide = replace(picture, pixels=picture.pixels.astype(np.uint16) * 257)
    assert choose_tolerance(wide, "#ff00ff") == 257 * choose_tolerance(picture, "#ff00ff")
