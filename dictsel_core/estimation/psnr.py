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

    Observed pixels are held out in the shape of the damage: the mask is moved over observed parts, or, if
    more than 30 % are missing, single pixels are drawn. The image is restored without them, with three
    rounds of refinement where the settings leave their number open, and they are compared with the result.
    Of a large image, only parts around the damage are used. Held-out pixels are weighted such that they are
    as far from observed ones as the missing pixels are.

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
        With a 90 % interval. There is no estimate (NaN) for holes so wide that they fit nowhere else, if too
        little is observed to hold anything out, or if a channel is missing entirely.

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
        return QualityEstimate(np.inf, np.inf, np.inf, data_range, 0, 0.0, has_wide_hole=False)
    from dictsel_core.estimation.sample import held_out_sample  # noqa: PLC0415  (scipy is slow to import)

    sample = held_out_sample(damaged.sample(_MAX_IMAGES), asked, data_range, rng)
    return sample.estimate(sum(int(np.count_nonzero(as_layers(each))) for each in damaged.missing))
