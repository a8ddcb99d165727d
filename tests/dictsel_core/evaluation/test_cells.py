"""The error of missing values from that of held-out ones."""

import numpy as np
import pytest

from dictsel_core.evaluation.estimation import Values, estimate_error


def values(rng, n, n_cells, distances=(1, 2)):
    return Values(rng.integers(0, n_cells, n), rng.choice(distances, n))


def test_distances_are_weighted_as_the_missing_ones_are():
    rng = np.random.default_rng(0)
    missing = Values(np.zeros(1000, int), np.full(1000, 2))
    held_out = values(rng, 1000, 1)
    errors = np.where(held_out.distances == 2, 4.0, 1.0)
    assert estimate_error(missing, held_out, errors, 0).center == pytest.approx(np.log(4))


def test_cells_are_weighted_as_the_missing_ones_are():
    rng = np.random.default_rng(0)
    missing = Values(np.repeat([0, 1], [900, 100]), np.ones(1000, int))
    held_out = values(rng, 1000, 2, (1,))
    errors = np.where(held_out.cells == 0, 1.0, 11.0)
    assert estimate_error(missing, held_out, errors, 0).center == pytest.approx(np.log(2))


def test_distances_at_which_nothing_is_held_out_are_unknown():
    rng = np.random.default_rng(0)
    missing = Values(np.zeros(100, int), np.repeat([1, 30], [75, 25]))
    assert estimate_error(missing, values(rng, 100, 1), np.ones(100), 0).unknown_fraction == 0.25


def test_intervals_hold_what_they_promise():
    """Cells of log-normal errors, of which one is missing and some are held out."""
    rng = np.random.default_rng(4)
    inside = []
    for _ in range(300):
        true = np.exp(rng.normal(-6, 0.9, 7))
        missing = Values(np.zeros(50, int), np.ones(50, int))
        held_out = Values(np.repeat(np.arange(1, 7), 50), np.ones(300, int))
        errors = true[held_out.cells]
        estimate = estimate_error(missing, held_out, errors, 0)
        inside.append(estimate.low < np.log(true[0]) < estimate.high)
    assert 0.85 < np.mean(inside) < 0.99


def test_more_of_the_same_is_more_certain():
    rng = np.random.default_rng(2)

    def width(n_cells):
        missing, held_out = values(rng, 50 * n_cells, n_cells), values(rng, 50 * n_cells, n_cells)
        result = estimate_error(missing, held_out, rng.lognormal(-6, 1, 50 * n_cells), 0)
        return result.high - result.low

    assert width(64) < 0.6 * width(4)
