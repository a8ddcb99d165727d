"""Many images, or very many channels: restored one after the other with one dictionary."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace

import numpy as np

from dictsel_core._support.runs import GeneratorRun
from dictsel_core._support.validation import Ints
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
from dictsel_core.restoration.restorer import Restorer
from dictsel_core.restoration.result import Restoration, RestoreStep
from dictsel_core.restoration.settings import RestoreSettings

#: Number of parts, evenly spaced, whose patches the dictionary is selected on.
_N_SAMPLED = 16
#: Fraction of the work that is done after the selection.
_SELECTED = 0.02
#: Fraction of the work after which there is a new partial result: each copies the whole stack.
_PARTIAL_INTERVAL = 1 / 8


class StackRestorer:
    """Restores the images of a stack one after the other, with one dictionary for all of them.

    Parameters
    ----------
    damaged : DamagedArray
    settings : RestoreSettings
    ground_set : GroundSet
    known : KnownDictionary, optional
        Used in place of a new one.
    """

    def __init__(
        self,
        damaged: DamagedArray,
        settings: RestoreSettings,
        ground_set: GroundSet,
        known: KnownDictionary | None,
    ) -> None:
        self._damaged, self._ground_set, self._known = damaged, ground_set, known
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
        for number, (part, canvas) in enumerate(self._parts):
            run = GeneratorRun(Restorer(canvas, self._settings, self._ground_set, self._known).steps())
            for step in run:
                done = _SELECTED + (1 - _SELECTED) * (number + step.fraction) / n_parts
                yield replace(step, fraction=done, make_partial=None, number=number, n_images=n_parts)
            self._damaged.at(part, self._images)[...] = run.result.image
            self._results.append(replace(run.result, image=None))
            if done - shown >= _PARTIAL_INTERVAL and number + 1 < n_parts:
                shown = done
                yield RestoreStep(step.stage, done, _constant(self._restoration()), number, n_parts)
        return self._restoration()

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
