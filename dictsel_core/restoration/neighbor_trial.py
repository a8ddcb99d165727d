"""Whether neighboring images of a stack help to refine an image, tried on held-out pixels."""

from collections.abc import Callable, Mapping

import numpy as np

from dictsel_core._support.validation import Floats
from dictsel_core.restoration.canvas import Canvas, Planes
from dictsel_core.restoration.lockstep import FindIntact, complete_planes, in_ranges
from dictsel_core.restoration.refinement.rounds import hold_out, trial_change
from dictsel_core.restoration.restorer import Restorer

#: Height and width of the part of an image on which it is tried, at most.
_MAX_SIZE = 128
#: By how much the squared error must fall for neighbors to be worth their time.
_MIN_GAIN = 0.02


def trial_errors(
    images: Mapping[int, Canvas],
    number: int,
    start: Callable[[Canvas], Restorer],
    find_intact: FindIntact,
    reach: int,
    rng: np.random.Generator,
) -> Floats:
    """Return squared errors of held-out pixels of an image after a round of refinement: (2, N).

    First without neighbors, then with them; nothing if too few pixels are observed, or there are no
    neighbors.

    Parameters
    ----------
    images : mapping of int to Canvas
        Images in which something is missing, by their numbers.
    number : int
        Of the image.
    start : callable
        Returns what restores an image.
    find_intact : callable
        Returns an image in which nothing is missing.
    reach : int
        How many neighbors on either side are used.
    rng : numpy.random.Generator
    """
    region = _region(images[number])
    own = images[number].part(region)
    nothing = np.zeros((2, 0))
    held_out = hold_out(own.missing, rng)
    if not held_out.any():
        return nothing
    neighbors = []
    for other in range(number - reach, number + reach + 1):
        canvas = images.get(other)
        image = find_intact(other) if canvas is None else canvas.image
        if other == number or image is None:
            continue
        if canvas is None or not canvas.missing[region].any():
            neighbors.append(complete_planes(image[region], own.ranges))
        elif not canvas.missing[region].all():
            planes = _coded(start(canvas.part(region)))
            neighbors.append(in_ranges(planes, canvas.ranges, own.ranges))
    if not neighbors:
        return nothing
    truth, hidden = own.planes(), own.missing | held_out
    restorer = start(Canvas(own.image, hidden, own.ranges))
    planes, threads = _coded(restorer), restorer.threads
    where = np.broadcast_to(held_out, planes.shape)
    before = np.square(planes[where] - truth[where], dtype=np.float64)
    return np.stack(
        [
            before + trial_change(planes.copy(), hidden, where, truth[where], threads, beside)
            for beside in ([], neighbors)
        ]
    )


def do_help(errors: Floats) -> bool:
    """Return whether squared errors (2, N) are less with neighbors; True if there are none."""
    without, beside = errors.sum(axis=1)
    return errors.shape[1] == 0 or bool(beside <= (1 - _MIN_GAIN) * without)


def _region(canvas: Canvas) -> tuple[slice, slice]:
    """Return a part of an image that is not too large, in the middle of what is missing."""
    places = np.nonzero(canvas.missing.any(axis=2))
    rows, columns = (
        slice(start, start + min(_MAX_SIZE, length))
        for at, length in zip(places, canvas.shape, strict=True)
        for start in [int(np.clip(np.median(at) - _MAX_SIZE // 2, 0, max(length - _MAX_SIZE, 0)))]
    )
    return rows, columns


def _coded(restorer: Restorer) -> Planes:
    """Return an image as it is before its refinement."""
    for _ in restorer.first_steps():
        pass
    return restorer.planes
