"""Trials: observed pixels are held out, the image is restored without them, and they are compared."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dictsel_core._util.validation import Bools, Floats, as_generator
from dictsel_core.restoration.image import Image, Planes
from dictsel_core.restoration.tile import restore_tile

if TYPE_CHECKING:
    from dictsel_core.restoration.plan import Plan

#: Fraction of the observed pixels that a fold holds out at random.
_FOLD_FRACTION = 0.1
#: Number of held-out pixels to aim for; with fewer, there are several folds, up to this number.
_N_WANTED, _MAX_FOLDS = 1000, 4
#: Up to this missing fraction, pixels are held out in the shape of the damage itself.
_MAX_SHIFTED_DAMAGE = 0.3
#: Height and width of the blocks from which a part of the shifted damage is made up.
_BLOCK_SIZE = 24
#: Fraction of the observed pixels that are held out: more of few, since a hundred or so are too noisy.
_MIN_FRACTION, _MAX_FRACTION = 0.02, 0.08
#: Standard errors by which refinement must be worse than none to be left out.
_N_SIGMA = 2.0


def held_out_errors(
    image: Image,
    plan: "Plan",
    held_out: Bools,
    neighbors: Sequence[Planes] = (),
    origin: tuple[int, int] = (0, 0),
) -> Floats:
    """Restore an image or a part of it without some observed values, and return their squared errors: (N,).

    The plan is that of the image: what is held out, (H, W, c), does not change the decisions. Errors are in
    unit range, in the order of ``planes[held_out]``, where `held_out` is for all channels. A part begins at
    `origin`.
    """
    hidden = Image(image.pixels, image.missing | held_out, image.ranges)
    restored = np.clip(restore_tile(hidden, plan, origin=origin, neighbors=neighbors), 0, 1)
    where = np.broadcast_to(held_out, restored.shape)
    errors: Floats = np.square(restored[where] - image.planes()[where], dtype=np.float64)
    return errors


def trial_generator(rng: np.random.Generator | int | None, *more: int) -> np.random.Generator:
    """Return a generator for held-out pixels: the given one, or one of a seed and more numbers.

    With a seed, others are drawn than by damage that is simulated with the same seed.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    as_generator(rng)  # refuses what is no seed
    return np.random.default_rng([rng or 0, 2018, *more])


def hold_out(missing: Bools, rng: np.random.Generator) -> Bools:
    """Return observed pixels (H, W, c) to hold out; none if too few are observed."""
    n_observed = missing.shape[0] * missing.shape[1] - missing.sum(axis=(0, 1))
    fractions = np.clip(_N_WANTED / np.maximum(n_observed, 1), _MIN_FRACTION, _MAX_FRACTION)
    layers = [sample_held_out(missing[:, :, c], fraction, rng) for c, fraction in enumerate(fractions)]
    held_out: Bools = np.stack(layers, axis=2)
    # A channel without any other observed pixel could not be restored.
    too_few = (missing | held_out).all(axis=(0, 1)) | (held_out.sum(axis=(0, 1)) < _N_WANTED // 10)
    return np.asarray(held_out & ~too_few)


def is_harmful(change: Floats) -> bool:
    """Return whether squared errors increase: a few large ones dominate their mean, so significantly."""
    return bool(change.mean() > _N_SIGMA * change.std() / np.sqrt(change.size))


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
