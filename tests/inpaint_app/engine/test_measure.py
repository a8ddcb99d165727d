"""Figures of quality: what they refer to, and in which unit they are."""

import numpy as np
import pytest

from dictsel_core import RestoreSettings, psnr
from dictsel_core.evaluation import observed_range
from inpaint_app.engine.measure import error_picture, measure, quality, region_psnr
from inpaint_app.engine.restore import RestoreRequest
from inpaint_app.model.picture import Rect

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


def test_errors_with_a_sign_tell_bright_from_dark() -> None:
    reference = np.full((4, 6, 3), 100, np.uint8)
    image = reference.copy()
    image[0, 0], image[1, 1], image[2, 2] = 110, 90, 255
    errors = error_picture(reference, image, gain=5, has_sign=True)
    assert errors[3, 3] == 128
    assert errors[0, 0] == 128 + 25
    assert errors[1, 1] == 128 - 25
    assert errors[2, 2] == 255
    plain = error_picture(reference, image, gain=5)
    assert (plain[0, 0], plain[1, 1], plain[3, 3]) == (50, 50, 0)


def test_a_region_is_measured_by_itself() -> None:
    reference = np.random.default_rng(0).integers(0, 255, (40, 50), np.uint8)
    image = reference.copy()
    image[10:20, 10:20] ^= 8
    rect, inside = Rect(5, 5, 20, 20), np.zeros((20, 20), bool)
    inside[5:15, 5:15] = True
    expected = psnr(reference[10:20, 10:20], image[10:20, 10:20], data_range=255)
    assert region_psnr(reference, image, rect, inside) == pytest.approx(expected)
    assert region_psnr(reference, image, rect, ~inside) == np.inf
