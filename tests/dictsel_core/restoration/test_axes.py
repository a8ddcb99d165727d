"""Which axes are rows, columns and channels; nothing is guessed."""

import numpy as np
import pytest

from dictsel_core import restore


def ramp(shape):
    """Values that differ everywhere, and hardly between neighbors."""
    return sum(np.indices(shape, float) * 10.0 ** -np.arange(len(shape)).reshape(-1, *[1] * len(shape)))


@pytest.mark.parametrize(
    ("shape", "options", "n_images"),
    [
        ((5, 6), {}, 1),
        ((5, 6, 3), {}, 1),
        ((5, 6, 1), {}, 1),
        ((5, 6, 4), {"channel_axis": -1}, 1),
        ((7, 5, 6), {"channel_axis": 0}, 1),
        ((7, 5, 6), {"axes": (1, 2)}, 7),
        ((5, 6, 7), {"axes": (-2, 0)}, 7),
        ((2, 3, 5, 4, 6), {"channel_axis": 3, "axes": (2, 4)}, 6),
    ],
)
def test_arrays_are_split_into_images_and_joined_again(shape, options, n_images):
    image, mask = ramp(shape), np.random.default_rng(0).random(shape) < 0.1
    restoration = restore(image, mask, "fast", **options)
    assert restoration.image.shape == shape
    np.testing.assert_array_equal(restoration.image[~mask], image[~mask])
    assert np.isfinite(restoration.image).all()
    if n_images > 1:
        assert restoration.patch_positions.shape[1] == 3
        assert restoration.patch_positions[:, 0].max() < n_images


def test_masks_may_leave_out_channels_and_images():
    volume, options = ramp((2, 7, 9, 12)), {"channel_axis": 1, "axes": (2, 3)}
    full = np.random.default_rng(0).random(volume.shape) < 0.3
    for mask in (full[:, 0], full[0, 0]):
        whole = np.broadcast_to(mask[:, None] if mask.ndim == 3 else mask, volume.shape)
        expected = restore(volume, whole, "fast", **options).image
        np.testing.assert_array_equal(restore(volume, mask, "fast", **options).image, expected)
        np.testing.assert_array_equal(expected[~whole], volume[~whole])
    with pytest.raises(ValueError, match=r"\(2, 7, 9, 12\) or \(2, 9, 12\) or \(9, 12\), but its shape is"):
        restore(volume, full[:, :, 0], **options)


@pytest.mark.parametrize(
    ("shape", "options", "place", "name"),
    [
        ((4, 3, 5, 6), {"channel_axis": 1, "axes": (2, 3)}, np.s_[2], r"\[2, :, :, :\]"),
        ((5, 6, 2, 4), {"axes": (0, 1)}, np.s_[:, :, 1, 2], r"\[:, :, 1, 2\]"),
    ],
)
def test_an_image_of_a_stack_is_named_by_its_place(shape, options, place, name):
    mask = np.zeros(shape, bool)
    mask[place] = True
    with pytest.raises(ValueError, match=f"Every pixel of image{name} is missing"):
        restore(ramp(shape), mask, **options)


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
        restore(np.zeros(shape), **options)
