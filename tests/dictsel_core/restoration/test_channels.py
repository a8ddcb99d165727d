import numpy as np
from pictures import photograph, random_mask

from dictsel_core import GeneratorRun, RestoreSettings
from dictsel_core.bases import orthonormal_basis
from dictsel_core.restoration.canvas import as_canvas
from dictsel_core.restoration.channels import estimate_from_others
from dictsel_core.restoration.coding import has_less_detail, patch_coder


def coder():
    dictionary = orthonormal_basis("dct", (8, 8)).atoms[:, :12]
    return patch_coder(dictionary, RestoreSettings.preset("fast").resolved(0.5, 64))


def estimated(image, mask, channel):
    canvas = as_canvas(image, mask)
    return GeneratorRun(estimate_from_others(canvas, canvas.planes(), channel, coder())).finish()


def test_a_channel_that_differs_by_a_constant_is_known_where_the_other_is():
    gray = photograph(48) / 510.0
    image = np.dstack([gray, gray + 0.25, gray])
    mask = np.zeros(image.shape, bool)
    mask[:, :, 1] = random_mask(gray.shape, 0.6)
    estimates, where = estimated(image, mask, 1)
    np.testing.assert_array_equal(where, mask[:, :, 1])
    scale = image.max() - image.min()
    np.testing.assert_allclose(estimates[where] * scale + image.min(), image[where, 1], atol=0.01)
    assert not estimated(image, mask, 0)[1].any(), "nothing of it is missing"


def test_what_has_more_detail_than_the_channel_is_not_used():
    rng = np.random.default_rng(0)
    smooth = np.add.outer(np.arange(48), np.arange(48)) / 96
    image = np.dstack([smooth, rng.random((48, 48)), smooth])
    mask = np.zeros(image.shape, bool)
    mask[:, :, 0] = mask[:, :, 2] = random_mask((48, 48), 0.5)
    assert not estimated(image, mask, 0)[1].any()


def test_detail_is_what_a_coarser_scale_does_not_have():
    noise = np.random.default_rng(0).random((32, 32)).astype(np.float32)
    flat = np.full((32, 32), 0.5, np.float32)
    nothing, everything = np.zeros((32, 32), bool), np.ones((32, 32), bool)
    assert has_less_detail(flat, noise, nothing)
    assert not has_less_detail(noise, flat, nothing)
    assert not has_less_detail(flat, noise, everything)
