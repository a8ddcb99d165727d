"""Images of a stack are judged as `restore` refines them: with their neighbors, if these help."""

import numpy as np
import pytest
from pictures import photograph

from dictsel_core import RestoreSettings, estimate_psnr, psnr, restore, tune
from dictsel_core.evaluation import tuning
from dictsel_core.restoration.damaged import as_damaged
from dictsel_core.restoration.stack import errors_among_neighbors, neighbor_reach

QUICK = RestoreSettings(n_atoms=12, coding_sparsity=4, rounds=2, threads=1)
SIZE = 64


@pytest.fixture(scope="module")
def film():
    """Frames of a photograph that moves by a pixel each."""
    wide = photograph(SIZE + 8)
    return np.stack([wide[z : z + SIZE, z : z + SIZE] for z in range(5)])


@pytest.fixture(scope="module")
def mask(film):
    return np.random.default_rng(5).random(film.shape) < 0.7


def estimated(film, mask, neighbor_planes):
    return estimate_psnr(film, mask, QUICK, axes=(1, 2), neighbor_planes=neighbor_planes).psnr


def test_the_estimate_of_a_stack_is_that_of_its_neighbors_too(film, mask):
    true = [
        psnr(film, restore(film, mask, QUICK, axes=(1, 2), neighbor_planes=reach).image, mask=mask)
        for reach in (0, 2)
    ]
    alone, together = (estimated(film, mask, reach) for reach in (0, 2))
    assert together - alone == pytest.approx(true[1] - true[0], abs=0.7)
    assert together == pytest.approx(true[1], abs=1)
    assert estimated(film, mask, None) == together  # as `restore` decides


def test_errors_among_neighbors_are_those_of_restoring_these_images(film, mask):
    damaged = as_damaged(film, mask, axes=(1, 2))
    part = damaged.parts()[1]
    held_out = np.zeros((SIZE, SIZE, 1), bool)
    held_out[::7, ::5, 0] = ~mask[1, ::7, ::5]
    hidden = mask[:4].copy()
    hidden[1] |= held_out[:, :, 0]
    restored = restore(film[:4], hidden, QUICK, axes=(1, 2), neighbor_planes=2).image
    expected = np.square(np.subtract(restored[1], film[1], dtype=float))[held_out[:, :, 0]]
    everywhere = slice(0, SIZE), slice(0, SIZE)
    found = errors_among_neighbors(damaged, part, everywhere, held_out, QUICK, 2)
    np.testing.assert_array_equal(found, expected)


def test_a_neighbor_of_which_nothing_is_observed_in_a_region_is_left_out(film, mask):
    mask = mask.copy()
    mask[2, :32, :32] = True
    damaged = as_damaged(film, mask, axes=(1, 2))
    region, held_out = (slice(0, 32), slice(0, 32)), np.zeros((32, 32, 1), bool)
    held_out[::5, ::5, 0] = ~mask[1, :32:5, :32:5]
    errors = errors_among_neighbors(damaged, damaged.parts()[1], region, held_out, QUICK, 1)
    assert len(errors) == held_out.sum()


def test_a_single_image_has_no_neighbors(film, mask):
    assert neighbor_reach(as_damaged(film[0], mask[0]), QUICK, 2) == 0
    assert neighbor_reach(as_damaged(film[:1], mask[:1], axes=(1, 2)), QUICK, None) == 0


def test_settings_are_compared_with_neighbors_after_refinement(monkeypatch, film, mask):
    monkeypatch.setattr(tuning, "N_ATOMS", (8,))
    monkeypatch.setattr(tuning, "CODING_SPARSITIES", (4,))
    monkeypatch.setattr(tuning, "MEAN_SPARSITIES", (2.0,))
    alone, together = (
        tune(film, mask, QUICK, axes=(1, 2), neighbor_planes=reach).given_psnr for reach in (0, 2)
    )
    assert together > alone + 0.5


@pytest.mark.parametrize("function", [estimate_psnr, tune])
def test_a_wrong_number_of_neighbors_is_refused(function, film, mask):
    with pytest.raises(ValueError, match="neighbor_planes must be"):
        function(film, mask, QUICK, axes=(1, 2), neighbor_planes=-1)
