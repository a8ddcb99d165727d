"""Which holes are completed by example."""

import numpy as np
import pytest

from dictsel_core.restoration.canvas import Canvas, observed_ranges
from dictsel_core.restoration.wide import pixels_to_complete


def canvas_with_two_holes(dtype):
    missing = np.zeros((80, 120, 1), bool)
    missing[20:50, 10:40] = missing[20:50, 70:100] = True
    image = np.zeros((80, 120), dtype)
    return Canvas(image, missing, observed_ranges(image, missing))


@pytest.mark.parametrize(
    ("fill", "dtype", "is_completed"),
    [("auto", np.uint8, True), ("auto", float, False), ("smooth", np.uint8, False), ("texture", float, True)],
)
def test_floats_are_completed_only_on_request(fill, dtype, is_completed):
    assert pixels_to_complete(canvas_with_two_holes(dtype), fill).any() == is_completed


def test_holes_without_any_of_the_given_pixels_are_left_out():
    canvas = canvas_with_two_holes(np.uint8)
    among = np.zeros(canvas.shape, bool)
    among[30, 80] = among[0, 0] = True
    chosen = pixels_to_complete(canvas, "auto", among)
    assert (chosen[:, 60:] == canvas.missing[:, 60:, 0]).all()
    assert not chosen[:, :60].any()
