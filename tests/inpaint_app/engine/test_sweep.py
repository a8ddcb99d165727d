"""A sweep: every point is what a restoration with that value gives."""

import numpy as np
import pytest

from dictsel_core import RestoreSettings, psnr, restore
from dictsel_core.evaluation import observed_range
from inpaint_app.engine.control import CancelledError, JobControl, Progress
from inpaint_app.engine.restore import RestoreRequest
from inpaint_app.engine.sweep import SweepPoint, SweepRequest, spread, sweep, with_value
from inpaint_app.errors import UserError

FAST = RestoreSettings(n_atoms=8, coding_sparsity=3, bases=("dct", "haar"), rounds=0)


@pytest.fixture
def damaged():
    rows, columns = np.mgrid[:48, :56]
    whole = (120 + 50 * np.sin(rows / 5) + 40 * np.cos(columns / 6)).astype(np.uint8)
    mask = np.random.default_rng(0).random(whole.shape) < 0.4
    return whole, np.where(mask, 0, whole).astype(np.uint8), mask


def test_points_are_those_of_restorations_with_each_value(damaged) -> None:
    whole, pixels, mask = damaged
    reports = []
    request = SweepRequest(RestoreRequest(pixels, mask, FAST), "n_atoms", (4, 16), whole)
    points = sweep(request, JobControl(reports.append))
    assert [point.value for point in points] == [4, 16]
    for point in points:
        image = restore(pixels, mask, with_value(FAST, "n_atoms", point.value)).image
        expected = psnr(whole, image, mask=mask, data_range=observed_range(whole))
        assert point.psnr == pytest.approx(expected)
    assert tuple(each for each in reports if isinstance(each, SweepPoint)) == points
    assert any(isinstance(each, Progress) for each in reports)


def test_without_the_original_pixels_are_held_out(damaged) -> None:
    _, pixels, mask = damaged
    points = sweep(SweepRequest(RestoreRequest(pixels, mask, FAST), "sparsity", (1, 5)), JobControl())
    assert all(point.psnr is not None and 10 < point.psnr < 60 for point in points)


def test_values_are_spread_in_ratios_or_steps() -> None:
    assert spread("n_atoms", 4, 64, 5) == (4, 8, 16, 32, 64)
    assert spread("rounds", 0, 3, 4) == (0, 1, 2, 3)
    assert spread("rounds", 0, 2, 10) == (0, 1, 2), "each once"
    assert spread("mean_sparsity", 1, 2, 3) == (1, 1.5, 2)


def test_a_budget_is_tried_under_average_sparsity() -> None:
    tried = with_value(RestoreSettings(constraint="individual"), "mean_sparsity", 2.5)
    assert (tried.constraint, tried.mean_sparsity) == ("average", 2.5)


def test_nothing_missing_is_refused_and_it_can_be_cancelled(damaged) -> None:
    whole, pixels, mask = damaged
    with pytest.raises(UserError):
        sweep(SweepRequest(RestoreRequest(whole, np.zeros_like(mask), FAST), "rounds", (0,)), JobControl())
    control = JobControl()
    control.cancel()
    with pytest.raises(CancelledError):
        sweep(SweepRequest(RestoreRequest(pixels, mask, FAST), "rounds", (0, 1), whole), control)
