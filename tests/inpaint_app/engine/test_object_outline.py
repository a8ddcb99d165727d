"""The outline of an object: it follows the object, not the line around it."""

import numpy as np
import pytest

from inpaint_app.engine.control import CancelledError, JobControl
from inpaint_app.engine.object_outline import outline_object
from inpaint_app.model.missing import dilate
from inpaint_app.model.picture import Rect


def scene(shape: tuple[int, int], *, is_gray: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """An ellipse with an arm on a noisy slope, and which pixels are the object."""
    rows, columns = np.mgrid[: shape[0], : shape[1]] / np.array(shape)[:, None, None]
    body = ((rows - 0.5) / 0.18) ** 2 + ((columns - 0.45) / 0.14) ** 2 < 1
    arm = (abs(rows - 0.5) < 0.05) & (columns > 0.45) & (columns < 0.72)
    truth = body | arm
    rng = np.random.default_rng(1)
    picture = np.stack([90 + 60 * columns, 120 + 20 * rows, 100 + 0 * rows], axis=2)
    picture[truth] = (60, 70, 170)
    picture += rng.normal(0, 6, picture.shape)
    pixels = np.clip(picture, 0, 255).astype(np.uint8)
    return (pixels[..., 2] if is_gray else pixels), truth


def line_around(shape: tuple[int, int]) -> tuple[Rect, np.ndarray]:
    """A loose oval line around the object."""
    rows, columns = np.mgrid[: shape[0], : shape[1]] / np.array(shape)[:, None, None]
    inside = ((rows - 0.5) / 0.3) ** 2 + ((columns - 0.5) / 0.3) ** 2 < 1
    ys, xs = np.nonzero(inside)
    rect = Rect(int(ys.min()), int(xs.min()), int(np.ptp(ys)) + 1, int(np.ptp(xs)) + 1)
    return rect, inside[rect.slices]


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    return float((one & other).sum() / (one | other).sum())


@pytest.mark.parametrize("is_gray", [False, True], ids=["color", "gray"])
@pytest.mark.parametrize("shape", [(120, 160), (900, 1100)], ids=["small", "reduced"])
def test_it_finds_the_object_inside_a_loose_line(shape, is_gray) -> None:
    pixels, truth = scene(shape, is_gray=is_gray)
    rect, inside = line_around(shape)
    found_rect, found = outline_object(pixels, rect, inside, JobControl())
    full = np.zeros(shape, bool)
    full[found_rect.slices] = found
    line = np.zeros(shape, bool)
    line[rect.slices] = inside
    assert overlap(line, truth) < 0.5, "the line itself is far off"
    assert overlap(full, dilate(truth, 1)) > 0.92, "with a pixel for its soft edge"
    assert not (full & ~line).any()


def test_where_there_is_no_object_all_that_is_surrounded_is_taken() -> None:
    rect, inside = line_around((80, 80))
    found_rect, found = outline_object(np.full((80, 80), 9, np.uint8), rect, inside, JobControl())
    assert found.any()
    assert not (found & ~inside[: found_rect.height]).any()


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_other_types_of_pixels(dtype) -> None:
    pixels, truth = scene((120, 160))
    values = (pixels.astype(float) * (257 if dtype is np.uint16 else 1 / 255)).astype(dtype)
    rect, inside = line_around((120, 160))
    _, found = outline_object(values, rect, inside, JobControl())
    assert overlap(found, dilate(truth, 1)[rect.slices]) > 0.92


def test_it_can_be_cancelled() -> None:
    control = JobControl()
    control.cancel()
    rect, inside = line_around((80, 80))
    with pytest.raises(CancelledError):
        outline_object(scene((80, 80))[0], rect, inside, control)


def test_a_line_around_the_whole_picture_is_answered() -> None:
    pixels, _ = scene((60, 60))
    whole = Rect(0, 0, 60, 60)
    rect, found = outline_object(pixels, whole, np.ones((60, 60), bool), JobControl())
    assert rect == whole
    assert found.any()


@pytest.mark.parametrize("side", [1, 2, 3, 5])
def test_a_line_around_a_speck_is_answered(side) -> None:
    rect, inside = Rect(50, 70, side, side), np.ones((side, side), bool)
    found_rect, found = outline_object(scene((120, 160))[0], rect, inside, JobControl())
    assert found_rect == rect
    assert found.any()
