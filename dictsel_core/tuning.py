"""Parameters without a reference: hold out observed pixels, restore, compare."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._support.layout import Axis
from dictsel_core._support.runs import GeneratorRun, Run, stepwise
from dictsel_core._support.validation import Bools, as_count
from dictsel_core.ground_set import GroundSet, standard_ground_set
from dictsel_core.restoration import PresetName, ResolvedSettings, RestoreSettings
from dictsel_core.restoration.canvas import Canvas, Plane
from dictsel_core.restoration.coding.dictionary import KnownDictionary
from dictsel_core.restoration.damaged import as_damaged
from dictsel_core.restoration.holdout import folds, held_out_errors
from dictsel_core.restoration.plan import Plan
from dictsel_core.restoration.planning import plan_image
from dictsel_core.restoration.refinement.refiner import BEST_ROUNDS
from dictsel_core.restoration.settings import as_settings
from dictsel_core.restoration.value_range import ValueRange

AnySettings = TypeVar("AnySettings", bound=RestoreSettings)

#: The grid. The sparsity follows the budget: it is twice as large under average sparsity.
N_ATOMS = (8, 12, 16, 24, 32, 48, 64)
CODING_SPARSITIES = (4, 6, 8, 12)
BUDGETS = (2.0, 5.0)

#: The image is represented by this many tiles, of a larger size in every pass.
_N_TILES, _TILE_SIZES = 6, (48, 80, 128)
#: Fraction of the candidates that each pass keeps, and how many at least.
_KEEP_FRACTION, _MIN_KEPT = 0.25, 4
#: Other settings must be better than the given ones by this many decibels.
_MIN_GAIN = 0.1
#: Work of one round of refinement of a tile, as a multiple of that of its first estimate (measured).
_WORK_OF_A_ROUND = 0.8


@dataclass(frozen=True)
class TuningTrial:
    """Settings that were tried, and their PSNR estimated from held-out pixels, before any refinement.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.uint8(100 + 50 * np.sin(np.add.outer(np.arange(24), np.arange(32)) / 5))
    >>> mask = np.random.default_rng(0).random(image.shape) < 0.3
    >>> trial = next(iter_tune(image, mask, "fast")).trial
    >>> trial.settings.n_atoms is None
    False
    """

    settings: RestoreSettings
    estimated_psnr: float


@dataclass(frozen=True)
class TuneStep:
    """The progress of a tuning.

    Attributes
    ----------
    fraction : float
        Fraction of the work that is done, from 0 to 1.
    trial : TuningTrial
        The last trial.
    is_refining : bool
        Whether that trial is being refined, to be compared after refinement too.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.uint8(100 + 50 * np.sin(np.add.outer(np.arange(24), np.arange(32)) / 5))
    >>> mask = np.random.default_rng(0).random(image.shape) < 0.3
    >>> step = next(iter_tune(image, mask, "fast"))
    >>> 0 < step.fraction < 1, step.is_refining
    (True, False)
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

    Examples
    --------
    >>> import numpy as np
    >>> image = np.uint8(100 + 50 * np.sin(np.add.outer(np.arange(24), np.arange(32)) / 5))
    >>> mask = np.random.default_rng(0).random(image.shape) < 0.3
    >>> tuning = tune(image, mask, "fast")
    >>> tuning.estimated_psnr >= tuning.given_psnr, tuning.n_tried >= len(tuning.trials)
    (True, True)
    """

    settings: RestoreSettings
    estimated_psnr: float
    given: RestoreSettings
    given_psnr: float
    trials: tuple[TuningTrial, ...]
    n_tried: int


def tune(
    image: ArrayLike,
    mask: ArrayLike | None = None,
    settings: RestoreSettings | PresetName | None = "balanced",
    *,
    channel_axis: Axis | None = None,
    axes: Sequence[Axis] | None = None,
    seed: int = 0,
) -> Tuning:
    """Choose dictionary size, sparsity, budget and coding sparsity for an image.

    Some observed pixels are held out, the image is restored without them, and they are compared with the
    result.
    All combinations of a grid are tried on small tiles of the image, the better ones again on larger
    tiles (successive halving). Each dictionary is selected once, at its largest size; smaller ones are its
    first atoms. The given settings are part of every pass. At the end, they and the best others are
    refined; the others are chosen only if they are better by at least 0.1 dB.

    Parameters
    ----------
    image, mask : array_like
        As for `restore`.
    settings : RestoreSettings or str, optional
        As for `restore`. What is not tuned keeps its value: constraint, bases, patch size and so on.
    channel_axis, axes : optional
        As for `restore`. Of a stack, the image in the middle of the damaged ones is used.
    seed : int, optional
        For the choice of held-out pixels. Default is 0.

    Returns
    -------
    Tuning

    See Also
    --------
    iter_tune : The same, step by step.
    estimate_psnr : Estimates the quality of given settings.

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
    return iter_tune(image, mask, settings, channel_axis=channel_axis, axes=axes, seed=seed).finish()


def _start_tuning(
    image: ArrayLike,
    mask: ArrayLike | None,
    settings: RestoreSettings | PresetName | None,
    channel_axis: Axis | None,
    axes: Sequence[Axis] | None,
    seed: int,
) -> Run[TuneStep, Tuning]:
    damaged = as_damaged(image, mask, channel_axis, axes)
    trials, given = _prepare(damaged.sample(1)[0], damaged.data_range(), settings, seed)
    others = [each for each in grid(given, len(trials.ground_set)) if each != given]
    return GeneratorRun(_successive_halving(trials, given, others))


iter_tune = stepwise(tune, _start_tuning)


def grid(settings: AnySettings, n_candidates: int) -> Iterator[AnySettings]:
    """Yield all settings that `tune` tries, for a ground set of `n_candidates` atoms."""
    for budget in BUDGETS:
        sparsity = round(2 * budget if settings.uses_budget else budget + 1)
        for n_atoms in sorted({min(count, n_candidates) for count in N_ATOMS}):
            for coding in CODING_SPARSITIES:
                if coding <= max(n_atoms, CODING_SPARSITIES[0]):
                    yield replace(
                        settings, budget=budget, sparsity=sparsity, n_atoms=n_atoms, coding_sparsity=coding
                    )


def _prepare(
    canvas: Canvas, data_range: float, settings: object, seed: int
) -> "tuple[_HeldOutTrials, ResolvedSettings]":
    """Return what settings are tried on, and the given settings."""
    asked = as_settings(settings)
    trials = _HeldOutTrials(canvas, data_range, asked, as_count(seed, "seed", minimum=0))
    return trials, asked.resolved(1 - canvas.missing_fraction, len(trials.ground_set))


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

    def __init__(self, canvas: Canvas, data_range: float, settings: RestoreSettings, seed: int) -> None:
        size = settings.patch_size
        self.ground_set: GroundSet = standard_ground_set((size, size), settings.bases)
        self._canvas, self._gray = canvas, _gray(canvas)
        missing = self._gray.mask(0)
        # The quality of a channel that is missing entirely cannot be estimated from the others.
        self._has_unobserved_channel = bool(canvas.missing.all(axis=(0, 1)).any())
        # The second number keeps the draws apart from damage simulated with the same seed.
        self._folds = folds(missing, np.random.default_rng([seed, 2018]))
        self._tiles = {
            tile_size: _representative_tiles(self._gray.plane(0), missing, self._folds[0], tile_size)
            for tile_size in _TILE_SIZES
        }
        # PSNR is relative to the data range, errors to the ranges of the channels.
        self._scales = np.array([(each.span / data_range) ** 2 for each in canvas.ranges])
        self._plans: dict[tuple[int, float, int, bool], Plan] = {}

    def work_of_refining(self, settings: ResolvedSettings) -> float:
        """Return the work of `refined_score`, in units in which that of `score` is the squared tile size."""
        return _TILE_SIZES[-1] ** 2 * (1 + _WORK_OF_A_ROUND * _max_rounds(settings)) / len(self._folds)

    def score(self, settings: ResolvedSettings, tile_size: int) -> float:
        """Return the PSNR estimated from held-out pixels of a gray image before refinement."""
        coded = replace(settings, rounds=0)
        return GeneratorRun(self._scoring(self._gray, coded, tile_size, self._folds)).finish()

    def refined_score(self, settings: ResolvedSettings) -> Generator[float, None, float]:
        """Yield the fraction that is done, and return the PSNR estimated after refinement."""
        refined = replace(settings, rounds=_max_rounds(settings))
        return self._scoring(self._canvas, refined, _TILE_SIZES[-1], self._folds[:1])

    def _scoring(
        self, canvas: Canvas, settings: ResolvedSettings, tile_size: int, some_folds: list[Bools]
    ) -> Generator[float, None, float]:
        if not canvas.missing.any():
            return float("inf")
        plan, errors = self._plan(canvas, settings), []
        scales = self._scales if canvas is self._canvas else self._scales.mean(keepdims=True)
        parts = list(product(self._tiles[tile_size], some_folds))
        for number, (tile, fold) in enumerate(parts):
            part = canvas.part(tile)
            held_out = fold[tile][:, :, None] & ~part.missing
            if held_out.any() and not (part.missing | held_out).all(axis=(0, 1)).any():
                where = np.broadcast_to(held_out, (*part.shape, part.n_channels))
                scale = np.broadcast_to(scales, where.shape)[where]
                errors.append(held_out_errors(part, plan, held_out) * scale)
            yield (number + 1) / len(parts)
        if not errors or self._has_unobserved_channel:
            return float("nan")
        mean = float(np.concatenate(errors).mean()) * canvas.missing_fraction
        return -10 * float(np.log10(mean)) if mean > 0 else float("inf")

    def _plan(self, canvas: Canvas, settings: ResolvedSettings) -> Plan:
        """Return the plan of an image with the first k atoms of the largest dictionary of these settings."""
        largest = min(max(*N_ATOMS, settings.n_atoms), len(self.ground_set))
        key = (settings.sparsity, settings.budget, largest, canvas is self._gray)
        if key not in self._plans:
            whole = replace(settings, n_atoms=largest, rounds=0)
            self._plans[key] = GeneratorRun(plan_image(canvas, whole, self.ground_set)).finish()
        plan = self._plans[key]
        atoms = plan.dictionary.atoms
        first = GroundSet(
            atoms.atoms[:, : settings.n_atoms], atoms.origins[: settings.n_atoms], atoms.patch_shape
        )
        return replace(plan, settings=settings, reach=0, dictionary=KnownDictionary(first))


def _max_rounds(settings: RestoreSettings) -> int:
    return BEST_ROUNDS if settings.rounds is None else settings.rounds


def _gray(canvas: Canvas) -> Canvas:
    """Return the mean of channels that share a mask, or else the channel with the fewest missing pixels."""
    unit = (ValueRange(0.0, 1.0),)
    if canvas.missing.shape[2] == 1:
        plane: Plane = np.asarray(np.mean(canvas.planes(), axis=2, dtype=np.float32))
        return Canvas(plane, canvas.missing, unit)
    channel = int(canvas.missing.sum(axis=(0, 1)).argmin())
    return Canvas(canvas.plane(channel), canvas.mask(channel)[:, :, None], unit)


def _representative_tiles(
    plane: Plane, missing: Bools, held_out: Bools, size: int
) -> list[tuple[slice, slice]]:
    """Return tiles of a plane, from smooth to detailed; the whole plane if it is not much larger."""
    height, width = plane.shape
    if height * width <= _N_TILES * size**2:
        return [(slice(0, height), slice(0, width))]
    rows, columns = (range(0, max(1, length - size + 1), size) for length in plane.shape)
    tiles = [(slice(y, y + size), slice(x, x + size)) for y in rows for x in columns]
    usable = [tile for tile in tiles if held_out[tile].any()] or tiles
    usable.sort(key=lambda tile: float(plane[tile].std(where=~missing[tile])))
    return [usable[(2 * i + 1) * len(usable) // (2 * _N_TILES)] for i in range(_N_TILES)]
