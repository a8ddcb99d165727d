"""Measure restored pixels against the original, or estimate their quality without one."""

import math
from dataclasses import dataclass, field

import numpy as np

from dictsel_core import QualityEstimate, error_map, estimate_psnr, psnr, ssim
from inpaint_app.image.missing import Mask
from inpaint_app.image.picture import Array, channel_axis, full_scale
from inpaint_app.jobs.restore import RestoreRequest


@dataclass(frozen=True)
class Scores:
    """How close a picture is to its reference; None where that cannot be measured."""

    psnr: float | None = None
    psnr_missing: float | None = None
    ssim: float | None = None
    ssim_missing: float | None = None


@dataclass(frozen=True)
class QualityMetrics:
    """How good a picture is: against the reference, or as estimated without one."""

    scores: Scores = field(default_factory=Scores)
    estimate: QualityEstimate | None = None

    @property
    def estimated_psnr(self) -> float | None:
        """The estimated PSNR of the missing pixels; None where there is none."""
        if self.estimate is None or not math.isfinite(self.estimate.psnr):
            return None
        return self.estimate.psnr


def quality(request: RestoreRequest, image: Array, reference: Array | None) -> QualityMetrics:
    """Measure restored pixels against the reference, or estimate their PSNR without one."""
    if reference is not None:
        return QualityMetrics(measure(reference, image, request.mask))
    return QualityMetrics(estimate=estimate(request))


def measure(reference: Array, image: Array, mask: Mask | None) -> Scores:
    """Compare a picture with its reference, also over the missing pixels where there are any."""
    is_large_enough = min(reference.shape[:2]) >= 3
    has_missing = mask is not None and bool(mask.any())
    # Values of a float picture may go beyond white.
    peak, axis = full_scale(reference.dtype), channel_axis(reference)
    return Scores(
        psnr=psnr(reference, image, data_range=peak),
        psnr_missing=psnr(reference, image, mask=mask, data_range=peak) if has_missing else None,
        ssim=ssim(reference, image, data_range=peak, channel_axis=axis) if is_large_enough else None,
        ssim_missing=(
            ssim(reference, image, mask=mask, data_range=peak, channel_axis=axis)
            if has_missing and is_large_enough
            else None
        ),
    )


def estimate(request: RestoreRequest) -> QualityEstimate | None:
    """Return the PSNR of the missing pixels estimated from held-out ones; None where that fails."""
    try:
        return estimate_psnr(
            request.pixels,
            request.mask,
            request.settings,
            channel_axis=request.channel_axis,
            seed=request.settings.seed,
        )
    except (ValueError, MemoryError):  # the picture itself may have been written already
        return None


def damage_quality(pixels: Array, mask: Mask, reference: Array) -> QualityMetrics:
    """Measure the damaged picture, its missing pixels black."""
    hidden = mask if mask.ndim == pixels.ndim else mask[..., None]
    scores = measure(reference, np.where(hidden, pixels.dtype.type(0), pixels), None)
    return QualityMetrics(scores)


def error_picture(reference: Array, image: Array) -> Array:
    """Return absolute errors as (H, W) bytes, 0 = none, 255 = a quarter of the range or more."""
    scaled = error_map(reference, image, channel_axis=channel_axis(reference)) * (
        4 * 255 / full_scale(reference.dtype)
    )
    return np.minimum(scaled, 255).astype(np.uint8)
