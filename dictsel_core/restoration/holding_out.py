"""Observed pixels that are held out, to see how well they are found again."""

import numpy as np

from dictsel_core._validation import Bools

#: Part of the observed pixels that a fold holds out where most pixels are missing.
_HELD_OUT = 0.1
#: So many held-out pixels are enough; fewer are chosen again, but not more often than this.
_ENOUGH, _MOST_FOLDS = 1000, 4
#: Up to this missing part, pixels are held out in the shape of the damage itself.
_SPARSE_DAMAGE = 0.3
#: Sides of the blocks in which that is done where only a few pixels are wanted.
_BLOCK = 24


def folds(missing: Bools, rng: np.random.Generator) -> list[Bools]:
    """Choose observed pixels (H, W) to hold out: like the damage where that leaves enough, else at random.

    A small picture is judged by several choices, one after the other.
    """
    moved = _like_the_damage(missing, rng)
    if moved is not None:
        return [moved]
    expected = max(1, int(_HELD_OUT * (~missing).sum()))
    n_folds = min(_MOST_FOLDS, -(-_ENOUGH // expected))
    return [~missing & (rng.random(missing.shape) < _HELD_OUT) for _ in range(n_folds)]


def a_few(missing: Bools, part: float, rng: np.random.Generator) -> Bools:
    """Choose about this part of the observed pixels (H, W), like the damage where that is possible."""
    moved = _like_the_damage(missing, rng)
    if moved is None:
        return ~missing & (rng.random(missing.shape) < part)
    blocks = rng.random([-(-length // _BLOCK) for length in missing.shape])
    some = blocks < part * (~missing).sum() / moved.sum()
    height, width = missing.shape
    chosen: Bools = moved & some.repeat(_BLOCK, axis=0).repeat(_BLOCK, axis=1)[:height, :width]
    return chosen


def _like_the_damage(missing: Bools, rng: np.random.Generator) -> Bools | None:
    """Return the damage at another place, as far as observed there; None where there is too much of it."""
    if missing.mean() > _SPARSE_DAMAGE:
        return None
    shift = [int(rng.integers(length // 4, length // 2 + 1)) for length in missing.shape]
    moved: Bools = np.roll(missing, shift, axis=(0, 1)) & ~missing
    return moved if moved.sum() > missing.sum() // 4 else None
