"""Many images, or very many channels: restored one after the other with one dictionary."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.arrays import Region, evenly_spaced
from dictsel_core._util.parallel import GeneratorRun
from dictsel_core._util.validation import Bools, Floats
from dictsel_core.atoms import GroundSet
from dictsel_core.refinement.rounds import BEST_ROUNDS
from dictsel_core.restoration.damaged import DamagedArray, Part, as_damaged
from dictsel_core.restoration.holdout import held_out_errors, hold_out, trial_generator
from dictsel_core.restoration.image import Image, Planes, complete_planes, in_ranges
from dictsel_core.restoration.plan import (
    AtomSource,
    Dictionary,
    Plan,
    as_atom_source,
    plan_image,
    planned_tile,
    select_dictionary,
)
from dictsel_core.restoration.result import Restoration, RestoreStep, Stage, joint_figures
from dictsel_core.restoration.settings import RestoreSettings
from dictsel_core.restoration.tile import TileRestorer, TileStep, restore_tile

#: Number of parts, evenly spaced, whose patches the dictionary is selected on.
_N_SAMPLED = 16
#: Fraction of the work that is done after the selection.
_SELECTED = 0.02
#: Fraction of the work after which there is a new partial result: each copies the whole stack.
_PARTIAL_INTERVAL = 1 / 8
#: How many neighbors on either side are used if they help, and on how many images that is tried.
_REACH, _PARTS_PER_TRIAL, _MAX_TRIALS = 2, 8, 3
#: Height and width of the part of an image on which it is tried, at most, and by how much the squared error
#: must fall for neighbors to be worth their time.
_TRIAL_SIZE, _MIN_GAIN = 128, 0.02


class StackRestorer:
    """Restores the images of a stack one after the other, with one dictionary for all of them.

    `reach` neighbors on either side of an image help to refine it; None tries whether they do.
    """

    def __init__(
        self, damaged: DamagedArray, settings: RestoreSettings, source: AtomSource, reach: int | None
    ) -> None:
        self._damaged, self._source = damaged, source
        self._tries_neighbors, self._reach = reach is None, reach or 0
        self._parts = damaged.parts()
        self._images = [damaged.image(part) for part in self._parts]
        places = [(part.number, part.channels.start, part.channels.stop) for part in self._parts]
        self._numbers = {place: number for number, place in enumerate(places)}
        fractions = [image.missing_fraction for image in self._images]
        self._settings = settings.resolved(1 - float(np.mean(fractions or [0.0])), len(source))
        self._max_rounds = BEST_ROUNDS if settings.rounds is None else settings.rounds
        self._restored = damaged.images.copy(order="K")
        self._figures: list[dict[str, Any]] = []

    def steps(self) -> Generator[RestoreStep, None, Restoration]:
        """Yield the progress, and return the result."""
        n_parts, shown = len(self._parts), 0.0
        yield from self._decide()
        fractions = np.zeros(n_parts)
        for numbers in self._sequences():
            for number, stage, fraction in self._together(numbers):
                fractions[number] = fraction
                done = _SELECTED + (1 - _SELECTED) * float(fractions.mean())
                yield RestoreStep(stage, done, number=number, n_images=n_parts)
                n_restored = len(self._figures)
                if fraction == 1 and done - shown >= _PARTIAL_INTERVAL and n_restored < n_parts:
                    shown = done
                    yield RestoreStep(stage, done, partial(replace, self._restoration()), number, n_parts)
        return self._restoration()

    def decided_reach(self) -> int:
        """Return how many neighbors on either side refine an image, after trying them."""
        for _ in self._decide():
            pass
        return self._reach

    def _decide(self) -> Iterator[RestoreStep]:
        """Select the dictionary, and find out whether neighbors help, where these are left open."""
        if self._parts and not isinstance(self._source, Dictionary):
            self._source = yield from self._select(self._source)
        if self._tries_neighbors and self._max_rounds:
            yield from self._try_neighbors()

    def _select(self, candidates: GroundSet) -> Generator[RestoreStep, None, Dictionary]:
        """Select a dictionary on patches of several parts."""
        parts = [((part.number, 0, 0), image) for part, image in zip(self._parts, self._images, strict=True)]
        samples = evenly_spaced(parts, _N_SAMPLED)
        run = GeneratorRun(select_dictionary(samples, self._settings, candidates))
        for fraction in run:
            yield RestoreStep("select", _SELECTED * fraction, n_images=len(self._parts))
        return run.result

    def _sequences(self) -> list[list[int]]:
        """Return which parts are restored together, by their numbers: those that may be neighbors."""
        if self._reach == 0 or self._max_rounds == 0:
            return [[number] for number in range(len(self._parts))]
        sequences: dict[tuple[int, int, int], list[int]] = {}
        for number, part in enumerate(self._parts):
            row = part.number // self._damaged.layout.n_consecutive
            sequences.setdefault((row, part.channels.start, part.channels.stop), []).append(number)
        return list(sequences.values())

    def _together(self, numbers: list[int]) -> Iterator[tuple[int, Stage, float]]:
        """Restore consecutive parts, and use the neighbors of each in its refinement.

        Yields the number of a part, its stage, and the fraction of its work that is done. A round uses the
        neighbors as they were before that round, so that the result does not depend on any order. Still, only
        a few parts are in progress at a time: each makes a round as soon as its neighbors have made the one
        before.
        """
        reach, n_rounds = self._reach, self._max_rounds
        active: dict[int, TileRestorer] = {}
        # By round, what parts were before it, which parts after them need.
        before: list[dict[int, Planes]] = [{} for _ in range(n_rounds)]
        for at in range(len(numbers) + reach * n_rounds):
            for number in numbers[at : at + 1]:
                planning = GeneratorRun(planned_tile(self._images[number], self._settings, self._source))
                for _ in planning:
                    yield number, "select", 0.0
                active[number] = planning.result
                yield from _of(number, active[number].first_steps())
            for round_number in range(n_rounds):
                for number in _delayed(numbers, at, reach * (round_number + 1)):
                    yield from _of(number, self._round(number, round_number, active, before[round_number]))
            for number in _delayed(numbers, at, reach * n_rounds):
                tile = active.pop(number)
                stages = [step.stage for step in tile.last_steps()]
                self._keep(number, tile)
                yield number, stages[-1] if stages else "refine" if tile.plan.n_rounds else "code", 1.0

    def _round(
        self, number: int, round_number: int, active: Mapping[int, TileRestorer], before: dict[int, Planes]
    ) -> Iterator[TileStep]:
        """Make a round of a part, unless it has made all of its own."""
        tile = active[number]
        makes_round = round_number < tile.plan.n_rounds
        neighbors = list(self._neighbors(number, active, before)) if makes_round else []
        if self._reach:
            before[number] = tile.planes.copy() if makes_round else tile.planes
            last = self._parts[number].number - self._reach
            for other in [each for each in before if self._parts[each].number <= last]:
                del before[other]
        if makes_round:
            yield from tile.round_steps(neighbors)

    def _neighbors(
        self, number: int, active: Mapping[int, TileRestorer], before: Mapping[int, Planes]
    ) -> Iterator[Planes]:
        """Yield the neighbors of a part before a round, in its unit range."""
        ranges = self._images[number].ranges
        for distance in range(1, self._reach + 1):
            for place in (-distance, distance):
                other = self._neighbor(number, place)
                if isinstance(other, int):
                    planes = before[other] if other < number else active[other].planes
                    yield in_ranges(planes, self._images[other].ranges, ranges)
                elif other is not None:
                    yield complete_planes(other, ranges)

    def _neighbor(self, number: int, distance: int) -> int | NDArray[Any] | None:
        """Return the part so many images from another, by its number; or its pixels if none is missing."""
        part, n_consecutive = self._parts[number], self._damaged.layout.n_consecutive
        place = part.number + distance
        if place < 0 or place // n_consecutive != part.number // n_consecutive:
            return None
        other = self._numbers.get((place, part.channels.start, part.channels.stop))
        return self._damaged.intact(place, part.channels) if other is None else other

    def _try_neighbors(self) -> Iterator[RestoreStep]:
        """Find out on a few images whether neighbors help."""
        self._reach = _REACH
        has_neighbors = self._damaged.layout.n_consecutive > 1
        numbers = [number for each in self._sequences() for number in each] if has_neighbors else []
        errors: list[Floats] = [np.zeros((2, 0))]
        for number in evenly_spaced(numbers, max(1, min(len(numbers) // _PARTS_PER_TRIAL, _MAX_TRIALS))):
            yield RestoreStep("select", _SELECTED, n_images=len(self._parts))
            errors.append(self._trial_errors(number))
        alone, together = np.concatenate(errors, axis=1).sum(axis=1)
        self._reach = _REACH if together <= (1 - _MIN_GAIN) * alone or alone == 0 else 0

    def _trial_errors(self, number: int) -> Floats:
        """Return squared errors of held-out pixels of an image, without its neighbors and with them: (2, N).

        There are none if too few pixels are observed, or there are no neighbors.
        """
        image = self._images[number]
        region = _trial_region(image)
        own = image.part(region)
        held_out = hold_out(own.missing, trial_generator(self._settings.seed, number))
        neighbors = []
        for distance in [each for each in range(-_REACH, _REACH + 1) if each]:
            other = self._neighbor(number, distance)
            if isinstance(other, int):
                beside = self._images[other].part(region)
                if beside.missing.all():
                    continue
                if beside.missing.any():
                    planes = restore_tile(beside, self._plan(self._images[other], rounds=0).for_coding())
                    neighbors.append(in_ranges(planes, beside.ranges, own.ranges))
                else:
                    neighbors.append(complete_planes(beside.pixels, own.ranges))
            elif other is not None:
                neighbors.append(complete_planes(other[region], own.ranges))
        if not neighbors or not held_out.any():
            return np.zeros((2, 0))
        plan = self._plan(image, self._max_rounds)
        origin = region[0].start, region[1].start
        return np.stack([held_out_errors(own, plan, held_out, beside, origin) for beside in ([], neighbors)])

    def _plan(self, image: Image, rounds: int) -> Plan:
        return GeneratorRun(plan_image(image, replace(self._settings, rounds=rounds), self._source)).finish()

    def _keep(self, number: int, tile: TileRestorer) -> None:
        part, keeps = self._parts[number], self._settings.keep_observed
        pixels = tile.image.render(tile.planes, keep_observed=keeps)
        self._restored[part.number][:, :, part.channels] = pixels
        self._figures.append(tile.figures())

    def _restoration(self) -> Restoration:
        """Return the result as it is now: sums over all parts."""
        dictionary = self._source if isinstance(self._source, Dictionary) else None
        return Restoration(
            image=self._damaged.wrapped(self._restored.copy(order="K")),
            settings=self._settings,
            missing_fraction=self._damaged.missing_fraction,
            selection=None if dictionary is None else dictionary.selection,
            patch_positions=np.zeros((0, 3), np.intp) if dictionary is None else dictionary.positions,
            atoms=None if dictionary is None else dictionary.atoms,
            **joint_figures(self._figures, 0 if dictionary is None else len(dictionary), {}),
        )


def neighbor_reach(damaged: DamagedArray, settings: RestoreSettings, asked: int | None) -> int:
    """Return how many neighbors on either side refine an image: as asked, or else as `restore` decides."""
    if damaged.layout.n_consecutive == 1 or settings.rounds == 0:
        return 0
    if asked is not None:
        return asked
    return StackRestorer(damaged, settings, as_atom_source(None, settings), None).decided_reach()


def errors_among_neighbors(
    damaged: DamagedArray, part: Part, region: Region, held_out: Bools, settings: RestoreSettings, reach: int
) -> Floats:
    """Restore a region of an image with its neighbors, and return squared errors of held-out values.

    They are in the order of ``pixels[held_out]``, where `held_out` (h, w, c) is for all channels. Wide holes
    are filled smoothly.
    """
    n = damaged.layout.n_consecutive
    start = part.number // n * n
    first, stop = max(part.number - reach, start), min(part.number + reach + 1, start + n)
    at, where = part.number - first, (slice(first, stop), *region)
    layers = part.channels if damaged.missing.shape[3] > 1 else slice(None)
    images, missing = damaged.images[where][..., part.channels], damaged.missing[where][..., layers].copy()
    missing[at] |= held_out
    if missing.all(axis=(1, 2, 3)).any():  # a neighbor that tells nothing
        images, missing, at = images[at : at + 1], missing[at : at + 1], 0
    hidden = as_damaged(images, missing if missing.shape[3] > 1 else missing[..., 0], 3, (1, 2))
    smooth = replace(settings, fill="smooth")
    restorer = StackRestorer(hidden, smooth, as_atom_source(None, smooth), reach)
    restored = GeneratorRun(restorer.steps()).finish().image
    errors: Floats = np.square(np.subtract(restored[at], images[at], dtype=np.float64))
    return errors[np.broadcast_to(held_out, errors.shape)]


def _of(number: int, steps: Iterator[TileStep]) -> Iterator[tuple[int, Stage, float]]:
    """Yield the steps of a part; it ends with its result."""
    return ((number, step.stage, min(step.fraction, 1 - 1e-9)) for step in steps)


def _delayed(numbers: Sequence[int], at: int, delay: int) -> Sequence[int]:
    """Return the number that comes some numbers before another; none if there is none."""
    return numbers[at - delay : at - delay + 1] if at >= delay else []


def _trial_region(image: Image) -> Region:
    """Return a part of an image that is not too large, in the middle of what is missing."""
    places = np.nonzero(image.missing.any(axis=2))
    rows, columns = (
        slice(start, start + min(_TRIAL_SIZE, length))
        for at, length in zip(places, image.shape, strict=True)
        for start in [int(np.clip(np.median(at) - _TRIAL_SIZE // 2, 0, max(length - _TRIAL_SIZE, 0)))]
    )
    return rows, columns
