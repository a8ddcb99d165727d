"""Rounds of refinement: a given number, or until held-out pixels stop improving."""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictsel_core._validation import Bools, Floats
from dictsel_core.restoration.canvas import Planes
from dictsel_core.restoration.held_out import sample_held_out
from dictsel_core.restoration.refinement import Refiner

#: Maximum number of rounds with held-out pixels, and how many of these are the final ones, which use them.
MAX_ROUNDS, _N_FINAL = 8, 2
#: Fraction by which the squared error of held-out pixels must decrease for another round.
_MIN_IMPROVEMENT = 0.01
#: Standard errors by which the first round must be worse than none to be undone.
_N_SIGMA = 2.0
#: Rounds if too little is observed to hold anything out.
FALLBACK_ROUNDS = 4
#: Fraction of the observed pixels that are held out: more of few, since a hundred or so are too noisy.
_MIN_FRACTION, _MAX_FRACTION, _N_WANTED = 0.02, 0.08, 1000


@dataclass(frozen=True)
class RoundStep:
    """Fraction of the refinement that is done, and whether a round has just been completed."""

    fraction: float
    round_done: bool


def hold_out(missing: Bools, rng: np.random.Generator) -> Bools:
    """Return observed pixels (H, W, c) to hold out; none if too few are observed."""
    n_observed = missing.shape[0] * missing.shape[1] - missing.sum(axis=(0, 1))
    fractions = np.clip(_N_WANTED / np.maximum(n_observed, 1), _MIN_FRACTION, _MAX_FRACTION)
    layers = [sample_held_out(missing[:, :, c], fraction, rng) for c, fraction in enumerate(fractions)]
    held_out: Bools = np.stack(layers, axis=2)
    # A channel without any other observed pixel could not be restored.
    too_few = (missing | held_out).all(axis=(0, 1)) | (held_out.sum(axis=(0, 1)) < _N_WANTED // 10)
    return np.asarray(held_out & ~too_few)


def refine(planes: Planes, refiner: Refiner, n_rounds: int) -> Generator[RoundStep, None, int]:
    """Refine an image in place for a given number of rounds; return that number, or 0 if no patch fits.

    Parameters
    ----------
    planes : (H, W, C) ndarray
        A first restoration, of about unit range.
    refiner : Refiner
    n_rounds : int
    """
    if min(planes.shape[:2]) < refiner.min_size:
        return 0
    for number in range(n_rounds):
        for fraction in refiner.round(planes, last=number == n_rounds - 1):
            yield RoundStep((number + fraction) / n_rounds, round_done=False)
        yield RoundStep((number + 1) / n_rounds, round_done=True)
    return n_rounds


def refine_with_early_stopping(
    planes: Planes, missing: Bools, held_out: Bools, observed: Floats, threads: int
) -> Generator[RoundStep, None, int]:
    """Refine an image in place until held-out pixels stop improving; return the number of rounds.

    The final rounds use the held-out pixels too. If the first round does harm, it is undone, and no others
    are made. A few pixels with large errors dominate the mean, so the harm must be significant.

    Parameters
    ----------
    planes : (H, W, C) ndarray
        A restoration that did not use the held-out pixels.
    missing, held_out : (H, W, c) ndarray of bool
    observed : (N,) ndarray
        Values of the held-out pixels, in the order of ``planes[held_out]``.
    threads : int
    """
    where = np.broadcast_to(held_out, planes.shape)

    def held_out_errors() -> NDArray[np.float64]:
        return np.asarray(np.square(planes[where] - observed), dtype=np.float64)

    refiner = Refiner(missing | held_out, threads)
    errors = held_out_errors()
    n_rounds, improving = 0, True
    while improving and n_rounds < MAX_ROUNDS - _N_FINAL:
        before = planes.copy()
        for fraction in refiner.round(planes, last=False):
            yield RoundStep((n_rounds + fraction) / MAX_ROUNDS, round_done=False)
        new = held_out_errors()
        change = new - errors
        tolerance = _N_SIGMA * change.std() / np.sqrt(change.size) if n_rounds == 0 else 0.0
        if change.mean() > tolerance:
            planes[...] = before
            break
        improving = n_rounds == 0 or new.mean() < (1 - _MIN_IMPROVEMENT) * errors.mean()
        errors = new
        n_rounds += 1
        yield RoundStep(n_rounds / MAX_ROUNDS, round_done=True)
    planes[where] = observed
    if n_rounds == 0:
        return 0
    refiner = Refiner(missing, threads)
    for number in range(MAX_ROUNDS - _N_FINAL, MAX_ROUNDS):
        for fraction in refiner.round(planes, last=True):
            yield RoundStep((number + fraction) / MAX_ROUNDS, round_done=False)
        n_rounds += 1
        yield RoundStep((number + 1) / MAX_ROUNDS, round_done=True)
    return n_rounds
