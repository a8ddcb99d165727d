"""Makes the plan of an image, from all of it or from samples."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.arrays import Region
from dictsel_core._support.runs import GeneratorRun
from dictsel_core._support.validation import Bools, Floats
from dictsel_core.ground_set import GroundSet
from dictsel_core.restoration.canvas import Canvas, planes_ranges
from dictsel_core.restoration.channels import useful_differences
from dictsel_core.restoration.coding.dictionary import KnownDictionary
from dictsel_core.restoration.coding.sampling import (
    MAX_PATCHES,
    PatchSample,
    sample_patches,
    select_dictionary,
)
from dictsel_core.restoration.holdout import held_out_errors, hold_out, is_harmful
from dictsel_core.restoration.plan import Plan
from dictsel_core.restoration.refinement.density import damage_density
from dictsel_core.restoration.refinement.refiner import BEST_ROUNDS, DEFAULT_OPTIONS
from dictsel_core.restoration.repeats import NOT_ENLARGED, Changes, changes_of, joint_changes, repeat_of
from dictsel_core.restoration.settings import RestoreSettings
from dictsel_core.restoration.survey import Survey, evenly_spaced, parts_of
from dictsel_core.restoration.tile import restore_tile
from dictsel_core.restoration.wide import completion_reach

#: A part of an image in the unit ranges of the whole, and where it begins.
Sample = tuple[tuple[int, int], Canvas]
#: Returns a region of an image, and of its mask.
ReadPart = Callable[[Region], tuple[NDArray[Any], Bools]]

#: How many samples the plan of an image in several tiles is made from.
_N_SAMPLES = 16
#: How many samples in which nothing is missing are used besides, if channels have masks of their own.
_N_INTACT = 4
#: Height and width of a part on which refinement is tried, how many there are at most, and the height and
#: width up to which images are tried whole.
_TRIAL_SIZE, _N_TRIALS, _MAX_WHOLE = 128, 2, 192
#: A part in which more is missing tells nothing.
_MAX_MISSING = 0.98
#: Fraction of the planning that is done once a dictionary has been selected.
_SELECTED = 0.5


def plan_image(
    image: Canvas,
    settings: RestoreSettings,
    ground_set: GroundSet,
    known: KnownDictionary | None = None,
    origin: tuple[int, int] = (0, 0),
) -> Generator[float, None, Plan]:
    """Yield the fraction of the work that is done, and return the plan of an image that is a single tile.

    Parameters
    ----------
    image : Canvas
        In which something is missing.
    settings : RestoreSettings
    ground_set : GroundSet
    known : KnownDictionary, optional
        Used in place of a new one.
    origin : (int, int)
        First row and column, if this is a part of an image: repeats and positions are those of the image.
    """
    plan = Plan(
        settings.resolved(1 - image.missing_fraction, len(ground_set if known is None else known.atoms)),
        image.ranges,
        known or KnownDictionary(ground_set),
        image.missing_fraction,
        damage_density=0.0,
        shares_mask=image.missing.shape[2] == 1,
        observed_channels=image.observed_channels,
        reach=completion_reach(settings, str(image.image.dtype)),
    )
    return (yield from _completed(plan, [(origin, image)], None if known else ground_set, image.shape))


def plan_tiles(
    survey: Survey,
    shape: tuple[int, int],
    level: int,
    reach: int,
    read: ReadPart,
    settings: RestoreSettings,
    ground_set: GroundSet,
    known: KnownDictionary | None = None,
) -> Plan:
    """Return the plan of an image in several tiles, after a survey of all of them.

    The dictionary, the density of the damage and whatever else depends on details are decided on samples.

    Parameters
    ----------
    survey : Survey
        Of all tiles.
    shape : (int, int)
        Height and width of the image.
    level, reach : int
        As in `Plan`.
    read : callable
        Returns a region of the image (h, w, C), and its mask (h, w, c).
    settings : RestoreSettings
    ground_set : GroundSet
    known : KnownDictionary, optional
        Used in place of a new one.
    """
    if survey.n_pixels != shape[0] * shape[1]:
        raise ValueError("A survey of all tiles of the image is needed, each of them once.")
    ranges, n_layers = planes_ranges(survey.ranges), 1 if survey.shares_mask else len(survey.ranges)
    n_missing = survey.n_missing[:n_layers]
    observed = [count < survey.n_pixels for count in n_missing] * (len(ranges) // n_layers)
    candidates = ground_set if known is None else known.atoms
    plan = Plan(
        settings.resolved(1 - survey.missing_fraction, len(candidates)),
        ranges,
        known or KnownDictionary(ground_set),
        survey.missing_fraction,
        damage_density=0.0,
        shares_mask=survey.shares_mask,
        observed_channels=tuple(observed),
        reach=reach,
        level=level,
    )

    def sample(region: Region) -> Sample:
        pixels, missing = read(region)
        image = Canvas(pixels, missing[:, :, :1] if survey.shares_mask else missing, ranges)
        return (region[0].start, region[1].start), image

    samples = [sample(each) for each in evenly_spaced(survey.damaged or survey.intact, _N_SAMPLES)]
    # Where a channel is missing in all of a sample, only others tell how it is related to the rest.
    n_intact = _N_INTACT if survey.damaged and not survey.shares_mask else 0
    intact = [sample(each)[1] for each in evenly_spaced(survey.intact, n_intact)]
    plan = GeneratorRun(_completed(plan, samples, None if known else ground_set, shape, intact)).finish()
    # All tiles must be enlarged, not only the samples.
    plan = replace(plan, repeats=(repeat_of(survey.changes[0]), repeat_of(survey.changes[1])))
    coarse = survey.coarse_image((-(-shape[0] >> level), -(-shape[1] >> level)), ranges)
    if coarse.missing.any():
        rough = replace(plan, settings=replace(plan.settings, rounds=0), reach=0, repeats=NOT_ENLARGED)
        plan = replace(plan, coarse=restore_tile(coarse, rough))
    if len(survey.cells):
        from dictsel_core.completion import hole_boxes  # noqa: PLC0415  (scipy is slow to import)

        plan = replace(plan, holes=hole_boxes(survey.cells, shape))
    return plan


def _completed(
    plan: Plan,
    samples: Sequence[Sample],
    candidates: GroundSet | None,
    shape: tuple[int, int],
    intact: Sequence[Canvas] = (),
) -> Generator[float, None, Plan]:
    """Return a plan with what is decided on samples; with a new dictionary if there are candidates.

    What channels have in common is decided on intact samples too.
    """
    images = [image for _, image in samples]
    settings, size, seed = plan.settings, plan.settings.patch_size, plan.settings.seed
    if candidates is not None:
        patches = reduce(add, [_patches(sample, size, seed) for sample in samples]).drawn(MAX_PATCHES, seed)
        run = select_dictionary(patches, settings, candidates)
        for _ in run:
            yield _SELECTED * len(run.steps) / run.n_atoms
        plan = replace(plan, dictionary=KnownDictionary.selected(run.result, patches.positions))
    plan = replace(
        plan,
        damage_density=damage_density([each.missing for each in images], size),
        differences=() if plan.shares_mask else useful_differences([*images, *intact]),
        repeats=(repeat_of(_changes(samples, 0)), repeat_of(_changes(samples, 1))),
    )
    if plan.missing_fraction == 0 or min(shape) < DEFAULT_OPTIONS.last_size:
        return replace(plan, settings=replace(settings, rounds=0))
    if settings.rounds is not None:
        return plan
    trial = GeneratorRun(_is_refinement_harmful(plan, images))
    for fraction in trial:
        yield _SELECTED + (1 - _SELECTED) * fraction
    return replace(plan, settings=replace(settings, rounds=0 if trial.result else BEST_ROUNDS))


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


def _is_refinement_harmful(plan: Plan, images: Sequence[Canvas]) -> Generator[float, None, bool]:
    """Yield the fraction that is done, and return whether refinement makes held-out pixels worse."""
    coded, refined = (replace(plan, settings=replace(plan.settings, rounds=n)) for n in (0, BEST_ROUNDS))
    changes: list[Floats] = []
    parts = [each.part(region) for each in images for region in _trial_regions(each.missing)]
    parts = list(evenly_spaced(parts, _N_TRIALS))
    for number, part in enumerate(parts):
        held_out = hold_out(part.missing, np.random.default_rng([plan.settings.seed, 2018, number]))
        if held_out.any():
            before, after = (held_out_errors(part, each, held_out) for each in (coded, refined))
            changes.append(after - before)
        yield (number + 1) / len(parts)
    return bool(changes) and is_harmful(np.concatenate(changes))


def _trial_regions(missing: Bools) -> list[Region]:
    """Return parts of an image, on which refinement is tried, in which something is missing."""
    shape = missing.shape
    size = max(shape[:2]) if max(shape[:2]) <= _MAX_WHOLE else _TRIAL_SIZE
    hidden = ((region, missing[region]) for region in parts_of(shape, size))
    return [region for region, part in hidden if part.any() and part.mean() < _MAX_MISSING]
