"""Rounds of refinement, if held-out pixels do not speak against it."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dictsel_core._support.validation import Bools, Floats
from dictsel_core.restoration.canvas import Planes
from dictsel_core.restoration.held_out import sample_held_out
from dictsel_core.restoration.refinement.refiner import BEST_OPTIONS, BEST_ROUNDS, Refiner

#: Standard errors by which the first round must be worse than none to be undone.
_N_SIGMA = 2.0
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
    yield from _rounds(planes, refiner, range(n_rounds), n_rounds)
    return n_rounds


def _rounds(planes: Planes, refiner: Refiner, numbers: range, n_rounds: int) -> Iterator[RoundStep]:
    """Make some of several rounds."""
    for number in numbers:
        for fraction in refiner.round(planes, number, n_rounds):
            yield RoundStep((number + fraction) / n_rounds, round_done=False)
        yield RoundStep((number + 1) / n_rounds, round_done=True)


def trial_change(
    planes: Planes,
    missing: Bools,
    where: Bools,
    observed: Floats,
    threads: int,
    neighbors: Sequence[Planes] = (),
) -> Floats:
    """Return by how much a round of refinement, with little noise, increases the squared errors of pixels.

    Parameters
    ----------
    planes : (H, W, C) ndarray
        A restoration that did not use these pixels; it is refined.
    missing : (H, W, c) ndarray of bool
        Missing pixels, and these.
    where : (H, W, C) ndarray of bool
        The pixels.
    observed : (N,) ndarray
        Their values, in the order of ``planes[where]``.
    threads : int
    neighbors : sequence of (H, W, C) ndarray, optional
        Neighboring images of a stack.
    """
    before = planes[where]
    refiner = Refiner(missing, threads, replace(BEST_OPTIONS, noise_decay=1))
    for _ in refiner.round(planes, 0, BEST_ROUNDS, neighbors):
        pass
    change: Floats = np.square(planes[where] - observed, dtype=np.float64)
    return change - np.square(before - observed, dtype=np.float64)


def is_harmful(change: Floats) -> bool:
    """Return whether squared errors increase: a few large ones dominate their mean, so significantly."""
    return bool(change.mean() > _N_SIGMA * change.std() / np.sqrt(change.size))
