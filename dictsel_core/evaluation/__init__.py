"""The quality of a restoration: measured against a reference, or estimated from held-out pixels."""

from dictsel_core.evaluation.estimation import QualityEstimate, estimate_psnr
from dictsel_core.evaluation.metrics import error_map, observed_range, psnr, rmse, ssim
from dictsel_core.evaluation.tuning import TuneStep, Tuning, TuningTrial, iter_tune, tune

__all__ = [
    "QualityEstimate",
    "TuneStep",
    "Tuning",
    "TuningTrial",
    "error_map",
    "estimate_psnr",
    "iter_tune",
    "observed_range",
    "psnr",
    "rmse",
    "ssim",
    "tune",
]
