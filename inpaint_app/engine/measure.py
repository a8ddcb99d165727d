"""Measure restored pixels against the original, or estimate their quality without one."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from dictsel_core import estimate_psnr, psnr, ssim
from dictsel_core.evaluation import QualityEstimate, error_map, observed_range, rmse
from inpaint_app.engine.restore import RestoreRequest
from inpaint_app.model.picture import Array, Mask, Rect, channel_axis

_BAND = 64


@dataclass(frozen=True)
class Scores:
    """How close a picture is to its reference; None where that cannot be measured."""

    psnr: float | None = None
    psnr_missing: float | None = None
    ssim: float | None = None
    ssim_missing: float | None = None
    rmse: float | None = None  #: In the unit of the data.
    rmse_missing: float | None = None
    data_range: float | None = None  #: What PSNR and SSIM refer to, in the unit of the data.


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


def quality(
    request: RestoreRequest, image: Array, reference: Array | None, data_range: float | None = None
) -> QualityMetrics:
    """Measure restored pixels against the reference, or estimate their PSNR without one.

    Both refer to the data range; by default it is what `dictsel_core.evaluation.observed_range` returns.
    """
    if reference is not None:
        return QualityMetrics(measure(reference, image, request.mask, data_range))
    estimated = estimate(request)
    if estimated is not None and data_range is not None:
        estimated = _relative_to(data_range, estimated)
    return QualityMetrics(estimate=estimated)


def _relative_to(data_range: float, estimated: QualityEstimate) -> QualityEstimate:
    more = 20 * math.log10(data_range / estimated.data_range)
    psnr, low, high = (value + more for value in (estimated.psnr, estimated.low, estimated.high))
    return replace(estimated, psnr=psnr, low=low, high=high, data_range=data_range)


def measure(reference: Array, image: Array, mask: Mask | None, data_range: float | None = None) -> Scores:
    """Compare a picture with its reference, also over the missing pixels where there are any."""
    is_large_enough = min(reference.shape[:2]) >= 3
    has_missing = mask is not None and bool(mask.any())
    peak, axis = data_range or observed_range(reference), channel_axis(reference)
    return Scores(
        psnr=psnr(reference, image, data_range=peak),
        psnr_missing=psnr(reference, image, mask=mask, data_range=peak) if has_missing else None,
        ssim=ssim(reference, image, data_range=peak, channel_axis=axis) if is_large_enough else None,
        ssim_missing=(
            ssim(reference, image, mask=mask, data_range=peak, channel_axis=axis)
            if has_missing and is_large_enough
            else None
        ),
        rmse=rmse(reference, image),
        rmse_missing=rmse(reference, image, mask=mask) if has_missing else None,
        data_range=peak,
    )


def estimate(request: RestoreRequest) -> QualityEstimate | None:
    """Return the PSNR of the missing pixels estimated from held-out ones; None where that fails."""
    try:
        return estimate_psnr(
            request.pixels,
            request.mask,
            request.settings,
            channel_axis=request.channel_axis,
            rng=request.settings.seed,
        )
    except (ValueError, MemoryError):  # the picture itself may have been written already
        return None


def damage_quality(pixels: Array, mask: Mask, reference: Array) -> QualityMetrics:
    """Measure the damaged picture, its missing pixels black."""
    hidden = mask if mask.ndim == pixels.ndim else mask[..., None]
    scores = measure(reference, np.where(hidden, pixels.dtype.type(0), pixels), None)
    return QualityMetrics(scores)


def error_picture(reference: Array, image: Array, gain: float = 4.0, *, has_sign: bool = False) -> Array:
    """Return errors as (H, W) bytes, 255 = the range of the values over the gain, or more.

    Without a sign, they are absolute, and 0 = none. With it, they are means over the channels; 128 = none,
    and 0 is as much too dark as 255 too bright.
    """
    scale, made = gain * 255 / observed_range(reference), np.empty(image.shape[:2], np.uint8)
    for top in range(0, len(image), _BAND):  # as floats, the whole would take eight times its memory
        rows = slice(top, top + _BAND)
        if has_sign:
            error: Array = image[rows].astype(np.float32) - reference[rows].astype(np.float32)
            error = error if error.ndim == 2 else error.mean(axis=2)
            made[rows] = np.clip(np.rint(128 + error * (scale / 2)), 0, 255)
        else:
            error = error_map(reference[rows], image[rows], channel_axis=channel_axis(reference))
            made[rows] = np.minimum(error * scale, 255)
    return made


def region_psnr(reference: Array, image: Array, rect: Rect, inside: Mask) -> float:
    """Return the PSNR, in dB, of some pixels of a rectangle, missing or not; inf where there is no error."""
    part, whole = image[rect.slices], reference[rect.slices]
    return float(psnr(whole, part, mask=inside, data_range=observed_range(reference)))
