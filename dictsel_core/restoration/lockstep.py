"""Consecutive images of a stack, restored together: each is refined with patches of its neighbors too."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from dictsel_core._support.runs import GeneratorRun
from dictsel_core.restoration.canvas import Canvas, Planes, complete_planes, in_ranges
from dictsel_core.restoration.driver import ImageRestorer
from dictsel_core.restoration.result import Restoration, RestoreStep

#: Returns an image of a stack in which nothing is missing, by its number; None if there is none.
FindIntact = Callable[[int], NDArray[Any] | None]


@dataclass(frozen=True, eq=False)
class ImageStep:
    """The progress of an image of a stack, by its number; and its result, once it is there."""

    number: int
    step: RestoreStep | None = None
    result: Restoration | None = None


class Lockstep:
    """Restores consecutive images, and uses the neighbors of each in its refinement.

    A round uses the neighbors as they were before that round, so that the result does not depend on any
    order. Still, only a few images are in progress at a time: each makes a round as soon as its neighbors
    have made the one before.

    Parameters
    ----------
    images : mapping of int to Canvas
        Images in which something is missing, by their numbers in ascending order.
    start : callable
        Returns what restores an image.
    find_intact : callable
        Returns an image in which nothing is missing, by its number; None if there is none.
    reach : int
        How many neighbors on either side are used.
    max_rounds : int
        No image makes more rounds.
    """

    def __init__(
        self,
        images: Mapping[int, Canvas],
        start: Callable[[Canvas], ImageRestorer],
        find_intact: FindIntact,
        reach: int,
        max_rounds: int,
    ) -> None:
        self._images, self._start, self._find_intact = images, start, find_intact
        self._reach, self._max_rounds = reach, max_rounds
        self._order = list(images)
        self._active: dict[int, ImageRestorer] = {}
        #: By round, what images were before it, which images after them need.
        self._before: list[dict[int, Planes]] = [{} for _ in range(max_rounds)]

    def steps(self) -> Iterator[ImageStep]:
        """Yield the progress of all images, and the result of each."""
        reach, n_rounds = self._reach, self._max_rounds
        for at in range(len(self._order) + reach * n_rounds):
            for number in self._order[at : at + 1]:
                self._active[number] = self._start(self._images[number])
                yield from _of(number, self._active[number].first_steps())
            for round_number in range(n_rounds):
                for number in self._delayed(at, reach * (round_number + 1)):
                    yield from _of(number, self._round(number, round_number))
            for number in self._delayed(at, reach * n_rounds):
                run = GeneratorRun(self._active[number].last_steps())
                yield from _of(number, run)
                del self._active[number]
                yield ImageStep(number, result=run.result)

    def _delayed(self, at: int, delay: int) -> list[int]:
        """Return the number of the image that comes some images before another; none if there is none."""
        return self._order[at - delay : at - delay + 1] if at >= delay else []

    def _round(self, number: int, round_number: int) -> Iterator[RestoreStep]:
        """Make a round of an image, unless it has made all of its own."""
        restorer, before = self._active[number], self._before[round_number]
        makes_round = round_number < restorer.n_rounds
        if makes_round:
            neighbors = list(self._neighbors(number, before))
        if self._reach:
            before[number] = restorer.planes.copy() if makes_round else restorer.planes
            for other in [each for each in before if each <= number - self._reach]:
                del before[other]
        if makes_round:
            yield from restorer.round_steps(neighbors)

    def _neighbors(self, number: int, before: Mapping[int, Planes]) -> Iterator[Planes]:
        """Yield the neighbors of an image before a round, in its unit range."""
        ranges = self._images[number].ranges
        for distance in range(1, self._reach + 1):
            for other in (number - distance, number + distance):
                if other in self._images:
                    planes = before[other] if other < number else self._active[other].planes
                    yield in_ranges(planes, self._images[other].ranges, ranges)
                elif (intact := self._find_intact(other)) is not None:
                    yield complete_planes(intact, ranges)


def _of(number: int, steps: Iterable[RestoreStep]) -> Iterator[ImageStep]:
    """Yield steps as those of an image."""
    return (ImageStep(number, step) for step in steps)
