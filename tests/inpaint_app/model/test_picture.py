"""The picture object."""

import numpy as np
import pytest

from inpaint_app.model.picture import Metadata, Picture


def test_arrays_are_read_only_and_the_input_is_not_touched() -> None:
    pixels = np.zeros((3, 4, 3), np.uint8)
    picture = Picture(pixels, pixels[..., 0])
    with pytest.raises(ValueError, match="read-only"):
        picture.pixels[0] = 1
    pixels[0] = 1  # still ours


def test_words() -> None:
    picture = Picture(np.zeros((3, 4, 3), np.uint16), np.zeros((3, 4), np.uint16))
    assert (picture.height, picture.width, picture.is_color, picture.depth) == (3, 4, True, 16)
    assert picture.max_value == 65535
    assert picture.mode == "16-bit color with transparency"
    assert Picture(np.zeros((3, 4), np.float32)).mode == "32-bit float gray"


@pytest.mark.parametrize(
    "pixels",
    [
        np.zeros((3, 4), np.int64),
        np.zeros((3, 4, 1), np.uint8),
        np.zeros((3,), np.uint8),
        np.zeros((0, 4), np.uint8),
        np.zeros((3, 4), ">u2"),
    ],
)
def test_other_arrays_are_refused(pixels: np.ndarray) -> None:
    with pytest.raises(ValueError, match="pixels must be"):
        Picture(pixels)


def test_alpha_must_fit() -> None:
    for alpha in (np.zeros((3, 5), np.uint8), np.zeros((3, 4), np.uint16)):
        with pytest.raises(ValueError, match="alpha"):
            Picture(np.zeros((3, 4), np.uint8), alpha)


def test_restored_pixels_become_opaque() -> None:
    alpha = np.array([[0, 100, 255]], np.uint8)
    picture = Picture(np.zeros((1, 3, 3), np.uint8), alpha, Metadata(exif=b"x", dpi=(1, 2)))
    filled = np.array([[True, False, False]])
    restored = picture.with_pixels(np.ones((1, 3, 3), np.uint8), filled=filled)
    assert restored.alpha is not None
    assert restored.alpha.tolist() == [[255, 100, 255]]
    assert (restored.metadata.exif, restored.metadata.dpi) == (b"x", (1, 2))
    per_channel = np.zeros((1, 3, 3), bool)
    per_channel[0, :2, 1] = True
    assert picture.with_pixels(picture.pixels, filled=per_channel).alpha is None  # opaque everywhere
