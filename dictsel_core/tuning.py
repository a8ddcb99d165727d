"""Parameters and quality without a reference: hold out observed pixels, restore, compare."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._runs import Run
from dictsel_core._threads import as_thread_count
from dictsel_core._validation import Bools, as_count
from dictsel_core.ground_set import GroundSet, standard_ground_set
from dictsel_core.restoration import RestoreSettings
from dictsel_core.restoration.canvas import Canvas, Plane, as_canvas
from dictsel_core.restoration.coding import complete, window_coder
from dictsel_core.restoration.holding_out import folds
from dictsel_core.restoration.pipeline import select_dictionary
from dictsel_core.restoration.rounds import MOST_ROUNDS, refine
from dictsel_core.restoration.settings import as_settings
from dictsel_core.selection import Selection

#: Candidate values. Sparsity goes with the budget: twice as much under average sparsity.
N_ATOMS = (8, 12, 16, 24, 32, 48, 64)
CODING_SPARSITIES = (4, 6, 8, 12)
BUDGETS = (2.0, 5.0)

#: The picture is represented by tiles, which grow as fewer candidates are left.
_N_TILES, _TILE_SIZES = 6, (48, 80, 128)
#: Part of the candidates that a round leaves for the next.
_KEPT = 0.25
#: Other settings must promise this many decibels more than the given ones to take their place.
_WORTH_CHANGING = 0.1
#: The work of one round of refinement of a tile, as a multiple of its first restoration's (measured).
_WORK_OF_A_ROUND = 0.8


@dataclass(frozen=True)
class TuningTrial:
    """Settings that were tried, and the PSNR that held-out pixels promise before any refinement."""

    settings: RestoreSettings
    estimated_psnr: float


@dataclass(frozen=True)
class TuneStep:
    """Where a tuning stands: part of the work done, from 0 to 1, and the trial made last.

    At the end that trial is refined, to be judged once more.
    """

    fraction: float
    trial: TuningTrial
    is_refining: bool = False

    @property
    def message(self) -> str:
        """The trial in a few words."""
        settings = self.trial.settings
        what = f"k = {settings.n_atoms}, {settings.coding_sparsity} atoms per window"
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
        What they promise for the whole picture, refined as they say, in decibels.
    given : RestoreSettings
        Those that tuning began with, resolved for the picture; they may be the best themselves.
    given_psnr : float
        What these promise, judged by the same held-out pixels.
    trials : tuple of TuningTrial
        All trials on the full set of tiles, best first.
    n_tried : int
        How many settings were tried in all.
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
    settings: RestoreSettings | str | None = None,
    *,
    seed: int = 0,
) -> Tuning:
    """Choose dictionary size, sparsity, budget and coding sparsity for a picture.

    Some observed pixels are held out, the picture is restored without them, and they are compared.
    All combinations of a grid are tried on small tiles of the picture, the better ones again on larger
    tiles (successive halving). Each dictionary is selected once, at its largest: smaller ones are its
    beginning. The given settings are among them in every round; they and the best of the others are
    refined at the end, and the better one is chosen, the given ones where there is little between them.

    Parameters
    ----------
    image, mask : array_like
        As for `restore`.
    settings : RestoreSettings or str, optional
        As for `restore`. Tried too, and kept if none is better. What is not tuned stays: constraint, bases,
        patch size and so on.
    seed : int
        For the choice of held-out pixels.

    Returns
    -------
    Tuning
    """
    return iter_tune(image, mask, settings, seed=seed).finish()


def iter_tune(
    image: ArrayLike,
    mask: ArrayLike | None = None,
    settings: RestoreSettings | str | None = None,
    *,
    seed: int = 0,
) -> Run[TuneStep, Tuning]:
    """Tune step by step: an iterator over `TuneStep`, whose `result` is the `Tuning`.

    Parameters are those of `tune`.
    """
    asked = as_settings(settings)
    trial = _HeldOutTrial(as_canvas(image, mask), asked, as_count(seed, "seed", least=0))
    given = trial.resolved(asked)
    others = [each for each in grid(given, len(trial.ground_set)) if each != given]
    return Run(_tuning(trial, given, others))


def estimate_psnr(
    image: ArrayLike,
    mask: ArrayLike | None = None,
    settings: RestoreSettings | str | None = None,
    *,
    seed: int = 0,
) -> float:
    """Estimate the PSNR of a restoration, in decibels, without the original.

    Parameters
    ----------
    image, mask : array_like
        As for `restore`.
    settings : RestoreSettings or str, optional
        As for `restore`.
    seed : int
        For the choice of held-out pixels.

    Returns
    -------
    float
        For the whole picture with its observed pixels kept. Infinite if nothing is missing; NaN if so
        little is observed that nothing could be held out, or nothing at all of one channel.
    """
    asked = as_settings(settings)
    trial = _HeldOutTrial(as_canvas(image, mask), asked, as_count(seed, "seed", least=0))
    return Run(trial.refined_score(trial.resolved(asked))).finish()


def grid(settings: RestoreSettings, n_candidates: int) -> Iterator[RestoreSettings]:
    """Yield all settings that `tune` tries, for a ground set of `n_candidates` atoms."""
    for budget in BUDGETS:
        average = settings.constraint == "average"
        sparsity = round(2 * budget if average else budget + 1)
        for n_atoms in sorted({min(count, n_candidates) for count in N_ATOMS}):
            for coding in CODING_SPARSITIES:
                if coding <= max(n_atoms, CODING_SPARSITIES[0]):
                    yield replace(
                        settings, budget=budget, sparsity=sparsity, n_atoms=n_atoms, coding_sparsity=coding
                    )


def _tuning(
    trial: "_HeldOutTrial", given: RestoreSettings, others: list[RestoreSettings]
) -> Generator[TuneStep, None, Tuning]:
    """Halve the others again and again, then judge the best of them against the given settings."""
    n_tried = 1 + len(others)
    counts = [min(len(others), max(4, round(len(others) * _KEPT**i))) for i in range(len(_TILE_SIZES))]
    trying = sum((1 + count) * size**2 for count, size in zip(counts, _TILE_SIZES, strict=True))
    refining = trial.work_of_refining(given)
    total = trying + (2 if others else 1) * refining
    done = 0.0
    scored: list[TuningTrial] = []
    for count, tile_size in zip(counts, _TILE_SIZES, strict=True):
        scored = []
        for settings in (given, *others[:count]):
            scored.append(TuningTrial(settings, trial.score(settings, tile_size)))
            done += tile_size**2
            yield TuneStep(done / total, scored[-1])
        scored.sort(key=lambda each: -np.nan_to_num(each.estimated_psnr, nan=-np.inf))
        others = [each.settings for each in scored if each.settings != given]
    promises: dict[RestoreSettings, float] = {}
    for settings in (given, *others[:1]):
        tried = next(each for each in scored if each.settings == settings)
        run = Run(trial.refined_score(settings))
        for part in run:
            yield TuneStep((done + part * refining) / total, tried, is_refining=True)
        done += refining
        promises[settings] = run.result
    worth = {each: np.nan_to_num(promise, nan=-np.inf) for each, promise in promises.items()}
    worth[given] += _WORTH_CHANGING
    best = max(promises, key=lambda each: worth[each])
    return Tuning(best, promises[best], given, promises[given], tuple(scored), n_tried)


class _HeldOutTrial:
    """Tiles of the picture with some observed pixels held out."""

    def __init__(self, canvas: Canvas, settings: RestoreSettings, seed: int) -> None:
        size = settings.patch_size
        self.ground_set: GroundSet = standard_ground_set((size, size), settings.bases)
        self._observed_fraction = 1 - canvas.missing_fraction
        self._missing_fraction = canvas.missing_fraction
        self._plane, self._missing = _gray(canvas)
        # A channel of which nothing is known cannot be judged by what is known of the others.
        self._hopeless = bool(canvas.missing.all(axis=(0, 1)).any())
        # The second number keeps apart from damage that was simulated with the same seed.
        self._folds = folds(self._missing, np.random.default_rng([seed, 2018]))
        self._tiles = {
            tile_size: _representative_tiles(self._plane, self._missing, self._folds[0], tile_size)
            for tile_size in _TILE_SIZES
        }
        # PSNR counts from the largest possible value, planes from the largest observed one.
        peak = np.iinfo(canvas.image.dtype).max if np.issubdtype(canvas.image.dtype, np.integer) else 1.0
        span = float(canvas.high - canvas.low) or 1.0
        self._peak_decibels = 20 * (np.log10(float(peak)) - np.log10(span))
        self._selections: dict[tuple[int, float, int], Selection] = {}

    def resolved(self, settings: RestoreSettings) -> RestoreSettings:
        return settings.resolved(self._observed_fraction, len(self.ground_set))

    def work_of_refining(self, settings: RestoreSettings) -> float:
        """Return the work of `refined_score`, where that of `score` is the square of the tile size."""
        return _TILE_SIZES[-1] ** 2 * (1 + _WORK_OF_A_ROUND * _n_rounds(settings)) / len(self._folds)

    def score(self, settings: RestoreSettings, tile_size: int) -> float:
        """Return the PSNR that held-out pixels promise before refinement; settings are resolved."""
        return Run(self._scoring(settings, tile_size, self._folds, 0)).finish()

    def refined_score(self, settings: RestoreSettings) -> Generator[float, None, float]:
        """Yield the part that is done, and return the PSNR as promised after refinement."""
        return self._scoring(settings, _TILE_SIZES[-1], self._folds[:1], _n_rounds(settings))

    def _scoring(
        self, settings: RestoreSettings, tile_size: int, some_folds: list[Bools], n_rounds: int
    ) -> Generator[float, None, float]:
        if self._missing_fraction == 0:
            return float("inf")
        coder = window_coder(self._dictionary(settings), settings)
        error, count = 0.0, 0
        parts = list(product(self._tiles[tile_size], some_folds))
        for place, (tile, fold) in enumerate(parts):
            plane, held_out = self._plane[tile], fold[tile]
            missing = self._missing[tile] | held_out
            if held_out.any() and not missing.all():
                restored = np.clip(Run(complete(plane, missing, coder)).finish(), 0, 1)
                layers = restored[:, :, None]  # a view
                for step in refine(layers, missing[:, :, None], n_rounds, as_thread_count(settings.threads)):
                    yield (place + step.fraction) / len(parts)
                error += float(np.square(restored - plane)[held_out].sum(dtype=np.float64))
                count += int(held_out.sum())
            yield (place + 1) / len(parts)
        if count == 0 or self._hopeless:
            return float("nan")
        mean = error / count * self._missing_fraction
        return float(self._peak_decibels - 10 * np.log10(mean)) if mean > 0 else float("inf")

    def _dictionary(self, settings: RestoreSettings) -> NDArray[np.float64]:
        """Return the first k atoms of the largest dictionary of these settings."""
        largest = min(max(*N_ATOMS, settings.n_atoms or 1), len(self.ground_set))
        key = (settings.sparsity, settings.budget, largest)
        if key not in self._selections:
            missing = self._missing | self._folds[0]
            if missing.all():
                missing = self._missing
            canvas = Canvas(self._plane, missing[:, :, None], 0.0, 1.0)
            run = select_dictionary(canvas, replace(settings, n_atoms=largest), self.ground_set)
            self._selections[key] = run.finish()
        return self._selections[key].dictionary[:, : settings.n_atoms]


def _n_rounds(settings: RestoreSettings) -> int:
    return MOST_ROUNDS if settings.rounds is None else settings.rounds


def _gray(canvas: Canvas) -> tuple[Plane, Bools]:
    """Return the mean of channels that miss the same pixels, or else the one that misses fewest."""
    if canvas.missing.shape[2] == 1:
        planes = [canvas.plane(channel) for channel in range(canvas.n_channels)]
        return np.mean(planes, axis=0, dtype=np.float32), canvas.mask(0)
    channel = int(canvas.missing.sum(axis=(0, 1)).argmin())
    return canvas.plane(channel), canvas.mask(channel)


def _representative_tiles(
    plane: Plane, missing: Bools, held_out: Bools, size: int
) -> list[tuple[slice, slice]]:
    """Tiles from all over a plane, from smooth to busy; the whole plane if it is not much larger."""
    height, width = plane.shape
    if height * width <= _N_TILES * size**2:
        return [(slice(0, height), slice(0, width))]
    rows, columns = (range(0, max(1, length - size + 1), size) for length in plane.shape)
    tiles = [(slice(y, y + size), slice(x, x + size)) for y in rows for x in columns]
    usable = [tile for tile in tiles if held_out[tile].any()] or tiles
    usable.sort(key=lambda tile: float(plane[tile].std(where=~missing[tile])))
    return [usable[(2 * i + 1) * len(usable) // (2 * _N_TILES)] for i in range(_N_TILES)]
