"""Figures of quality: what they refer to, and in which unit they are."""

import numpy as np
import pytest

from dictsel_core import RestoreSettings
from dictsel_core.evaluation import observed_range
from inpaint_app.engine.measure import error_picture, measure, quality
from inpaint_app.engine.restore import RestoreRequest

RNG = np.random.default_rng(0)
WHOLE = RNG.integers(0, 256, (24, 24))
WHOLE.flat[:2] = 0, 255
OTHER = np.clip(WHOLE + RNG.integers(-9, 10, WHOLE.shape), 0, 255)
MASK = RNG.random(WHOLE.shape) < 0.2


@pytest.mark.parametrize(
    ("dtype", "unit"),
    [(np.uint8, 1), (np.uint16, 16), (np.int16, 100), (np.float32, 2**-6), (np.float64, 1e3)],
)
def test_a_picture_has_the_same_psnr_in_every_unit(dtype, unit) -> None:
    reference, image = (WHOLE * unit).astype(dtype), (OTHER * unit).astype(dtype)
    scores, known = (
        measure(reference, image, MASK),
        measure(WHOLE.astype(np.uint8), OTHER.astype(np.uint8), MASK),
    )
    assert scores.psnr == pytest.approx(known.psnr)
    assert scores.psnr_missing == pytest.approx(known.psnr_missing)
    assert scores.ssim == pytest.approx(known.ssim)
    assert scores.data_range == 255 * unit
    assert scores.rmse == pytest.approx(unit * known.rmse)
    assert scores.rmse_missing == pytest.approx(unit * known.rmse_missing)
    assert np.array_equal(
        error_picture(reference, image), error_picture(WHOLE.astype(np.uint8), OTHER.astype(np.uint8))
    )


def test_the_range_can_be_told() -> None:
    measured = [measure(WHOLE / 7, OTHER / 7, None, data_range) for data_range in (1.0, 10.0)]
    assert measured[1].psnr - measured[0].psnr == pytest.approx(20)
    assert measured[1].data_range == 10
    settings = RestoreSettings(n_atoms=8, rounds=0, threads=1)
    request = RestoreRequest(
        np.add.outer(np.arange(64.0), np.arange(64.0)), RNG.random((64, 64)) < 0.3, settings
    )
    own, told = (quality(request, request.pixels, None, each).estimate for each in (None, 10.0))
    assert own.data_range == observed_range(request.pixels, request.mask)
    assert told.rmse == pytest.approx(own.rmse)
    assert told.psnr == pytest.approx(own.psnr + 20 * np.log10(10 / own.data_range))
