"""How many rounds of refinement: so many as told, or until held-out pixels stop improving."""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dictsel_core._validation import Bools
from dictsel_core.restoration.holding_out import a_few
from dictsel_core.restoration.refinement import USUAL, Manner, Planes, Refiner

#: Most rounds where held-out pixels decide, and how many of these are the last ones, which see them too.
MOST_ROUNDS, _N_LAST = 8, 2
#: Part by which the squared error of held-out pixels must fall for another round to pay.
_WORTH = 0.01
#: Part of the observed pixels that are held out, and how many it must be to tell anything.
_PART, _ENOUGH = 0.02, 100


@dataclass(frozen=True)
class RoundStep:
    """Part of the refinement that is done, and whether a round has just ended."""

    fraction: float
    ended: bool


def hold_out(missing: Bools, rng: np.random.Generator) -> Bools:
    """Choose observed pixels (H, W, c) that tell when to stop; none where too few are observed."""
    layers = [a_few(missing[:, :, layer], _PART, rng) for layer in range(missing.shape[2])]
    held_out: Bools = np.stack(layers, axis=2)
    # A channel that is observed nowhere else could not be restored.
    spared = (missing | held_out).all(axis=(0, 1)) | (held_out.sum(axis=(0, 1)) < _ENOUGH)
    return np.asarray(held_out & ~spared)


def refine(
    planes: Planes, missing: Bools, n_rounds: int, threads: int, manner: Manner = USUAL
) -> Generator[RoundStep, None, int]:
    """Refine a picture in place, a given number of rounds; returns that number.

    Parameters
    ----------
    planes : (H, W, C) ndarray
        A first restoration, in about unit range.
    missing : (H, W, c) ndarray of bool
        As for `Refiner`.
    n_rounds, threads : int
    manner : Manner
    """
    refiner = Refiner(missing, threads, manner)
    for number in range(n_rounds):
        for part in refiner.round(planes, last=number == n_rounds - 1):
            yield RoundStep((number + part) / n_rounds, ended=False)
        yield RoundStep((number + 1) / n_rounds, ended=True)
    return n_rounds


def refine_while_it_helps(
    planes: Planes, missing: Bools, held_out: Bools, known: Planes, threads: int
) -> Generator[RoundStep, None, int]:
    """Refine a picture in place until held-out pixels stop improving; returns the number of rounds.

    The last rounds see the held-out pixels too. Where refinement does not help, the picture stays as it is.

    Parameters
    ----------
    planes : (H, W, C) ndarray
        A restoration that did not see the held-out pixels.
    missing, held_out : (H, W, c) ndarray of bool
    known : (N,) ndarray
        Values of the held-out pixels, in the order of ``planes[held_out]``.
    threads : int
    """
    where = np.broadcast_to(held_out, planes.shape)

    def held_out_error() -> float:
        return float(np.square(planes[where] - known).mean(dtype=np.float64))

    refiner = Refiner(missing | held_out, threads)
    error = held_out_error()
    n_rounds, pays = 0, True
    while pays and n_rounds < MOST_ROUNDS - _N_LAST:
        before = planes.copy()
        for part in refiner.round(planes, last=False):
            yield RoundStep((n_rounds + part) / MOST_ROUNDS, ended=False)
        new_error = held_out_error()
        if new_error >= error:
            planes[...] = before
            break
        pays, error = new_error < (1 - _WORTH) * error, new_error
        n_rounds += 1
        yield RoundStep(n_rounds / MOST_ROUNDS, ended=True)
    planes[where] = known
    if n_rounds == 0:
        return 0
    refiner = Refiner(missing, threads)
    for left in range(_N_LAST, 0, -1):
        for part in refiner.round(planes, last=True):
            yield RoundStep((MOST_ROUNDS - left + part) / MOST_ROUNDS, ended=False)
        n_rounds += 1
        yield RoundStep((MOST_ROUNDS - left + 1) / MOST_ROUNDS, ended=True)
    return n_rounds
