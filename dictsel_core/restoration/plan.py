"""The plan of a restoration: everything that is decided before any tile of an image is restored."""

import io
import json
import time
import zipfile
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from dictsel_core._util.arrays import Region, evenly_spaced, parts_of
from dictsel_core._util.parallel import as_thread_count, part_of_work
from dictsel_core._util.validation import Bools, Floats
from dictsel_core.atoms import AtomOrigin, GroundSet
from dictsel_core.refinement.rounds import BEST_ROUNDS, DEFAULT_OPTIONS, RefinementOptions, options_for
from dictsel_core.restoration.coding import SparseCoder
from dictsel_core.restoration.damaged import wide_pixels
from dictsel_core.restoration.dictionary import AtomSource, Dictionary, observed_counts, select_dictionary
from dictsel_core.restoration.holdout import held_out_errors, hold_out, is_harmful, trial_generator
from dictsel_core.restoration.image import Image, Planes, ValueRange
from dictsel_core.restoration.scales import Coarsest, Repeat, changes_of, repeat_of, useful_differences
from dictsel_core.restoration.settings import ResolvedSettings, RestoreSettings
from dictsel_core.restoration.tile import TileRestorer, code_tile

#: A part of an image in the unit ranges of the whole, and its first row and column.
Sample = tuple[tuple[int, int], Image]

#: Height and width of a part on which refinement is tried, how many there are at most, and the height and
#: width up to which images are tried whole.
_TRIAL_SIZE, _N_TRIALS, _MAX_WHOLE = 128, 2, 192
#: Parts with a larger missing fraction are not used as trials.
_MAX_MISSING = 0.98
#: Fraction of the planning that is done once a dictionary has been selected.
_SELECTED = 0.5
#: Fields of a plan that are not kept as text, or not kept.
_APART = ("settings", "ranges", "dictionary", "coarse")


@dataclass(frozen=True, eq=False)
class Plan:
    """Decisions that hold for all tiles of an image, made before any of them is restored."""

    settings: ResolvedSettings  #: nothing is left open; `rounds` has a value too
    ranges: tuple[ValueRange, ...]  #: of each channel, which become the unit range
    dictionary: Dictionary
    missing_fraction: float
    shares_mask: bool  #: whether all channels miss the same pixels
    observed_channels: tuple[bool, ...]  #: whether anything is observed of each channel
    damage_density: float  #: mean fraction of missing pixels around a missing one
    differences: tuple[tuple[int, int], ...]  #: pairs of channels whose difference helps the first
    repeats: tuple[Repeat, Repeat]  #: by which rows and columns were enlarged
    fill_reach: int  #: wide holes, farther than this from observed pixels, are filled; 0: none are
    holes: tuple[tuple[int, int, int, int], ...] = ()  #: boxes of wide holes, if there are several tiles
    level: int = 0  #: how often the image was halved to get its coarse scale,
    coarse: Planes | None = None  #: (h, w, C), restored; None for a single tile, or if complete

    @property
    def n_rounds(self) -> int:
        """Number of rounds of refinement."""
        return self.settings.rounds or 0

    @property
    def refinement(self) -> RefinementOptions:
        """How the rounds refine."""
        return options_for(self.damage_density, self.n_rounds)

    @property
    def threads(self) -> int:
        """Number of threads."""
        return as_thread_count(self.settings.threads)

    def with_rounds(self, rounds: int) -> "Plan":
        """Return the plan with another number of rounds."""
        return replace(self, settings=replace(self.settings, rounds=rounds))

    def coder(self) -> SparseCoder:
        """Return a coder of half of the patches, or of a quarter if their estimates are refined."""
        settings = self.settings
        return SparseCoder(
            self.dictionary.atoms.atoms,
            settings.coding_sparsity,
            settings.fill_weight,
            thinning=1 if settings.every_patch else 4 if self.n_rounds else 2,
            threads=self.threads,
        )

    def coarsest(self, origin: tuple[int, int], shape: tuple[int, int]) -> Coarsest | None:
        """Return the coarse scale of a tile, which begins at a multiple of ``2 ** level``."""
        if self.coarse is None:
            return None
        rows, columns = (
            slice(start >> self.level, -(-(start + length) >> self.level))
            for start, length in zip(origin, shape, strict=True)
        )
        limits = self.coarse.min(axis=(0, 1)), self.coarse.max(axis=(0, 1))
        return Coarsest(self.level, self.coarse[rows, columns], limits)


@dataclass(frozen=True, eq=False)
class Whole:
    """Facts about all of an image that a plan needs, besides samples."""

    shape: tuple[int, int]
    missing_fraction: float
    observed_channels: tuple[bool, ...]
    repeats: tuple[Repeat, Repeat]
    holes: tuple[tuple[int, int, int, int], ...] = ()
    level: int = 0
    coarse: Image | None = None  #: halved `level` times; None if the image is a single tile
    intact: Sequence[Image] = ()  #: samples in which nothing is missing: they too tell of the channels


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
    rows, columns = (
        repeat_of(changes_of(image.pixels, image.missing, start, axis)) for axis, start in enumerate(origin)
    )
    whole = Whole(image.shape, image.missing_fraction, image.observed_channels, (rows, columns))
    return make_plan([(origin, image)], whole, settings, source)


def make_plan(
    samples: Sequence[Sample], whole: Whole, settings: RestoreSettings, source: AtomSource
) -> Generator[float, None, Plan]:
    """Yield the fraction of the work that is done, and return the plan of an image, made on samples of it."""
    images = [image for _, image in samples]
    first, resolved = images[0], settings.resolved(1 - whole.missing_fraction, len(source))
    selecting = select_dictionary(samples, resolved, source.candidates)
    dictionary = source.dictionary or (yield from part_of_work(selecting, 0.0, _SELECTED))
    rounds = BEST_ROUNDS if settings.rounds is None else settings.rounds
    if whole.missing_fraction == 0 or min(whole.shape) < DEFAULT_OPTIONS.last_size:
        rounds = 0
    plan = Plan(
        settings=replace(resolved, rounds=rounds),
        ranges=first.ranges,
        dictionary=dictionary,
        missing_fraction=whole.missing_fraction,
        shares_mask=first.shares_mask,
        observed_channels=whole.observed_channels,
        damage_density=damage_density([image.missing for image in images], settings.patch_size),
        differences=() if first.shares_mask else useful_differences([*images, *whole.intact]),
        repeats=whole.repeats,
        fill_reach=settings.fill_reach(first.pixels.dtype),
        holes=whole.holes,
        level=whole.level,
    )
    trying = part_of_work(_is_refinement_harmful(plan, samples), _SELECTED, 1.0)
    if rounds and settings.rounds is None and (yield from trying):
        plan = plan.with_rounds(0)
    if whole.coarse is not None and whole.coarse.missing.any():
        plan = replace(plan, coarse=code_tile(whole.coarse, plan.with_rounds(0)))
    return plan


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


def _is_refinement_harmful(plan: Plan, samples: Sequence[Sample]) -> Generator[float, None, bool]:
    """Yield the fraction that is done, and return whether refinement makes held-out pixels worse."""
    changes: list[Floats] = []
    parts = [_part(sample, region) for sample in samples for region in _trial_regions(sample[1].missing)]
    parts = evenly_spaced(parts, _N_TRIALS)
    for number, (origin, part) in enumerate(parts):
        narrow = part.missing & ~wide_pixels(part.missing, plan.fill_reach)[:, :, None]
        held_out = hold_out(part.missing, trial_generator(plan.settings.seed, number), narrow)
        if held_out.any():
            before, after = (
                held_out_errors(part, each, held_out, origin=origin) for each in (plan.with_rounds(0), plan)
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


def plan_to_bytes(plan: Plan) -> bytes:
    """Return what tiles need of a plan, without the number of threads: an .npz file for `plan_from_bytes`."""
    settings = asdict(plan.settings)
    del settings["threads"]
    plain = {each.name: getattr(plan, each.name) for each in fields(plan) if each.name not in _APART}
    values = plain | {"settings": settings}
    values["ranges"] = [asdict(each) for each in plan.ranges]
    values["origins"] = [asdict(each) for each in plan.dictionary.atoms.origins]
    text = json.dumps(values, sort_keys=True, allow_nan=False)
    arrays = {"atoms": plan.dictionary.atoms.atoms, "values": np.array(text)}
    if plan.coarse is not None:
        arrays["coarse"] = plan.coarse
    with io.BytesIO() as file:
        np.savez(file, allow_pickle=False, **arrays)
        return file.getvalue()


def plan_from_bytes(data: bytes, *, threads: int | None = None) -> Plan:
    """Return the plan that `plan_to_bytes` wrote; ValueError if the bytes are something else."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = dict(file)
        values = json.loads(str(arrays["values"]))
        settings = values["settings"] | {"bases": tuple(values["settings"]["bases"]), "threads": threads}
        size = settings["patch_size"]
        origins = tuple(AtomOrigin(**each) for each in values.pop("origins"))
        values |= {
            "settings": ResolvedSettings(**settings),
            "ranges": tuple(ValueRange(**each) for each in values["ranges"]),
            "dictionary": Dictionary(GroundSet(arrays["atoms"], origins, (size, size))),
            "coarse": arrays.get("coarse"),
        }
        for name in ("observed_channels", "differences", "repeats", "holes"):
            values[name] = _as_tuples(values[name])
        return Plan(**values)
    except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, zipfile.BadZipFile):
        raise ValueError("This is not a plan, or not one of this version.") from None


def _as_tuples(value: Any) -> Any:  # noqa: ANN401  (whatever JSON knows)
    """Return lists, and lists within them, as tuples."""
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
