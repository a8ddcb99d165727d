"""`tune`: settings for an image, chosen by held-out pixels."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import Axis, Region, evenly_spaced, parts_of
from dictsel_core._util.parallel import GeneratorRun, Run, finished, step_by_step
from dictsel_core._util.validation import Bools, Floats
from dictsel_core.evaluation.metrics import span
from dictsel_core.refinement.rounds import BEST_ROUNDS
from dictsel_core.restoration import PresetName, ResolvedSettings, RestoreSettings
from dictsel_core.restoration.damaged import DamagedArray, Part, as_damaged
from dictsel_core.restoration.holdout import N_WANTED, held_out_errors, hold_out, trial_generator
from dictsel_core.restoration.image import Image, Plane, ValueRange
from dictsel_core.restoration.plan import Plan, as_atom_source, plan_image
from dictsel_core.restoration.restore import NEIGHBOR_PLANES
from dictsel_core.restoration.settings import as_settings
from dictsel_core.restoration.stack import errors_among_neighbors, neighbor_reach

AnySettings = TypeVar("AnySettings", bound=RestoreSettings)

#: The grid. The sparsity follows its mean: it is twice as large under average sparsity.
N_ATOMS = (8, 12, 16, 24, 32, 48, 64)
CODING_SPARSITIES = (4, 6, 8, 12)
MEAN_SPARSITIES = (2.0, 5.0)

#: The image is represented by this many tiles, of a larger size in every pass.
_N_TILES, _TILE_SIZES = 6, (48, 80, 128)
#: How often pixels of a small image are held out.
_MAX_TIMES = 4
#: Fraction of the candidates that each pass keeps, and how many at least.
_KEEP_FRACTION, _MIN_KEPT = 0.25, 4
#: Other settings must be better than the given ones by this many decibels.
_MIN_GAIN = 0.1
#: Work of one round of refinement of a tile, as a multiple of that of its first estimate.
_WORK_OF_A_ROUND = 0.8


@dataclass(frozen=True)
class TuningTrial:
    """Settings that were tried, and their PSNR estimated from held-out pixels, before any refinement."""

    settings: RestoreSettings
    estimated_psnr: float


@dataclass(frozen=True)
class TuneStep:
    """The progress of a tuning: the fraction of the work that is done, from 0 to 1, and the last trial.

    If it is refining, that trial is compared after refinement too.
    """

    fraction: float
    trial: TuningTrial
    is_refining: bool = False

    @property
    def message(self) -> str:
        """Description of the trial."""
        settings = self.trial.settings
        what = f"k = {settings.n_atoms}, {settings.coding_sparsity} atoms per patch"
        if self.is_refining:
            return f"refining with {what}"
        return f"trying {what}: about {self.trial.estimated_psnr:.2f} dB"


@dataclass(frozen=True)
class Tuning:
    """The settings that restore held-out pixels best.

    Attributes
    ----------
    settings : RestoreSettings
    estimated_psnr : float
        Estimated PSNR of the whole image with these settings, after refinement, in decibels; relative to
        `observed_range` of the image and its mask.
    given : RestoreSettings
        The given settings, with what they left open chosen for the image.
    given_psnr : float
        Estimated PSNR with the given settings, from the same held-out pixels.
    trials : tuple of TuningTrial
        All trials of the last pass, best first.
    n_tried : int
        How many settings were tried.
    """

    settings: RestoreSettings
    estimated_psnr: float
    given: RestoreSettings
    given_psnr: float
    trials: tuple[TuningTrial, ...]
    n_tried: int


@finished
def tune(
    image: ArrayLike,
    mask: ArrayLike | None = None,
    settings: RestoreSettings | PresetName | None = "balanced",
    *,
    channel_axis: Axis | None = None,
    axes: Sequence[Axis] | None = None,
    neighbor_planes: int | None = None,
    rng: np.random.Generator | int | None = None,
) -> Run[TuneStep, Tuning]:
    """Choose dictionary size, sparsity, its mean and the coding sparsity for an image.

    Some observed pixels are held out, the image is restored without them, and they are compared with the
    result. All combinations of a grid are tried on small tiles of the image, the better ones again on larger
    tiles (successive halving). The given settings are part of every pass. At the end, they and the best
    others are refined; the others are chosen only if they are better by at least 0.1 dB.

    Parameters
    ----------
    image, mask : array_like
        As for `restore`.
    settings : RestoreSettings or str, optional
        As for `restore`. What is not tuned keeps its value: constraint, bases, patch size and so on.
    channel_axis, axes : optional
        As for `restore`. Of a stack, the image in the middle of the damaged ones is used.
    neighbor_planes : int or None, optional
        As for `restore`.
    rng : numpy.random.Generator or int, optional
        Random generator for the choice of held-out pixels, or its seed. Default is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import restore
    >>> image = np.add.outer(np.arange(32), np.arange(32)).astype(np.uint8)
    >>> mask = np.random.default_rng(0).random(image.shape) < 0.5
    >>> tuning = tune(image, mask, "fast")
    >>> tuning.estimated_psnr >= tuning.given_psnr
    True
    >>> restored = restore(image, mask, tuning.settings)
    """
    damaged = as_damaged(image, mask, channel_axis, axes)
    asked, part = as_settings(settings), damaged.sample(1)[0]
    reach = neighbor_reach(damaged, asked, NEIGHBOR_PLANES.checked(neighbor_planes))
    trials = _HeldOutTrials(damaged, part, reach, asked, trial_generator(rng))
    given = asked.resolved(1 - trials.image.missing_fraction, len(trials.source))
    others = [each for each in grid(given, len(trials.source)) if each != given]
    return GeneratorRun(_successive_halving(trials, given, others))


iter_tune = step_by_step(tune, GeneratorRun[TuneStep, Tuning], "which tries one choice per step")


def grid(settings: AnySettings, n_candidates: int) -> Iterator[AnySettings]:
    """Yield all settings that `tune` tries, for a ground set of `n_candidates` atoms."""
    for mean in MEAN_SPARSITIES:
        sparsity = round(2 * mean if settings.uses_budget else mean + 1)
        for n_atoms in sorted({min(count, n_candidates) for count in N_ATOMS}):
            for coding in CODING_SPARSITIES:
                if coding <= max(n_atoms, CODING_SPARSITIES[0]):
                    yield replace(
                        settings,
                        mean_sparsity=mean,
                        sparsity=sparsity,
                        n_atoms=n_atoms,
                        coding_sparsity=coding,
                    )


def _successive_halving(
    trials: "_HeldOutTrials", given: ResolvedSettings, others: list[ResolvedSettings]
) -> Generator[TuneStep, None, Tuning]:
    """Try the others, keep the better ones, and compare the best of them with the given settings."""
    n_tried = 1 + len(others)
    counts = [
        min(len(others), max(_MIN_KEPT, round(len(others) * _KEEP_FRACTION**i)))
        for i in range(len(_TILE_SIZES))
    ]
    work_of_trials = sum((1 + count) * size**2 for count, size in zip(counts, _TILE_SIZES, strict=True))
    work_of_refining = trials.work_of_refining(given)
    total = work_of_trials + (2 if others else 1) * work_of_refining
    done, ranked, scores = 0.0, [given], {given: float("nan")}
    for count, tile_size in zip(counts, _TILE_SIZES, strict=True):
        scores = {}
        for settings in (given, *others[:count]):
            scores[settings] = trials.score(settings, tile_size)
            done += tile_size**2
            yield TuneStep(done / total, TuningTrial(settings.as_request(), scores[settings]))
        ranked = sorted(scores, key=lambda each: -np.nan_to_num(scores[each], nan=-np.inf))
        others = [each for each in ranked if each != given]
    trials_made = {each: TuningTrial(each.as_request(), scores[each]) for each in ranked}
    refined: dict[ResolvedSettings, float] = {}
    for settings in (given, *others[:1]):
        run = GeneratorRun(trials.refined_score(settings))
        for fraction in run:
            part = done + fraction * work_of_refining
            yield TuneStep(part / total, trials_made[settings], is_refining=True)
        done += work_of_refining
        refined[settings] = run.result
    merit = {each: np.nan_to_num(score, nan=-np.inf) for each, score in refined.items()}
    merit[given] += _MIN_GAIN
    best = max(refined, key=lambda each: merit[each])
    best_first = tuple(trials_made.values())
    return Tuning(best.as_request(), refined[best], given.as_request(), refined[given], best_first, n_tried)


class _HeldOutTrials:
    """Parts of an image with some observed pixels held out, on which settings are tried."""

    def __init__(
        self,
        damaged: DamagedArray,
        part: Part,
        reach: int,
        settings: RestoreSettings,
        rng: np.random.Generator,
    ) -> None:
        self.source, self.image = as_atom_source(None, settings), damaged.image(part)
        self._damaged, self._part, self._reach = damaged, part, reach
        self._data_range = span(damaged.images, damaged.missing, "image")
        image, self._gray = self.image, _gray(self.image)
        # The quality of a channel that is missing entirely cannot be estimated from the others.
        self._has_unobserved_channel = not all(image.observed_channels)
        self._tiles = {size: self._held_out(size, rng) for size in _TILE_SIZES}
        self._plans: dict[tuple[int, float, int, bool], Plan] = {}

    def _held_out(self, size: int, rng: np.random.Generator) -> list[tuple[Region, Bools]]:
        """Return tiles with pixels to hold out in them, (h, w, 1), each several times if these are few."""
        tiles = _representative_tiles(self._gray.plane(0), self._gray.mask(0), size)
        found: list[tuple[Region, Bools]] = []
        n_held = 0
        while n_held < N_WANTED / 2 and len(found) < _MAX_TIMES * len(tiles):
            found += [(tile, hold_out(self._gray.missing[tile], rng)) for tile in tiles]
            n_held = sum(int(held_out.sum()) for _, held_out in found)
        return found

    def work_of_refining(self, settings: ResolvedSettings) -> float:
        """Return the work of `refined_score`, in units in which that of `score` is the squared tile size."""
        return _TILE_SIZES[-1] ** 2 * (1 + _WORK_OF_A_ROUND * _max_rounds(settings))

    def score(self, settings: ResolvedSettings, tile_size: int) -> float:
        """Return the PSNR estimated from held-out pixels of a gray image before refinement."""
        coded = replace(settings, rounds=0)
        return GeneratorRun(self._scoring(self._gray, coded, tile_size)).finish()

    def refined_score(self, settings: ResolvedSettings) -> Generator[float, None, float]:
        """Yield the fraction that is done, and return the PSNR estimated after refinement."""
        refined = replace(settings, rounds=_max_rounds(settings))
        return self._scoring(self.image, refined, _TILE_SIZES[-1])

    def _scoring(
        self, image: Image, settings: ResolvedSettings, tile_size: int
    ) -> Generator[float, None, float]:
        if not image.missing.any():
            return float("inf")
        plan, errors = self._plan(image, settings), []
        data_range = self._data_range
        if image is self._gray:  # which is in the unit ranges of the channels
            data_range /= float(np.sqrt(np.mean([each.span**2 for each in self.image.ranges])))
        tiles = self._tiles[tile_size]
        for number, (tile, chosen) in enumerate(tiles):
            part = image.part(tile)
            held_out = chosen & ~part.missing
            if held_out.any() and not (part.missing | held_out).all(axis=(0, 1)).any():
                errors.append(self._errors(part, tile, held_out, plan, data_range))
            yield (number + 1) / len(tiles)
        if not errors or self._has_unobserved_channel:
            return float("nan")
        mean = float(np.concatenate(errors).mean()) * image.missing_fraction
        return -10 * float(np.log10(mean)) if mean > 0 else float("inf")

    def _errors(self, image: Image, tile: Region, held_out: Bools, plan: Plan, data_range: float) -> Floats:
        """Return squared errors of what is held out of a tile, relative to the data range."""
        if self._reach and plan.n_rounds:
            given = tile, held_out, plan.settings.as_request(), self._reach
            return errors_among_neighbors(self._damaged, self._part, *given) / data_range**2
        origin = tile[0].start or 0, tile[1].start or 0
        return held_out_errors(image, plan, held_out, origin=origin, data_range=data_range)

    def _plan(self, image: Image, settings: ResolvedSettings) -> Plan:
        """Return the plan of an image with the first k atoms of the largest dictionary of these settings."""
        largest = min(max(*N_ATOMS, settings.n_atoms), len(self.source))
        key = (settings.sparsity, settings.mean_sparsity, largest, image is self._gray)
        if key not in self._plans:
            whole = replace(settings, n_atoms=largest, rounds=0)
            self._plans[key] = GeneratorRun(plan_image(image, whole, self.source)).finish()
        plan, dictionary = self._plans[key], self._plans[key].dictionary.first(settings.n_atoms)
        if settings.rounds:  # which may be made in several ways
            plan = GeneratorRun(plan_image(image, settings, dictionary)).finish()
        return replace(plan, settings=settings, fill_reach=0, dictionary=dictionary)


def _max_rounds(settings: RestoreSettings) -> int:
    return BEST_ROUNDS if settings.rounds is None else settings.rounds


def _gray(image: Image) -> Image:
    """Return the mean of channels that share a mask, or else the channel with the fewest missing pixels."""
    unit = (ValueRange(0.0, 1.0),)
    if image.shares_mask:
        plane: Plane = np.asarray(np.mean(image.planes(), axis=2, dtype=np.float32))
        return Image(plane[:, :, None], image.missing, unit)
    channel = int(image.missing.sum(axis=(0, 1)).argmin())
    return Image(image.plane(channel)[:, :, None], image.mask(channel)[:, :, None], unit)


def _representative_tiles(plane: Plane, missing: Bools, size: int) -> list[Region]:
    """Return damaged tiles of a plane, from smooth to detailed; the whole plane if it is not much larger."""
    if plane.size <= _N_TILES * size**2:
        return [np.s_[:, :]]
    height, width = (max(length // size, 1) * size for length in plane.shape)
    tiles = list(parts_of((height, width), size))
    usable = [tile for tile in tiles if missing[tile].any() and not missing[tile].all()]
    usable.sort(key=lambda tile: float(plane[tile].std(where=~missing[tile])))
    return evenly_spaced(usable, _N_TILES)
