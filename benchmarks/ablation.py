"""The refinement against variants of itself: what each of its parts and parameters contributes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import print_table
from benchmarks.pictures import Mask, damages, photographs
from benchmarks.variants import (
    THREADS,
    BlockEstimator,
    Case,
    Start,
    WeightedEstimator,
    oriented_ground_set,
    richer_ground_set,
)
from dictsel_core import standard_ground_set
from dictsel_core.restoration.canvas import Planes
from dictsel_core.restoration.estimator import Estimator
from dictsel_core.restoration.held_out import sample_held_out
from dictsel_core.restoration.refinement import DEFAULT_OPTIONS, RefinementOptions, Refiner

Variant = Callable[[Case], Planes]
SIZE = 128
PHOTOGRAPHS = ("camera", "coffee", "gravel", "coins")
N_ROUNDS = 3


def main() -> None:
    """Print a table for each part of the refinement."""
    pictures = photographs(SIZE)
    masks = {**damages((SIZE, SIZE)), "wide holes": wide_holes()}
    cases = {damage: [Case(pictures[name], mask) for name in PHOTOGRAPHS] for damage, mask in masks.items()}
    default, seconds = _measured(refined, cases)
    print(f"Mean PSNR over {', '.join(PHOTOGRAPHS)}, {SIZE} x {SIZE} pixels, {N_ROUNDS} rounds.")
    print("Gain over the default: mean, smallest and largest of any image; processor time relative to it.")
    for title, variants in tables().items():
        rows = [_row("default", default, default, 1.0)]
        for name, variant in variants.items():
            figures, its_seconds = _measured(variant, cases)
            rows.append(_row(name, figures, default, its_seconds / seconds))
        print_table(title, ["variant", *cases, "gain", "least", "most", "time"], rows)


def wide_holes(side: int = 20) -> Mask:
    """Six square holes, larger than any patch."""
    mask = np.zeros((SIZE, SIZE), bool)
    for top in (22, 82):
        for left in (10, 54, 98):
            mask[top : top + side, left : left + side] = True
    return mask


def _measured(variant: Variant, cases: dict[str, list[Case]]) -> tuple[np.ndarray[Any, Any], float]:
    """Return PSNR by damage and photograph, and the processor time without that of the first estimate."""
    figures, seconds = np.empty((len(cases), len(PHOTOGRAPHS))), 0.0
    for i, of_damage in enumerate(cases.values()):
        for j, case in enumerate(of_damage):
            _ = case.fast
            begin = time.process_time()
            planes = variant(case)
            seconds += time.process_time() - begin
            figures[i, j] = case.quality(planes)
    return figures, seconds


def _row(name: str, figures: np.ndarray[Any, Any], default: np.ndarray[Any, Any], ratio: float) -> list[str]:
    gains = figures - default
    summary = (gains.mean(), gains.min(), gains.max())
    by_damage = [f"{mean:.2f}" for mean in figures.mean(axis=1)]
    return [name, *by_damage, *(f"{gain:+.2f}" for gain in summary), f"{ratio:.1f}"]


def refined(
    case: Case,
    start: Start | None = None,
    rounds: Sequence[RefinementOptions] = (DEFAULT_OPTIONS,) * N_ROUNDS,
    estimators: Sequence[Estimator | None] = (None,),
) -> Planes:
    """Refine a first estimate, by default that of fast, with options for each round.

    The last of `estimators` makes all remaining rounds; None is the estimator of the options.
    """
    planes = (start or case.fast).planes.copy()
    for number, options in enumerate(rounds):
        estimator = estimators[min(number, len(estimators) - 1)]
        refiner = Refiner(case.mask[:, :, None], THREADS, options, estimator)
        for _ in refiner.round(planes, last=number == len(rounds) - 1):
            pass
    return planes


def tables() -> dict[str, dict[str, Variant]]:
    """Return all variants by name, grouped by the part of the refinement that they change."""
    return {
        "Rounds": {
            "none (fast)": lambda case: case.fast.planes,
            "1": partial(refined, rounds=[DEFAULT_OPTIONS]),
            "2": partial(refined, rounds=[DEFAULT_OPTIONS] * 2),
            "4": partial(refined, rounds=[DEFAULT_OPTIONS] * 4),
        },
        "Blocks": {
            "blocks, no Gaussian step": partial(_blocks, n_gaussian=0),
            "the same about group means": partial(_blocks, n_gaussian=0, centered=True),
            "a round of blocks first (4 rounds)": partial(_blocks, n_gaussian=N_ROUNDS),
        },
        "Start": {
            "fast, seven bases": lambda case: case.start(richer_ground_set()).planes,
            "  and refined": lambda case: refined(case, case.start(richer_ground_set())),
            "fast, Gabor and edges too": lambda case: case.start(oriented_ground_set()).planes,
            "  and refined ": lambda case: refined(case, case.start(oriented_ground_set())),
            "coarse scale only, refined": _from_coarse,
        },
        "Patches (size, last size)": {
            f"{size}, {last}": _with_options(size=size, last_size=last)
            for size, last in ((6, 6), (8, 8), (10, 6), (10, 8))
        },
        "Noise": {
            **{
                f"x {factor:g}": _with_options(noise=factor * DEFAULT_OPTIONS.noise) for factor in (0.5, 2, 4)
            },
            "falling: x 4, x 2, x 1": partial(
                refined,
                rounds=[
                    replace(DEFAULT_OPTIONS, noise=factor * DEFAULT_OPTIONS.noise) for factor in (4, 2, 1)
                ],
            ),
            "by held-out pixels, x 0.5 to x 4": _noise_by_held_out,
        },
        "Weights in the average": {
            f"by {what}": partial(refined, estimators=[_weighted(what)])
            for what in ("agreement", "observed pixels")
        },
        "Search radius": {
            **{f"{radius}": _with_options(radius=radius) for radius in (6, 14, 20)},
            "10 + that of the widest hole": _radius_by_hole,
        },
        "Members, shared part": {
            f"{n}, {shared:g}": _with_options(n_members=n, shared=shared)
            for n in (24, 40, 60, 90)
            for shared in (0, 0.2, 0.4)
            if (n, shared) != (DEFAULT_OPTIONS.n_members, DEFAULT_OPTIONS.shared)
        },
        "Members estimated; relaxation": {
            **{f"{n} estimated": _with_options(n_estimated=n) for n in (4, 16)},
            **{f"relaxation {factor:g}": _with_options(relaxation=factor) for factor in (1, 2)},
        },
        "Together: observed pixels, relaxation 2": {
            f"radius {radius}": partial(
                refined,
                rounds=[replace(DEFAULT_OPTIONS, relaxation=2, radius=radius)] * N_ROUNDS,
                estimators=[_weighted("observed pixels")],
            )
            for radius in (DEFAULT_OPTIONS.radius, 6)
        },
    }


def _with_options(**changes: float) -> Variant:
    options: RefinementOptions = replace(DEFAULT_OPTIONS, **changes)  # type: ignore[arg-type]
    return partial(refined, rounds=[options] * N_ROUNDS)


def _noisy(factor: float) -> RefinementOptions:
    return replace(DEFAULT_OPTIONS, noise=factor * DEFAULT_OPTIONS.noise)


def _weighted(by: str) -> WeightedEstimator:
    options = DEFAULT_OPTIONS
    return WeightedEstimator(options.estimator, by, options.n_estimated, options.noise)


def _blocks(case: Case, *, n_gaussian: int, centered: bool = False) -> Planes:
    """Three rounds of blocks, or one before some Gaussian ones."""
    blocks = BlockEstimator(case.fast, DEFAULT_OPTIONS.n_estimated, centered)
    options = replace(DEFAULT_OPTIONS, last_size=8, relaxation=1)
    if n_gaussian == 0:
        return refined(case, rounds=[options] * N_ROUNDS, estimators=[blocks])
    return refined(case, rounds=[options] + [DEFAULT_OPTIONS] * n_gaussian, estimators=[blocks, None])


def _from_coarse(case: Case) -> Planes:
    return refined(case, case.start(standard_ground_set(), coarse_only=True))


def _noise_by_held_out(case: Case, part: float = 0.05) -> Planes:
    """Use the noise with which one round restores held-out pixels best."""
    held_out = sample_held_out(case.mask, part, np.random.default_rng(0))
    truth = case.fast.planes[held_out]
    rest = Case(case.image, case.mask | held_out)
    options = [_noisy(factor) for factor in (0.5, 1, 2, 4)]
    errors = [np.square(refined(rest, rounds=[each])[held_out] - truth).mean() for each in options]
    return refined(case, rounds=[options[int(np.argmin(errors))]] * N_ROUNDS)


def _radius_by_hole(case: Case) -> Planes:
    return refined(
        case, rounds=[replace(DEFAULT_OPTIONS, radius=DEFAULT_OPTIONS.radius + case.hole_radius)] * N_ROUNDS
    )
