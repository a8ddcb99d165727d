"""The making of plans: decisions on all of an image, or on samples of it."""

import time
from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from dictsel_core._util.arrays import Region
from dictsel_core._util.runs import GeneratorRun
from dictsel_core._util.validation import Bools, Floats
from dictsel_core.atoms import GroundSet
from dictsel_core.refinement.rounds import BEST_ROUNDS, DEFAULT_OPTIONS
from dictsel_core.restoration.channels import useful_differences
from dictsel_core.restoration.dictionary import (
    MAX_PATCHES,
    AtomSource,
    Dictionary,
    PatchSample,
    observed_counts,
    sample_patches,
    select_dictionary,
)
from dictsel_core.restoration.holdout import held_out_errors, hold_out, is_harmful, trial_generator
from dictsel_core.restoration.image import Image
from dictsel_core.restoration.regions import evenly_spaced, parts_of
from dictsel_core.restoration.repeats import Changes, changes_of, joint_changes, repeat_of
from dictsel_core.restoration.settings import RestoreSettings
from dictsel_core.restoration.tile import Plan, TileRestorer

#: A part of an image in the unit ranges of the whole, and its first row and column.
Sample = tuple[tuple[int, int], Image]

#: Height and width of a part on which refinement is tried, how many there are at most, and the height and
#: width up to which images are tried whole.
_TRIAL_SIZE, _N_TRIALS, _MAX_WHOLE = 128, 2, 192
#: A part in which more is missing tells nothing.
_MAX_MISSING = 0.98
#: Fraction of the planning that is done once a dictionary has been selected.
_SELECTED = 0.5


def planned_tile(
    image: Image,
    settings: RestoreSettings,
    source: AtomSource,
    *,
    plan: Plan | None = None,
    origin: tuple[int, int] = (0, 0),
) -> Generator[float, None, TileRestorer]:
    """Yield the fraction of the planning that is done, and return what restores an image as a single tile.

    A given plan is used in place of a new one.
    """
    start = time.perf_counter()
    plan = plan or (yield from plan_image(image, settings, source, origin))
    tile = TileRestorer(image, plan, origin)
    tile.seconds["coarse" if source.dictionary else "select"] = time.perf_counter() - start
    return tile


def plan_image(
    image: Image, settings: RestoreSettings, source: AtomSource, origin: tuple[int, int] = (0, 0)
) -> Generator[float, None, Plan]:
    """Yield the fraction of the work that is done, and return the plan of an image that is a single tile.

    Something must be missing. If it is a part of another image, `origin` is its first row and column there:
    repeats and positions are those of that image.
    """
    plan = Plan(
        settings.resolved(1 - image.missing_fraction, len(source)),
        image.ranges,
        source.dictionary or Dictionary(source.candidates),
        image.missing_fraction,
        image.shares_mask,
        image.observed_channels,
        reach=settings.completion_reach(image.pixels.dtype),
    )
    candidates = None if source.dictionary else source.candidates
    return (yield from complete_plan(plan, [(origin, image)], candidates, image.shape))


def complete_plan(
    plan: Plan,
    samples: Sequence[Sample],
    candidates: GroundSet | None,
    shape: tuple[int, int],
    intact: Sequence[Image] = (),
) -> Generator[float, None, Plan]:
    """Return a plan with what is decided on samples: dictionary, density, relations of channels, rounds.

    Parameters
    ----------
    plan : Plan
    samples : sequence of Sample
    candidates : GroundSet or None
        Of a new dictionary; None keeps that of the plan.
    shape : (int, int)
        Height and width of the image.
    intact : sequence of Image
        Samples in which nothing is missing: they too tell what channels have in common.
    """
    images = [image for _, image in samples]
    settings, size, seed = plan.settings, plan.settings.patch_size, plan.settings.seed
    if candidates is not None:
        patches = reduce(add, [_patches(sample, size, seed) for sample in samples]).drawn(MAX_PATCHES, seed)
        run = select_dictionary(patches, settings, candidates)
        for _ in run:
            yield _SELECTED * len(run.steps) / run.n_atoms
        plan = replace(plan, dictionary=Dictionary.selected(run.result, patches.positions))
    plan = replace(
        plan,
        damage_density=damage_density([each.missing for each in images], size),
        differences=() if plan.shares_mask else useful_differences([*images, *intact]),
        repeats=(repeat_of(_changes(samples, 0)), repeat_of(_changes(samples, 1))),
    )
    if plan.missing_fraction == 0 or min(shape) < DEFAULT_OPTIONS.last_size:
        return plan.with_rounds(0)
    if settings.rounds is not None:
        return plan
    trial = GeneratorRun(_is_refinement_harmful(plan, samples))
    for fraction in trial:
        yield _SELECTED + (1 - _SELECTED) * fraction
    return plan.with_rounds(0 if trial.result else BEST_ROUNDS)


def damage_density(masks: Sequence[Bools], patch_size: int) -> float:
    """Return the mean fraction of pixels that are missing around a missing one, 0 if none is.

    Masks, (H, W, c), are those of an image, or of parts of it. The density does not depend on how much of the
    image is damaged. Patches without any observed pixel, as in wide holes, are left out.
    """
    n_pixels, total, squares = patch_size**2, 0, 0
    for missing in masks:
        for layer in range(missing.shape[2]):
            counts = observed_counts(missing[:, :, layer], patch_size)
            n_missing = n_pixels - counts[counts > 0].astype(np.int64)
            total += int(n_missing.sum())
            squares += int(np.square(n_missing).sum())
    return squares / (max(total, 1) * n_pixels)


def _patches(sample: Sample, size: int, seed: int) -> PatchSample:
    """Return patches of a sample, with their positions in the image."""
    origin, image = sample
    patches = sample_patches(image, size, seed)
    return replace(patches, positions=patches.positions + np.array(origin))


def _changes(samples: Sequence[Sample], axis: int) -> Changes:
    """Return where adjacent pixels of samples differ along an axis."""
    return reduce(
        joint_changes,
        [changes_of(image.pixels, image.missing, origin[axis], axis) for origin, image in samples],
    )


def _is_refinement_harmful(plan: Plan, samples: Sequence[Sample]) -> Generator[float, None, bool]:
    """Yield the fraction that is done, and return whether refinement makes held-out pixels worse."""
    changes: list[Floats] = []
    parts = [_part(sample, region) for sample in samples for region in _trial_regions(sample[1].missing)]
    parts = evenly_spaced(parts, _N_TRIALS)
    for number, (origin, part) in enumerate(parts):
        held_out = hold_out(part.missing, trial_generator(plan.settings.seed, number))
        if held_out.any():
            before, after = (
                held_out_errors(part, plan.with_rounds(n), held_out, origin=origin) for n in (0, BEST_ROUNDS)
            )
            changes.append(after - before)
        yield (number + 1) / len(parts)
    return bool(changes) and is_harmful(np.concatenate(changes))


def _part(sample: Sample, region: Region) -> Sample:
    """Return a part of a sample, with its first row and column in the image."""
    (top, left), image = sample
    return (top + region[0].start, left + region[1].start), image.part(region)


def _trial_regions(missing: Bools) -> list[Region]:
    """Return parts of an image, on which refinement is tried, in which something is missing."""
    shape = missing.shape
    size = max(shape[:2]) if max(shape[:2]) <= _MAX_WHOLE else _TRIAL_SIZE
    hidden = ((region, missing[region]) for region in parts_of(shape, size))
    return [region for region, part in hidden if part.any() and part.mean() < _MAX_MISSING]
