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
from dictsel_core.restoration.pipeline import DEFAULTS, select_dictionary
from dictsel_core.restoration.rounds import MOST_ROUNDS, refine
from dictsel_core.selection import Selection

#: Candidate values. Sparsity goes with the budget: twice as much under average sparsity.
N_ATOMS = (8, 12, 16, 24, 32, 48, 64)
CODING_SPARSITIES = (4, 6, 8, 12)
BUDGETS = (2.0, 5.0)

#: The picture is represented by tiles, which grow as fewer candidates are left.
_N_TILES, _TILE_SIZES = 6, (48, 80, 128)
#: Part of the candidates that a round leaves for the next.
_KEPT = 0.25


@dataclass(frozen=True)
class TuningTrial:
    """Settings that were tried, and the PSNR that held-out pixels promise before any refinement."""

    settings: RestoreSettings
    estimated_psnr: float


@dataclass(frozen=True)
class TuneStep:
    """Where a tuning stands: part of the work done, from 0 to 1, and the trial made last."""

    fraction: float
    trial: TuningTrial

    @property
    def message(self) -> str:
        """The trial in a few words."""
        settings = self.trial.settings
        return (
            f"k = {settings.n_atoms}, {settings.coding_sparsity} atoms per window: "
            f"about {self.trial.estimated_psnr:.2f} dB"
        )


@dataclass(frozen=True)
class Tuning:
    """The settings that restore held-out pixels best.

    Attributes
    ----------
    settings : RestoreSettings
    estimated_psnr : float
        What they promise for the whole picture, refined as they say, in decibels.
    trials : tuple of TuningTrial
        All trials on the full set of tiles, best first.
    """

    settings: RestoreSettings
    estimated_psnr: float
    trials: tuple[TuningTrial, ...]


def tune(image: ArrayLike, mask: ArrayLike, settings: RestoreSettings = DEFAULTS, *, seed: int = 0) -> Tuning:
    """Choose dictionary size, sparsity, budget and coding sparsity for a picture.

    Some observed pixels are held out, the picture is restored without them, and they are compared.
    All combinations of a grid are tried on small tiles of the picture, the better ones again on larger
    tiles (successive halving). Each dictionary is selected once, at its largest: smaller ones are its
    beginning.

    Parameters
    ----------
    image, mask : array_like
        As for `restore`.
    settings : RestoreSettings
        What is not tuned stays: constraint, bases, patch size and so on.
    seed : int
        For the choice of held-out pixels.

    Returns
    -------
    Tuning
    """
    return iter_tune(image, mask, settings, seed=seed).finish()


def iter_tune(
    image: ArrayLike, mask: ArrayLike, settings: RestoreSettings = DEFAULTS, *, seed: int = 0
) -> Run[TuneStep, Tuning]:
    """Tune step by step: an iterator over `TuneStep`, whose `result` is the `Tuning`.

    Parameters are those of `tune`.
    """
    trial = _HeldOutTrial(as_canvas(image, mask), settings, as_count(seed, "seed", least=0))
    return Run(_halving(trial, list(grid(settings, len(trial.ground_set)))))


def estimate_psnr(
    image: ArrayLike, mask: ArrayLike, settings: RestoreSettings = DEFAULTS, *, seed: int = 0
) -> float:
    """Estimate the PSNR of a restoration, in decibels, without the original.

    Parameters
    ----------
    image, mask : array_like
        As for `restore`.
    settings : RestoreSettings
    seed : int
        For the choice of held-out pixels.

    Returns
    -------
    float
        For the whole picture with its observed pixels kept. Infinite if nothing is missing; NaN if so
        little is observed that nothing could be held out, or nothing at all of one channel.
    """
    trial = _HeldOutTrial(as_canvas(image, mask), settings, as_count(seed, "seed", least=0))
    return trial.score(trial.resolved(settings), _TILE_SIZES[-1], refined=True)


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


def _halving(trial: "_HeldOutTrial", candidates: list[RestoreSettings]) -> Generator[TuneStep, None, Tuning]:
    counts = [max(4, round(len(candidates) * _KEPT**i)) for i in range(len(_TILE_SIZES))]
    work = [count * size**2 for count, size in zip(counts, _TILE_SIZES, strict=True)]
    done = 0
    scored: list[TuningTrial] = []
    for count, tile_size in zip(counts, _TILE_SIZES, strict=True):
        scored = []
        for settings in candidates[:count]:
            scored.append(TuningTrial(settings, trial.score(settings, tile_size)))
            done += tile_size**2
            yield TuneStep(done / sum(work), scored[-1])
        scored.sort(key=lambda each: -np.nan_to_num(each.estimated_psnr, nan=-np.inf))
        candidates = [each.settings for each in scored]
    best = scored[0].settings
    return Tuning(best, trial.score(best, _TILE_SIZES[-1], refined=True), tuple(scored))


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
        self._peak = float(peak) * canvas.scale
        self._selections: dict[tuple[int, float], Selection] = {}

    def resolved(self, settings: RestoreSettings) -> RestoreSettings:
        return settings.resolved(self._observed_fraction, len(self.ground_set))

    def score(self, settings: RestoreSettings, tile_size: int, *, refined: bool = False) -> float:
        """Return the PSNR that the held-out pixels of tiles promise, for resolved settings."""
        n_rounds = MOST_ROUNDS if settings.rounds is None else settings.rounds
        threads = as_thread_count(settings.threads)
        if self._missing_fraction == 0:
            return float("inf")
        coder = window_coder(self._dictionary(settings), settings)
        error, count = 0.0, 0
        for tile, fold in product(self._tiles[tile_size], self._folds):
            plane, held_out = self._plane[tile], fold[tile]
            missing = self._missing[tile] | held_out
            if not held_out.any() or missing.all():
                continue
            restored = np.clip(Run(complete(plane, missing, coder)).finish(), 0, 1)
            if refined:
                layers = restored[:, :, None]  # a view
                Run(refine(layers, missing[:, :, None], n_rounds, threads)).finish()
            error += float(np.square(restored - plane)[held_out].sum(dtype=np.float64))
            count += int(held_out.sum())
        if count == 0 or self._hopeless:
            return float("nan")
        mean = error / count * self._missing_fraction
        return float(10 * np.log10(self._peak**2 / mean)) if mean > 0 else float("inf")

    def _dictionary(self, settings: RestoreSettings) -> NDArray[np.float64]:
        """Return the first k atoms of the largest dictionary of these settings."""
        largest = min(max(*N_ATOMS, settings.n_atoms or 1), len(self.ground_set))
        key = (settings.sparsity, settings.budget)
        if key not in self._selections:
            missing = self._missing | self._folds[0]
            if missing.all():
                missing = self._missing
            canvas = Canvas(self._plane, missing[:, :, None], 0.0, 1.0)
            run = select_dictionary(canvas, replace(settings, n_atoms=largest), self.ground_set)
            self._selections[key] = run.finish()
        return self._selections[key].dictionary[:, : settings.n_atoms]


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
