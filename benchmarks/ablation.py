"""The refinement against variants of itself: what each of its parts and parameters contributes."""

import time
from collections.abc import Callable
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
    UnweightedEstimator,
    oriented_ground_set,
    richer_ground_set,
)
from dictsel_core import standard_ground_set
from dictsel_core.refinement.gaussian import Estimator
from dictsel_core.refinement.rounds import DEFAULT_OPTIONS, RefinementOptions, refine_round
from dictsel_core.restoration.image import Planes

Variant = Callable[[Case], Planes]
SIZE = 256
PHOTOGRAPHS = ("camera", "coffee", "brick", "coins")
N_ROUNDS = 4


def main() -> None:
    """Print a table for each part of the refinement."""
    pictures = photographs(SIZE)
    masks = {**damages((SIZE, SIZE)), "wide holes": wide_holes()}
    cases = {damage: [Case(pictures[name], mask) for name in PHOTOGRAPHS] for damage, mask in masks.items()}
    refined(next(iter(cases.values()))[0])  # kernels are compiled
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
    for top in (44, 164):
        for left in (20, 108, 196):
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
    options: RefinementOptions = DEFAULT_OPTIONS,
    n_rounds: int = N_ROUNDS,
    start: Start | None = None,
    estimator: Callable[[int, int], Estimator] | None = None,
) -> Planes:
    """Refine a first estimate, by default that of fast; `estimator` returns another estimator of a round."""
    planes = (start or case.fast).planes.copy()
    for number in range(n_rounds):
        own = estimator(number, n_rounds) if estimator is not None else None
        place = planes, case.mask[:, :, None], number, n_rounds
        for _ in refine_round(*place, threads=THREADS, options=options, estimator=own):
            pass
    return planes


def tables() -> dict[str, dict[str, Variant]]:
    """Return all variants by name, grouped by the part of the refinement that they change."""
    return {
        "Rounds": {
            "none (fast)": lambda case: case.fast.planes,
            **{f"{n}": partial(refined, n_rounds=n) for n in (1, 2, 5, 8, 12)},
        },
        "Weights in the average": {
            "equal": partial(refined, estimator=_unweighted),
            "equal, 8 rounds": partial(refined, estimator=_unweighted, n_rounds=8),
        },
        "Noise": {
            "the same in all rounds": _with_options(noise_decay=1),
            "the same in all of 8 rounds": _with_options(8, noise_decay=1),
            **{
                f"x {factor:g} in all rounds": _with_options(noise=factor * DEFAULT_OPTIONS.noise)
                for factor in (0.5, 2)
            },
        },
        "Search radius": {f"{radius}": _with_options(radius=radius) for radius in (6, 20, 30)},
        "Patches (size, last size)": {
            f"{size}, {last}": _with_options(size=size, last_size=last)
            for size, last in ((6, 6), (8, 8), (10, 8))
        },
        "Members, shared part": {
            f"{n}, {first:g} to {last:g}": _with_options(n_members=n, first_shared=first, last_shared=last)
            for n, first, last in (
                (24, 0.3, 0),
                (32, 0.3, 0),
                (40, 0, 0),
                (40, 0.2, 0.2),
                (40, 0.4, 0.4),
                (60, 0.3, 0),
            )
        },
        "Members estimated; relaxation": {
            **{f"{n} estimated": _with_options(n_estimated=n) for n in (3, 12)},
            **{f"relaxation {factor:g}": _with_options(relaxation=factor) for factor in (1, 1.4, 2)},
        },
        "Blocks": {
            "blocks, no Gaussian step": partial(_blocks, centered=False),
            "the same about group means": partial(_blocks, centered=True),
        },
        "Start": {
            "fast, seven bases": lambda case: case.start(richer_ground_set()).planes,
            "  and refined": lambda case: refined(case, start=case.start(richer_ground_set())),
            "fast, Gabor and edges too": lambda case: case.start(oriented_ground_set()).planes,
            "  and refined ": lambda case: refined(case, start=case.start(oriented_ground_set())),
            "coarse scale only, refined": _from_coarse,
        },
    }


def _with_options(n_rounds: int = N_ROUNDS, **changes: float) -> Variant:
    options: RefinementOptions = replace(DEFAULT_OPTIONS, **changes)  # type: ignore[arg-type]
    return partial(refined, options=options, n_rounds=n_rounds)


def _unweighted(number: int, n_rounds: int) -> Estimator:
    return UnweightedEstimator(DEFAULT_OPTIONS.estimator(number, n_rounds))


def _blocks(case: Case, *, centered: bool) -> Planes:
    blocks = BlockEstimator(case.fast, DEFAULT_OPTIONS.n_estimated, centered)
    options = replace(DEFAULT_OPTIONS, last_size=8, relaxation=1)
    return refined(case, options, estimator=lambda number, n_rounds: blocks)


def _from_coarse(case: Case) -> Planes:
    return refined(case, start=case.start(standard_ground_set(), coarse_only=True))
