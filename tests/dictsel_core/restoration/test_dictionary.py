import numpy as np
import pytest

from dictsel_core import RestoreSettings, replacement_omp, restore, standard_ground_set

FAST = RestoreSettings(rounds=0, fill="smooth")
OMP = RestoreSettings(rounds=0, fill="smooth", selector="romp", n_atoms=6)


def selected_by_hand(image, mask, positions):
    """Cut the patches at some positions from an image that is mirrored, and select a dictionary on them."""
    size, n_channels = OMP.patch_size, image.shape[2]
    masks = np.broadcast_to(mask.reshape(*image.shape[:2], -1), image.shape)
    observed = image[~masks]
    low, high = float(observed.min()), float(observed.max())
    unit = np.where(masks, 0, (image - low) / (high - low)).astype(np.float32)
    margins = [(0, -length % size) for length in image.shape[:2]]
    n_patches, data, missing = len(positions) // n_channels, [], []
    for number, (row, column) in enumerate(positions):
        channel, place = number // n_patches, np.s_[row : row + size, column : column + size]
        data.append(np.pad(unit[:, :, channel], margins, mode="symmetric")[place].ravel())
        missing.append(np.pad(masks[:, :, channel], margins, mode="symmetric")[place].ravel())
    constraint = OMP.constraint_for(len(data))
    return replacement_omp(standard_ground_set(), data, constraint, OMP.n_atoms, mask=missing)


@pytest.mark.parametrize("n_layers", [1, 3])
@pytest.mark.parametrize("shape", [(24, 32), (13, 19)], ids=["whole patches", "odd borders, mirrored"])
def test_the_dictionary_is_selected_on_the_patches_of_all_channels(shape, n_layers):
    rng = np.random.default_rng(1)
    image = rng.integers(0, 60000, (*shape, 3)).astype(np.uint16)
    mask = rng.random((*shape, n_layers)) < 0.4
    restored = restore(image, mask if n_layers > 1 else mask[:, :, 0], OMP)
    across = [(row, column) for row in range(0, shape[0], 8) for column in range(0, shape[1], 8)]
    assert restored.patch_positions.tolist() == [list(each) for each in across] * 3
    expected = selected_by_hand(image, mask, restored.patch_positions)
    np.testing.assert_array_equal(restored.selection.indices, expected.indices)
    for support, other in zip(restored.selection.supports, expected.supports, strict=True):
        np.testing.assert_array_equal(support, other)


def test_patches_with_few_observed_pixels_are_left_out_unless_there_are_no_others():
    image = np.random.default_rng(0).random((80, 80))
    half = np.zeros(image.shape, bool)
    half[:40] = True
    half[0, 0] = False  # one observed pixel in this half
    assert len(restore(image, half, FAST).patch_positions) == 50
    sparse = np.ones(image.shape, bool)
    sparse[::8, ::8] = False
    assert len(restore(image, sparse, FAST).patch_positions) == 100
