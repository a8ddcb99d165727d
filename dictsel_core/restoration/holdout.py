"""Trials: observed pixels are held out, the image is restored without them, and they are compared."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dictsel_core._util.arrays import any_in_windows
from dictsel_core._util.validation import Bools, Floats, as_generator
from dictsel_core.restoration.image import Image, Planes
from dictsel_core.restoration.tile import restore_tile

if TYPE_CHECKING:
    from dictsel_core.restoration.plan import Plan

#: If more is damaged, single pixels are held out: these fractions of the observed ones at least and at most,
#: and this number if possible.
_MAX_MOVED, _FRACTIONS, N_WANTED = 0.3, (0.05, 0.1), 1000
#: Otherwise the damage is moved, as often as this fraction of an image allows.
_HELD_FRACTION, _MAX_COPIES = 0.15, 4
#: How far it is moved: the content should be the same, and the damage itself out of the way.
_MIN_SHIFT, _MAX_SHIFT = 16, 48
#: How many places are compared for each copy, and how far it keeps from what is missing, if it can.
_N_PLACES, _GAP = 24, 6


def held_out_errors(
    image: Image,
    plan: "Plan",
    held_out: Bools,
    neighbors: Sequence[Planes] = (),
    origin: tuple[int, int] = (0, 0),
    data_range: float | None = None,
) -> Floats:
    """Restore an image or a part of it without some observed values, and return their squared errors: (N,).

    The plan is that of the image: what is held out, (H, W, c), does not change the decisions. Errors are
    relative to the data range, or in unit range, in the order of ``planes[held_out]``, where `held_out` is
    for all channels. A part begins at `origin`.
    """
    hidden = Image(image.pixels, image.missing | held_out, image.ranges)
    restored = np.clip(restore_tile(hidden, plan, origin=origin, neighbors=neighbors), 0, 1)
    where = np.broadcast_to(held_out, restored.shape)
    errors: Floats = np.square(restored[where] - image.planes()[where], dtype=np.float64)
    if data_range is not None:
        scales = np.array([(each.span / data_range) ** 2 for each in image.ranges])
        errors *= np.broadcast_to(scales, where.shape)[where]
    return errors


def trial_generator(rng: np.random.Generator | int | None, *more: int) -> np.random.Generator:
    """Return a generator for held-out pixels: the given one, or one of a seed and more numbers.

    With a seed, others are drawn than by damage that is simulated with the same seed.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    as_generator(rng)  # refuses what is no seed
    return np.random.default_rng([rng or 0, 2018, *more])


def is_dense(missing: Bools, damage: Bools) -> bool:
    """Return whether damage is everywhere, so that single pixels are held out."""
    return bool(damage.sum() > _MAX_MOVED * (~missing | damage).sum())


def hold_out(missing: Bools, rng: np.random.Generator, damage: Bools | None = None) -> Bools:
    """Return observed pixels (H, W, c) to hold out: under copies of the damage, or single ones if dense.

    The damage is all that is missing, or a part of it: wide holes should not decide what is held out. Nothing
    is held out of a channel of which nothing else would be observed.
    """
    damage = missing if damage is None else damage
    if is_dense(missing, damage):
        fraction = np.clip(N_WANTED / max(int((~missing).sum()), 1), *_FRACTIONS)
        held_out = ~missing & (rng.random(missing.shape) < fraction)
    else:
        held_out = _moved(damage, missing, rng)
    return np.asarray(held_out & ~(missing | held_out).all(axis=(0, 1)))


def _moved(damage: Bools, missing: Bools, rng: np.random.Generator) -> Bools:
    """Return the observed pixels under copies of the damage, moved a little out of the way of each other."""
    n_copies = int(np.clip(round(_HELD_FRACTION / max(float(damage.mean()), 1e-6)), 1, _MAX_COPIES))
    held_out, taken = np.zeros_like(missing), np.asarray(damage.any(axis=2))
    height, width = taken.shape
    around = np.pad(damage, [(_MAX_SHIFT, _MAX_SHIFT), (_MAX_SHIFT, _MAX_SHIFT), (0, 0)])
    for _ in range(n_copies):
        near = any_in_windows(np.pad(taken, _GAP), 2 * _GAP + 1)
        copies = [
            around[_MAX_SHIFT - down :, _MAX_SHIFT - across :][:height, :width]
            for down, across in _shifts(missing.shape[:2], rng)
        ]
        # Copies that leave the image have fewer pixels.
        rooms = [int((each & ~near[:, :, None]).sum()) for each in copies]
        copy = copies[int(np.argmax(rooms))] & ~missing
        held_out |= copy
        taken = taken | copy.any(axis=2)
    return held_out


def _shifts(shape: tuple[int, ...], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return shifts down and across, of which the larger is within limits, as far as the image allows."""
    highest = [max(1, min(_MAX_SHIFT, length // 2)) for length in shape]
    found: list[tuple[int, int]] = []
    while len(found) < _N_PLACES:
        down, across = (int(rng.integers(-high, high + 1)) for high in highest)
        if max(abs(down), abs(across)) >= min(_MIN_SHIFT, *highest):
            found.append((down, across))
    return found
