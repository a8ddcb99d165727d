"""Observed pixels that are held out, to measure how well they are restored."""

import numpy as np

from dictsel_core._support.validation import Bools

#: Fraction of the observed pixels that a fold holds out at random.
_FOLD_FRACTION = 0.1
#: Number of held-out pixels to aim for; with fewer, there are several folds, up to this number.
_N_WANTED, _MAX_FOLDS = 1000, 4
#: Up to this missing fraction, pixels are held out in the shape of the damage itself.
_MAX_SHIFTED_DAMAGE = 0.3
#: Height and width of the blocks from which a part of the shifted damage is made up.
_BLOCK_SIZE = 24


def folds(missing: Bools, rng: np.random.Generator) -> list[Bools]:
    """Return masks (H, W) of observed pixels to hold out, one after the other: several for a small image.

    They have the shape of the damage if that leaves enough pixels, otherwise they are drawn at random.
    """
    shifted = _shifted_damage(missing, rng)
    if shifted is not None:
        return [shifted]
    expected = max(1, int(_FOLD_FRACTION * (~missing).sum()))
    n_folds = min(_MAX_FOLDS, -(-_N_WANTED // expected))
    return [~missing & (rng.random(missing.shape) < _FOLD_FRACTION) for _ in range(n_folds)]


def sample_held_out(missing: Bools, fraction: float, rng: np.random.Generator) -> Bools:
    """Return about this fraction of the observed pixels (H, W), in the shape of the damage if possible."""
    shifted = _shifted_damage(missing, rng)
    if shifted is None:
        return ~missing & (rng.random(missing.shape) < fraction)
    blocks = rng.random([-(-length // _BLOCK_SIZE) for length in missing.shape])
    chosen = blocks < fraction * (~missing).sum() / shifted.sum()
    height, width = missing.shape
    pixels = chosen.repeat(_BLOCK_SIZE, axis=0).repeat(_BLOCK_SIZE, axis=1)[:height, :width]
    return np.asarray(shifted & pixels)


def _shifted_damage(missing: Bools, rng: np.random.Generator) -> Bools | None:
    """Return the observed pixels under the shifted mask; None if too much is missing for that."""
    if missing.mean() > _MAX_SHIFTED_DAMAGE:
        return None
    shift = [int(rng.integers(length // 4, length // 2 + 1)) for length in missing.shape]
    shifted: Bools = np.roll(missing, shift, axis=(0, 1)) & ~missing
    return shifted if shifted.sum() > missing.sum() // 4 else None
