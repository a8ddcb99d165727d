"""A color that somebody has marked damage with."""

import io

import numpy as np
import pytest
from PIL import Image

from inpaint_app.io.assets import ORIGINAL, read_sample
from inpaint_app.model.marking_color import find_marking_color
from inpaint_app.model.missing import detect_missing
from inpaint_app.model.picture import Picture


def with_marks(color: tuple[int, int, int], *, quality: int | None = None) -> tuple[Picture, np.ndarray]:
    """Return a photograph with two lines drawn on it, perhaps after compression, and where they are."""
    pixels = read_sample(ORIGINAL).pixels.copy()
    marks = np.zeros(pixels.shape[:2], bool)
    marks[100:104, 40:200] = marks[150:250, 220:224] = True
    pixels[marks] = color
    if quality is not None:
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "JPEG", quality=quality)
        pixels = np.asarray(Image.open(file))
    return Picture(pixels), marks


@pytest.mark.parametrize(
    ("color", "name"),
    [((255, 0, 0), "red"), ((237, 28, 36), "red"), ((0, 255, 0), "green"), ((0, 0, 255), "blue")],
)
@pytest.mark.parametrize("quality", [None, 75])
def test_marks_are_found_with_their_blurred_edges(color, name, quality) -> None:
    picture, marks = with_marks(color, quality=quality)
    found = find_marking_color(picture)
    assert found is not None
    assert found.name == name
    spec = found.spec
    missing = detect_missing(picture, key=spec.key, tolerance=spec.tolerance, grow=spec.grow).mask
    assert missing[marks].all()
    assert missing.mean() < 4 * marks.mean()


def test_sixteen_bits_are_looked_at_too() -> None:
    picture, marks = with_marks((255, 0, 0))
    deep = Picture(picture.pixels.astype(np.uint16) * 257)
    spec = find_marking_color(deep).spec
    assert detect_missing(deep, key=spec.key, tolerance=spec.tolerance).mask[marks].all()


def test_photographs_and_what_has_no_color_hold_none() -> None:
    sample = read_sample(ORIGINAL)
    assert find_marking_color(sample) is None
    assert find_marking_color(Picture(sample.pixels[..., 0])) is None
    assert find_marking_color(Picture(sample.pixels.astype(np.float32))) is None
    assert find_marking_color(Picture(np.full((1, 1, 3), (255, 0, 0), np.uint8))) is None


def test_a_shaded_object_is_no_mark() -> None:
    pixels = read_sample(ORIGINAL).pixels.copy()
    pixels[50:100, 50:100] = 0
    pixels[50:100, 50:100, 0] = np.linspace(150, 255, 50)
    assert find_marking_color(Picture(pixels)) is None
