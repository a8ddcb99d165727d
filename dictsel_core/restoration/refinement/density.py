"""Options of the refinement that depend on the number of rounds and on how dense the damage is."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dictsel_core._support.validation import Bools
from dictsel_core.restoration.coding.sampling import observed_counts
from dictsel_core.restoration.refinement.refiner import (
    BEST_OPTIONS,
    BEST_ROUNDS,
    DEFAULT_OPTIONS,
    RefinementOptions,
)

#: Between these densities the noise rises from that of thin damage to that of the default options.
_THIN, _DENSE = 0.3, 0.5
#: Noise in the last round, relative to the default, where damage is thin; there it is the same in all rounds.
_THIN_NOISE = 0.5
#: Members of a group that are estimated where damage is thin.
_THIN_ESTIMATED = 10


def options_for(density: float, n_rounds: int) -> RefinementOptions:
    """Return the options for damage of this density, and so many rounds.

    Where most pixels around a missing one are observed, as in text and scratches, the groups of the first
    rounds are right already, and less noise is better; and fewer estimates do.
    """
    share = float(np.clip((density - _THIN) / (_DENSE - _THIN), 0, 1))
    default = DEFAULT_OPTIONS if n_rounds < BEST_ROUNDS else BEST_OPTIONS
    return replace(
        default,
        noise=default.noise * (_THIN_NOISE + (1 - _THIN_NOISE) * share),
        noise_decay=default.noise_decay**share,
        n_estimated=round(_THIN_ESTIMATED + (default.n_estimated - _THIN_ESTIMATED) * share),
    )


def damage_density(masks: Sequence[Bools], patch_size: int) -> float:
    """Return the mean fraction of pixels that are missing around a missing one, 0 if none is.

    It does not depend on how much of the image is damaged. Patches without any observed pixel, as in wide
    holes, are left out.

    Parameters
    ----------
    masks : sequence of (H, W, c) ndarray of bool
        Of an image, or of parts of it.
    patch_size : int
        Height and width of a patch.
    """
    n_pixels, total, squares = patch_size**2, 0, 0
    for missing in masks:
        for layer in range(missing.shape[2]):
            counts = observed_counts(missing[:, :, layer], patch_size)
            n_missing = n_pixels - counts[counts > 0].astype(np.int64)
            total += int(n_missing.sum())
            squares += int(np.square(n_missing).sum())
    return squares / (max(total, 1) * n_pixels)
