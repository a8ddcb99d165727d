import numpy as np
import pytest

from dictsel_core import restore
from inpaint_app.errors import UserError
from inpaint_app.napari_plugin.fill import fill, fill_request


def filled(data, labels=None, **options):
    """Fill data, and check that nothing but what is missing has changed."""
    request = fill_request(data, labels, "fast", **options)
    steps = fill(request)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result = end.value
            break
    assert result.shape == data.shape and result.dtype == data.dtype
    assert np.array_equal(result[~request.missing], data[~request.missing])
    return result


def test_nan_is_filled_as_by_the_library(waves, hole):
    damaged = np.where(hole, np.nan, waves)
    assert np.array_equal(filled(damaged), restore(damaged, settings="fast", axes=(0, 1)).image)


def test_labeled_pixels_are_filled(waves, hole):
    labels = np.where(hole, 7, 0)
    assert np.abs(filled(np.where(hole, 0, waves), labels) - waves).max() < 0.05


def test_infinite_and_labeled_pixels_are_both_missing(waves, hole):
    damaged = waves.copy()
    damaged[20, 30] = np.inf
    assert fill_request(damaged, hole.astype(int), "fast").missing.sum() == hole.sum() + 1


@pytest.mark.parametrize("planes", [(3,), (2, 2)])
def test_volumes_and_series_are_filled_plane_by_plane(waves, hole, planes):
    labels = hole.astype(np.uint8)
    stack = np.broadcast_to(waves, (*planes, *waves.shape)).copy()
    result = filled(np.where(hole, 0, stack), labels)
    assert np.abs(result - stack).max() < 0.05
    whole = np.broadcast_to(labels, stack.shape)
    assert np.array_equal(result, filled(np.where(hole, 0, stack), whole))


def test_progress_names_the_plane(waves, hole):
    stack = np.stack([np.where(hole, np.nan, waves)] * 2)
    stages = [progress.stage for progress in fill(fill_request(stack, None, "fast"))]
    assert any(stage.startswith("plane 2 of 2: ") for stage in stages)


def test_colors_of_an_rgb_image_are_filled(waves, hole):
    colors = (np.stack([waves, waves**2, 1 - waves], axis=-1) * 200).astype(np.uint8)
    damaged = np.where(hole[..., None], 0, colors).astype(np.uint8)
    assert np.abs(filled(damaged, hole.astype(int), is_rgb=True).astype(int) - colors).max() < 20


def test_transparent_pixels_are_missing_and_become_opaque(waves, hole):
    alpha = np.where(hole, 0.0, 0.7)
    result = filled(np.stack([waves, waves, waves, alpha], axis=-1), is_rgb=True)
    assert np.array_equal(result[..., 3], np.where(hole, 1, 0.7))


def test_a_fourth_channel_is_no_alpha_unless_the_layer_is_rgb(waves, hole):
    data = np.zeros((*waves.shape, 4))
    data[np.where(hole)[0], np.where(hole)[1]] = np.nan
    assert fill_request(data, None, "fast").missing.shape == data.shape


@pytest.mark.parametrize(
    ("data", "labels", "problem"),
    [
        (np.zeros((8, 8), bool), None, "holds values of type bool"),
        (np.zeros(8), None, "has 1 dimensions"),
        (np.zeros((1, 1, 1, 8, 8)), None, "has 5 dimensions"),
        (np.zeros((8, 8)), None, "has no NaN"),
        (np.zeros((8, 8)), np.zeros((8, 8), int), "labels layer is empty"),
        (np.zeros((8, 8)), np.ones((8, 9), int), "has 8 x 9 pixels, but the image has 8 x 8"),
        (np.zeros((3, 8, 8)), np.ones((2, 8, 8), int), "has 2 x 8 x 8 pixels"),
        (np.stack([np.zeros((8, 8)), np.full((8, 8), np.nan)]), None, "Every pixel of plane 1 is missing"),
        (np.full((1, 1, 8, 8), np.nan), None, "Every pixel of plane 0, 0 is missing"),
        (np.zeros((8, 8)), np.ones((8, 8), int), "Every pixel of the image is missing"),
    ],
)
def test_bad_input_is_one_sentence(data, labels, problem):
    with pytest.raises(UserError, match=problem):
        fill_request(data, labels, "fast")


def test_an_abandoned_run_is_closed(waves, hole):
    steps = fill(fill_request(np.where(hole, np.nan, waves), None, "fast"))
    next(steps)
    steps.close()
    with pytest.raises(StopIteration):
        next(steps)
