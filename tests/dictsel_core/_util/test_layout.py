"""Which axes are rows, columns and channels; nothing is guessed."""

import numpy as np
import pytest

from dictsel_core._util.arrays import as_layout


@pytest.mark.parametrize(
    ("shape", "options", "split"),
    [
        ((5, 6), {}, (1, 5, 6)),
        ((5, 6, 3), {}, (1, 5, 6, 3)),
        ((5, 6, 1), {}, (1, 5, 6, 1)),
        ((5, 6, 4), {"channel_axis": -1}, (1, 5, 6, 4)),
        ((7, 5, 6), {"channel_axis": 0}, (1, 5, 6, 7)),
        ((7, 5, 6), {"axes": (1, 2)}, (7, 5, 6)),
        ((5, 6, 7), {"axes": (-2, 0)}, (7, 5, 6)),
        ((2, 3, 5, 4, 6), {"channel_axis": 3, "axes": (2, 4)}, (6, 5, 6, 4)),
    ],
)
def test_arrays_are_split_into_images_and_joined_again(shape, options, split):
    array = np.arange(np.prod(shape)).reshape(shape)
    layout = as_layout(shape, **options)
    assert layout.split(array).shape == split
    assert layout.n_channels == (split[3] if len(split) == 4 else 1)
    np.testing.assert_array_equal(layout.join(layout.split(array)), array)


def test_axes_may_have_names():
    layout = as_layout((2, 7, 5, 6), "band", ("y", "x"), ("time", "band", "y", "x"))
    assert layout == as_layout((2, 7, 5, 6), 1, (2, 3))


def test_masks_may_leave_out_channels_and_images():
    layout = as_layout((2, 7, 5, 6), 1, (2, 3))
    full = np.random.default_rng(0).random((2, 7, 5, 6)) < 0.5
    assert layout.split_mask(full).shape == (2, 5, 6, 7)
    np.testing.assert_array_equal(layout.split_mask(full)[1, :, :, 3], full[1, 3])
    shared = layout.split_mask(full[:, 0])
    assert shared.shape == (2, 5, 6, 1)
    np.testing.assert_array_equal(shared[1, :, :, 0], full[1, 0])
    np.testing.assert_array_equal(layout.split_mask(full[0, 0])[1, :, :, 0], full[0, 0])
    with pytest.raises(ValueError, match=r"\(2, 7, 5, 6\) or \(2, 5, 6\) or \(5, 6\), but its shape is"):
        layout.split_mask(full[:, :, 0])


def test_an_image_of_a_stack_is_named_by_its_place():
    assert as_layout((4, 3, 5, 6), 1, (2, 3)).describe(2) == "[2, :, :, :]"
    assert as_layout((5, 6, 2, 4), None, (0, 1)).describe(6) == "[:, :, 1, 2]"


@pytest.mark.parametrize(
    ("shape", "options", "error", "sentence"),
    [
        ((40, 50, 4), {}, ValueError, r"channel_axis=-1 .* axes=\(1, 2\)"),
        ((2, 40, 50), {}, ValueError, r"channel_axis=0 .* axes=\(1, 2\)"),
        ((9, 2, 40, 50), {}, ValueError, r"axes=\(2, 3\)"),
        ((9, 2, 40, 50), {"channel_axis": 1}, ValueError, r"axes=\(2, 3\)"),
        ((40, 50), {"channel_axis": -1}, ValueError, "no rows and columns besides"),
        ((40, 50, 3), {"channel_axis": 3}, ValueError, "out of range"),
        ((40, 50, 3), {"channel_axis": 1.0}, TypeError, "whole numbers"),
        ((40, 50, 3), {"channel_axis": "band"}, ValueError, "no names"),
        ((40, 50, 3), {"axes": 1}, TypeError, "two axes"),
        ((40, 50, 3), {"axes": "yx"}, TypeError, "two axes"),
        ((40, 50, 3), {"axes": (1, 1)}, ValueError, "different axes"),
        ((40, 50, 3), {"axes": (1, 2), "channel_axis": 2}, ValueError, "different axes"),
        ((40,), {}, ValueError, "height, width"),
    ],
)
def test_what_is_ambiguous_or_wrong_is_refused_with_the_way_out(shape, options, error, sentence):
    with pytest.raises(error, match=sentence):
        as_layout(shape, **options)
