"""Many images, or very many channels: restored one after the other with one dictionary."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from dictsel_core._support.arrays import Region
from dictsel_core._support.runs import GeneratorRun
from dictsel_core._support.validation import Floats
from dictsel_core.ground_set import GroundSet
from dictsel_core.restoration.canvas import Canvas, complete_planes, in_ranges
from dictsel_core.restoration.coding.dictionary import KnownDictionary
from dictsel_core.restoration.coding.sampling import MAX_PATCHES, sample_patches, select_dictionary
from dictsel_core.restoration.damaged import DamagedArray, Part
from dictsel_core.restoration.driver import ImageRestorer
from dictsel_core.restoration.holdout import held_out_errors, hold_out
from dictsel_core.restoration.lockstep import FindIntact, Lockstep
from dictsel_core.restoration.plan import Plan
from dictsel_core.restoration.planning import plan_image
from dictsel_core.restoration.refinement.refiner import BEST_ROUNDS
from dictsel_core.restoration.result import Restoration, RestoreStep
from dictsel_core.restoration.settings import ResolvedSettings, RestoreSettings
from dictsel_core.restoration.survey import evenly_spaced
from dictsel_core.restoration.tile import restore_tile

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

    Parameters
    ----------
    damaged : DamagedArray
    settings : RestoreSettings
    ground_set : GroundSet
    known : KnownDictionary or None
        Used in place of a new one.
    reach : int or None
        How many neighbors on either side of an image help to refine it; None tries whether they do.
    """

    def __init__(
        self,
        damaged: DamagedArray,
        settings: RestoreSettings,
        ground_set: GroundSet,
        known: KnownDictionary | None,
        reach: int | None,
    ) -> None:
        self._damaged, self._ground_set, self._known = damaged, ground_set, known
        self._asked_reach, self._reach = reach, reach or 0
        self._parts = [(part, damaged.canvas(part)) for part in damaged.parts()]
        fractions = [canvas.missing_fraction for _, canvas in self._parts]
        n_candidates = len(ground_set if known is None else known.atoms)
        self._settings = settings.resolved(1 - float(np.mean(fractions or [0.0])), n_candidates)
        self._images = damaged.images.copy(order="K")
        self._results: list[Restoration] = []

    def steps(self) -> Generator[RestoreStep, None, Restoration]:
        """Yield the progress, and return the result."""
        n_parts, shown, done = len(self._parts), 0.0, 0.0
        if self._known is None and n_parts:
            yield from self._select()
        if self._asked_reach is None and self._settings.rounds != 0:
            yield from self._try_neighbors()
        fractions = np.zeros(n_parts)
        for numbers in self._sequences():
            by_image = {self._parts[number][0].number: number for number in numbers}
            for each in self._lockstep(numbers).steps():
                number = by_image[each.number]
                if each.step is not None:
                    fractions[number] = each.step.fraction
                    done = _SELECTED + (1 - _SELECTED) * float(fractions.mean())
                    step = replace(each.step, fraction=done, make_partial=None)
                    yield replace(step, number=number, n_images=n_parts)
                if each.result is not None:
                    self._keep(number, each.result)
                    if done - shown >= _PARTIAL_INTERVAL and len(self._results) < n_parts:
                        shown = done
                        yield RestoreStep(step.stage, done, _constant(self._restoration()), number, n_parts)
        return self._restoration()

    def _keep(self, number: int, result: Restoration) -> None:
        self._damaged.at(self._parts[number][0], self._images)[...] = result.image
        self._results.append(replace(result, image=None))

    def _try_neighbors(self) -> Iterator[RestoreStep]:
        """Find out on a few images whether neighbors help."""
        self._reach = _REACH
        sequences = [each for each in self._sequences() if self._damaged.layout.n_consecutive > 1]
        numbers = [number for each in sequences for number in each]
        errors: list[Floats] = [np.zeros((2, 0))]
        for number in evenly_spaced(numbers, max(1, min(len(numbers) // _PARTS_PER_TRIAL, _MAX_TRIALS))):
            yield RestoreStep("select", _SELECTED, n_images=len(self._parts))
            sequence = next(each for each in sequences if number in each)
            errors.append(self._trial_errors(number, self._canvases(sequence)))
        alone, together = np.concatenate(errors, axis=1).sum(axis=1)
        self._reach = _REACH if together <= (1 - _MIN_GAIN) * alone or alone == 0 else 0

    def _trial_errors(self, number: int, images: dict[int, Canvas]) -> Floats:
        """Return squared errors of held-out pixels of an image, without its neighbors and with them: (2, N).

        There are none if too few pixels are observed, or there are no neighbors.
        """
        part = self._parts[number][0]
        region = _trial_region(images[part.number])
        own = images[part.number].part(region)
        rng = np.random.default_rng([self._settings.seed, 2018, number])
        held_out, neighbors = hold_out(own.missing, rng), []
        for other in range(part.number - _REACH, part.number + _REACH + 1):
            image = images.get(other)
            intact = self._find_intact(part)(other) if image is None else image.image
            if other == part.number or intact is None:
                continue
            if image is None or not image.missing[region].any():
                neighbors.append(complete_planes(intact[region], own.ranges))
            elif not image.missing[region].all():
                planes = restore_tile(image.part(region), self._plan(image, rounds=0))
                neighbors.append(in_ranges(planes, image.ranges, own.ranges))
        if not neighbors or not held_out.any():
            return np.zeros((2, 0))
        plan = self._plan(images[part.number], _n_rounds(self._settings))
        return np.stack([held_out_errors(own, plan, held_out, beside) for beside in ([], neighbors)])

    def _plan(self, image: Canvas, rounds: int) -> Plan:
        """Return the plan of an image for a given number of rounds of refinement."""
        settings = replace(self._settings, rounds=rounds)
        return GeneratorRun(plan_image(image, settings, self._ground_set, self._known)).finish()

    def _sequences(self) -> list[list[int]]:
        """Return which parts are restored together, by their numbers: those that may be neighbors."""
        if self._reach == 0 or self._settings.rounds == 0:
            return [[number] for number in range(len(self._parts))]
        sequences: dict[tuple[int, int, int], list[int]] = {}
        for number, (part, _) in enumerate(self._parts):
            row = part.number // self._damaged.layout.n_consecutive
            sequences.setdefault((row, part.channels.start, part.channels.stop), []).append(number)
        return list(sequences.values())

    def _lockstep(self, numbers: list[int]) -> Lockstep:
        """Return what restores some parts together."""
        find_intact = self._find_intact(self._parts[numbers[0]][0])
        return Lockstep(
            self._canvases(numbers),
            self._starter(self._settings),
            find_intact,
            self._reach,
            _n_rounds(self._settings),
        )

    def _canvases(self, numbers: list[int]) -> dict[int, Canvas]:
        """Return parts by the numbers of their images."""
        return {part.number: canvas for part, canvas in (self._parts[number] for number in numbers)}

    def _starter(self, settings: ResolvedSettings) -> Callable[[Canvas], ImageRestorer]:
        return lambda canvas: ImageRestorer(canvas, settings, self._ground_set, self._known)

    def _find_intact(self, like: Part) -> FindIntact:
        return lambda number: self._damaged.intact(number, like)

    def _select(self) -> Iterator[RestoreStep]:
        """Select a dictionary on patches of several parts."""
        settings = self._settings
        samples = []
        for part, image in evenly_spaced(self._parts, _N_SAMPLED):
            patches = sample_patches(image, settings.patch_size, settings.seed)
            samples.append(replace(patches, positions=np.insert(patches.positions, 0, part.number, axis=1)))
        sample = reduce(add, samples).drawn(MAX_PATCHES, settings.seed)
        run = select_dictionary(sample, settings, self._ground_set)
        for _ in run:
            fraction = _SELECTED * len(run.steps) / run.n_atoms
            yield RestoreStep("select", fraction, n_images=len(self._parts))
        self._known = KnownDictionary.selected(run.result, sample.positions)

    def _restoration(self) -> Restoration:
        """Return the result as it is now: sums over all parts."""
        image, results = self._damaged.wrapped(self._images.copy(order="K")), self._results
        seconds: dict[str, float] = {}
        for result in results:
            for stage, each in result.seconds.items():
                seconds[stage] = seconds.get(stage, 0.0) + each
        n_atoms = 0 if self._known is None else len(self._known.atoms)
        return Restoration(
            image,
            self._settings,
            self._damaged.missing_fraction,
            None if self._known is None else self._known.selection,
            np.zeros((0, 3), np.intp) if self._known is None else self._known.positions,
            sum((result.usage for result in results), np.zeros(n_atoms, np.intp)),
            sum(result.n_coded_patches for result in results),
            max((result.n_rounds for result in results), default=0),
            seconds,
            None if self._known is None else self._known.atoms,
        )


def _constant(result: Restoration) -> Callable[[], Restoration]:
    """Return a function that returns a result."""
    return lambda: result


def _n_rounds(settings: ResolvedSettings) -> int:
    """Return how many rounds of refinement an image makes at most."""
    return BEST_ROUNDS if settings.rounds is None else settings.rounds


def _trial_region(image: Canvas) -> Region:
    """Return a part of an image that is not too large, in the middle of what is missing."""
    places = np.nonzero(image.missing.any(axis=2))
    rows, columns = (
        slice(start, start + min(_TRIAL_SIZE, length))
        for at, length in zip(places, image.shape, strict=True)
        for start in [int(np.clip(np.median(at) - _TRIAL_SIZE // 2, 0, max(length - _TRIAL_SIZE, 0)))]
    )
    return rows, columns
