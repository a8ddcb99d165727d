"""What is known about the quality of a restoration without the original."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class QualityEstimate:
    """The estimated quality of a restoration.

    Attributes
    ----------
    psnr : float
        PSNR over the narrow damage in decibels: all missing pixels but those of wide holes. Infinite if
        nothing is missing; NaN if there is no estimate.
    low, high : float
        The PSNR lies between these with a probability of 90 %.
    data_range : float
        The range to which the PSNR refers: `observed_range` of the image and its mask.
    n_held_out : int
        Number of observed pixels that were held out.
    unknown_fraction : float
        Fraction of the missing values that are farther from observed ones of their channel than any that
        could be held out. If it is more than 2 %, there is no estimate.
    n_invented : int
        Number of missing values in wide holes. What fills them is invented, however well it fits: it has no
        PSNR, and is left out of the estimate.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import estimate_psnr
    >>> image = np.uint8(100 + 50 * np.sin(np.add.outer(np.arange(48), np.arange(48)) / 5))
    >>> mask = np.random.default_rng(0).random(image.shape) < 0.3
    >>> estimate = estimate_psnr(image, mask, "fast")
    >>> estimate.low < estimate.psnr < estimate.high
    True
    """

    psnr: float
    low: float
    high: float
    data_range: float
    n_held_out: int
    unknown_fraction: float
    n_invented: int

    @property
    def is_known(self) -> bool:
        """Whether there is an estimate."""
        return not np.isnan(self.psnr)

    @property
    def has_wide_hole(self) -> bool:
        """Whether something is invented: pixels are missing that are far from all observed ones."""
        return self.n_invented > 0

    @property
    def rmse(self) -> float:
        """The root of the mean squared error that corresponds to `psnr`, in the unit of the data."""
        return float(self.data_range * 10 ** (-self.psnr / 20))
