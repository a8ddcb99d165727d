"""Options of the refinement that depend on how dense the damage is."""

from dataclasses import replace

import numpy as np

from dictsel_core._validation import Bools
from dictsel_core.restoration.refinement import DEFAULT_OPTIONS, RefinementOptions

#: Height and width of the blocks in which missing pixels are counted.
_BLOCK = 8
#: Between these densities the noise rises from that of thin damage to that of the default options.
_THIN, _DENSE = 0.3, 0.5
#: Noise in the last round, relative to the default, where damage is thin; there it is the same in all rounds.
_THIN_NOISE = 0.5


def options_for(missing: Bools) -> RefinementOptions:
    """Return the options for a mask (H, W, c).

    Where most pixels around a missing one are observed, as in text and scratches, the groups of the first
    rounds are right already, and less noise is better.
    """
    share = float(np.clip((damage_density(missing) - _THIN) / (_DENSE - _THIN), 0, 1))
    default = DEFAULT_OPTIONS
    return replace(
        default,
        noise=default.noise * (_THIN_NOISE + (1 - _THIN_NOISE) * share),
        noise_decay=default.noise_decay**share,
    )


def damage_density(missing: Bools) -> float:
    """Return the mean fraction of pixels that are missing around a missing one, 0 if none is.

    It is that in blocks of 8 x 8 pixels, and independent of how much of the image is damaged.
    """
    height, width, _ = missing.shape
    rows = np.add.reduceat(missing, np.arange(0, height, _BLOCK), axis=0, dtype=np.uint16)
    counts = np.add.reduceat(rows, np.arange(0, width, _BLOCK), axis=1, dtype=np.float64)
    return float(np.square(counts).sum() / max(float(counts.sum()), 1.0)) / _BLOCK**2
