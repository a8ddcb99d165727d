"""Marks that somebody drew on a picture with a vivid pen."""

import io

import numpy as np
import pytest
from PIL import Image

from inpaint_app.io.assets import ORIGINAL, read_sample
from inpaint_app.model import marks as drawn_marks
from inpaint_app.model.marks import find_drawn_marks
from inpaint_app.model.picture import Picture


def with_marks(color: tuple[int, int, int], *, quality: int | None = None) -> tuple[Picture, np.ndarray]:
    """Return a photograph with two lines drawn on it, perhaps after compression, and where they are."""
    pixels = read_sample(ORIGINAL).pixels.copy()
    marks = np.zeros(pixels.shape[:2], bool)
    marks[100:104, 40:200] = marks[150:250, 220:224] = True
    pixels[marks] = color
    return Picture(pixels if quality is None else compressed(pixels, quality)), marks


def compressed(pixels: np.ndarray, quality: int) -> np.ndarray:
    """Return pixels as a JPEG file keeps them."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file))


@pytest.mark.parametrize(
    ("color", "name", "quality"),
    [
        ((205, 40, 50), "red", None),  # compressed, it is too near to the fur
        *(
            (color, name, quality)
            for color, name in [
                ((255, 0, 0), "red"),
                ((237, 28, 36), "red"),
                ((0, 255, 0), "green"),
                ((0, 0, 255), "blue"),
                ((255, 20, 200), "magenta"),
            ]
            for quality in (None, 75)
        ),
    ],
)
def test_marks_are_found_with_their_blurred_edges(color, name, quality) -> None:
    picture, marks = with_marks(color, quality=quality)
    found = find_drawn_marks(picture)
    assert found is not None
    assert found.name == name
    assert found.mask[marks].all()
    assert found.mask.mean() < 4 * marks.mean()


def test_sixteen_bits_are_looked_at_too() -> None:
    picture, marks = with_marks((255, 0, 0))
    deep = Picture(picture.pixels.astype(np.uint16) * 257)
    assert find_drawn_marks(deep).mask[marks].all()


def test_photographs_and_what_has_no_color_hold_none() -> None:
    sample = read_sample(ORIGINAL)
    assert find_drawn_marks(sample) is None
    assert find_drawn_marks(Picture(sample.pixels[..., 0])) is None
    assert find_drawn_marks(Picture(sample.pixels.astype(np.float32))) is None
    assert find_drawn_marks(Picture(np.full((1, 1, 3), (255, 0, 0), np.uint8))) is None


def test_a_shaded_object_is_no_mark() -> None:
    pixels = read_sample(ORIGINAL).pixels.copy()
    pixels[50:100, 50:100] = 0
    pixels[50:100, 50:100, 0] = np.linspace(150, 255, 50)
    assert find_drawn_marks(Picture(pixels)) is None


def test_red_marks_are_found_beside_a_red_object_which_is_left_out() -> None:
    picture, marks = with_marks((255, 0, 0))
    pixels, rows = picture.pixels.copy(), np.arange(60)[:, None]
    thing = np.zeros(marks.shape, bool)
    thing[10:70, 20:100] = True
    pixels[10:70, 20:100] = np.stack([220 + rows // 2, 10 + 0 * rows, 12 + 0 * rows], axis=-1)
    found = find_drawn_marks(Picture(pixels))
    assert found is not None
    assert found.mask[marks].all()
    assert not found.mask[thing].any()


def test_a_red_ring_that_is_shaded_is_no_mark() -> None:
    pixels = read_sample(ORIGINAL).pixels.copy()
    y, x = np.mgrid[: pixels.shape[0], : pixels.shape[1]]
    far, angle = np.hypot(y - 120, x - 120), np.arctan2(y - 120, x - 120)
    stripes = (np.abs(far - 50) < 9) & (np.sin(4 * angle) > 0)
    shade = 1 - ((far - 50) / 14) ** 2
    pixels[stripes] = np.stack([235 * shade, 50 * shade, 40 * shade], axis=-1)[stripes].astype(np.uint8)
    assert find_drawn_marks(Picture(compressed(pixels, 90))) is None


def test_thin_marks_of_a_large_picture_are_found_in_full(monkeypatch) -> None:
    monkeypatch.setattr(drawn_marks, "_MAX_PIXELS", 20_000)
    picture, marks = with_marks((255, 0, 0))
    found = find_drawn_marks(picture)
    assert found.mask[marks].all()
    assert found.mask.mean() < 4 * marks.mean()
