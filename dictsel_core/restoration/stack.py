"""Many images, or very many channels: restored one after the other with one dictionary."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace

import numpy as np

from dictsel_core._support.validation import Floats, Ints
from dictsel_core.ground_set import GroundSet
from dictsel_core.restoration.canvas import Canvas
from dictsel_core.restoration.coding.dictionary import KnownDictionary
from dictsel_core.restoration.coding.sampling import (
    MAX_PATCHES,
    PatchSample,
    sample_patches,
    select_dictionary,
)
from dictsel_core.restoration.damaged import DamagedArray, Part
from dictsel_core.restoration.lockstep import FindIntact, Lockstep
from dictsel_core.restoration.neighbor_trial import do_help, trial_errors
from dictsel_core.restoration.refinement.refiner import BEST_ROUNDS
from dictsel_core.restoration.restorer import Restorer
from dictsel_core.restoration.result import Restoration, RestoreStep
from dictsel_core.restoration.settings import ResolvedSettings, RestoreSettings

#: Number of parts, evenly spaced, whose patches the dictionary is selected on.
_N_SAMPLED = 16
#: Fraction of the work that is done after the selection.
_SELECTED = 0.02
#: Fraction of the work after which there is a new partial result: each copies the whole stack.
_PARTIAL_INTERVAL = 1 / 8
#: How many neighbors on either side are used if they help, and on how many images that is tried.
_REACH, _PARTS_PER_TRIAL, _MAX_TRIALS = 2, 8, 3


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
        errors: list[Floats] = [np.zeros((2, 0))]
        self._reach = _REACH
        once = self._starter(replace(self._settings, rounds=1))
        sequences = [each for each in self._sequences() if self._damaged.layout.n_consecutive > 1]
        numbers = [number for each in sequences for number in each]
        n_tried = min(len(numbers), max(1, min(len(numbers) // _PARTS_PER_TRIAL, _MAX_TRIALS)))
        for trial in range(n_tried):
            yield RestoreStep("select", _SELECTED, n_images=len(self._parts))
            number = numbers[(2 * trial + 1) * len(numbers) // (2 * n_tried)]
            sequence = next(each for each in sequences if number in each)
            images, part = self._canvases(sequence), self._parts[number][0]
            rng = np.random.default_rng([self._settings.seed, 2018, number])
            errors.append(trial_errors(images, part.number, once, self._find_intact(part), _REACH, rng))
        self._reach = _REACH if do_help(np.concatenate(errors, axis=1)) else 0

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
        rounds, find_intact = self._settings.rounds, self._find_intact(self._parts[numbers[0]][0])
        return Lockstep(
            self._canvases(numbers),
            self._starter(self._settings),
            find_intact,
            self._reach,
            BEST_ROUNDS if rounds is None else rounds,
        )

    def _canvases(self, numbers: list[int]) -> dict[int, Canvas]:
        """Return parts by the numbers of their images."""
        return {part.number: canvas for part, canvas in (self._parts[number] for number in numbers)}

    def _starter(self, settings: ResolvedSettings) -> Callable[[Canvas], Restorer]:
        return lambda canvas: Restorer(canvas, settings, self._ground_set, self._known)

    def _find_intact(self, like: Part) -> FindIntact:
        return lambda number: self._damaged.intact(number, like)

    def _select(self) -> Iterator[RestoreStep]:
        """Select a dictionary on patches of several parts."""
        chosen = np.unique(np.linspace(0, len(self._parts) - 1, _N_SAMPLED).round().astype(int))
        sample = joint_sample(
            [self._parts[at] for at in chosen], self._settings.patch_size, self._settings.seed
        )
        run = select_dictionary(sample, self._settings, self._ground_set)
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


def joint_sample(parts: list[tuple[Part, Canvas]], size: int, seed: int) -> PatchSample:
    """Return patches of several images; their positions begin with the number of the image: (T, 3)."""
    samples = [(part.number, sample_patches(canvas, size, seed)) for part, canvas in parts]
    data = np.concatenate([sample.data for _, sample in samples])
    mask = np.concatenate([sample.mask for _, sample in samples])
    positions: Ints = np.concatenate(
        [np.insert(sample.positions, 0, number, axis=1) for number, sample in samples]
    )
    if len(data) <= MAX_PATCHES:
        return PatchSample(data, mask, positions)
    chosen = np.sort(np.random.default_rng(seed).choice(len(data), MAX_PATCHES, replace=False))
    return PatchSample(data[chosen], mask[chosen], positions[chosen])
