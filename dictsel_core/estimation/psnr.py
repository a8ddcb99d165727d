"""`estimate_psnr`: how good a restoration is, without the original."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._support.layout import Axis
from dictsel_core._support.validation import as_count
from dictsel_core.estimation.result import QualityEstimate
from dictsel_core.restoration import PresetName, RestoreSettings
from dictsel_core.restoration.canvas import as_layers
from dictsel_core.restoration.damaged import as_damaged
from dictsel_core.restoration.settings import as_settings

#: Images of a stack that are used.
_MAX_IMAGES = 8


def estimate_psnr(
    image: ArrayLike,
    mask: ArrayLike | None = None,
    settings: RestoreSettings | PresetName | None = "balanced",
    *,
    channel_axis: Axis | None = None,
    axes: Sequence[Axis] | None = None,
    seed: int = 0,
) -> QualityEstimate:
    """Estimate the PSNR of the missing pixels of a restoration, in decibels, without the original.

    Observed pixels are held out in the shape of the damage: the mask is moved a little, or, if more than 30 %
    are missing, single pixels are drawn. The image is restored without them, and they are compared with the
    result. Of a large image, only parts around the damage are used. Held-out pixels are weighted such that
    they are as far from observed ones as the missing pixels are.

    What fills wide holes (see `has_wide_hole`) is invented, however well it fits. It has no PSNR: the
    estimate is that of the other, narrow damage.

    Parameters
    ----------
    image, mask : array_like
        As for `restore`.
    settings : RestoreSettings or str, optional
        As for `restore`.
    channel_axis, axes : optional
        As for `restore`. Of a stack, up to eight of the damaged images are used.
    seed : int, optional
        For the choice of held-out pixels. Default is 0.

    Returns
    -------
    QualityEstimate
        With a 90 % interval. There is no estimate (NaN) if wide holes are all that is missing, if too little
        is observed to hold anything out, or if a channel is missing entirely.

    See Also
    --------
    psnr : Measures the quality if the original is known.
    tune : Chooses settings by held-out pixels.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.add.outer(np.arange(64), np.arange(64)).astype(np.uint8)
    >>> mask = np.zeros((64, 64), bool)
    >>> mask[30:33] = True
    >>> estimate = estimate_psnr(image, mask, "fast")
    >>> estimate.low < estimate.psnr < estimate.high
    True
    """
    damaged, asked = as_damaged(image, mask, channel_axis, axes), as_settings(settings)
    data_range = damaged.data_range()
    rng = np.random.default_rng([as_count(seed, "seed", minimum=0), 2018])
    if not damaged.missing.any():
        return QualityEstimate(np.inf, np.inf, np.inf, data_range, 0, 0.0, n_invented=0)
    # scipy is slow to import
    from dictsel_core.estimation.sample import held_out_sample, narrow_damage  # noqa: PLC0415

    sample = held_out_sample(damaged.sample(_MAX_IMAGES), asked, data_range, rng)
    n_missing = n_narrow = 0
    for missing in map(as_layers, damaged.missing):
        n_missing += int(np.count_nonzero(missing))
        n_narrow += int(np.count_nonzero(narrow_damage(missing, asked, str(damaged.images.dtype))))
    return sample.estimate(n_narrow, n_missing - n_narrow)
