"""Individual against average sparsity in restoration, and how well `tune` chooses settings."""

import time
from dataclasses import replace

import numpy as np

from benchmarks.measure import print_table
from benchmarks.pictures import damages, photographs
from dictsel_core import RestoreSettings, psnr, restore, tune
from dictsel_core.evaluation.tuning import grid

FAST, PAPER = RestoreSettings(rounds=0), RestoreSettings.preset("paper")


def main() -> None:
    """Print all tables."""
    sparsity_kinds()
    tuning()


def sparsity_kinds() -> None:
    """Make the paper's comparison: 80 % missing, parameters by grid search against the true picture."""
    rows = []
    mask = np.random.default_rng(0).random((256, 256)) < 0.8
    for name, image in list(photographs().items())[:4]:
        best = {}
        for kind in ("individual", "average"):
            trials = [
                (psnr(image, restore(image, mask, settings).image), settings)
                for settings in grid(replace(PAPER, constraint=kind), 256)
            ]
            best[kind] = max(trials, key=lambda trial: trial[0])
        (one, a), (other, b) = best["individual"], best["average"]
        rows.append(
            [
                name,
                f"{one:.2f}",
                f"k={a.n_atoms} s={a.sparsity} code {a.coding_sparsity}",
                f"{other:.2f}",
                f"k={b.n_atoms} s={b.sparsity} s'={b.mean_sparsity:g}T code {b.coding_sparsity}",
                f"{other - one:+.2f}",
            ]
        )
    print_table(
        "The paper's comparison: 80 % missing, preset paper, best of a grid judged by the true picture",
        ["picture", "individual", "with", "average", "with", "average - individual"],
        rows,
    )


def tuning() -> None:
    """Print how close the settings chosen by `tune` come to the best of the same grid."""
    rows = []
    for damage, mask in list(damages((256, 256)).items())[:2]:
        for name, image in list(photographs().items())[:4]:
            broken = np.where(mask, 0, image).astype(np.uint8)
            start = time.perf_counter()
            chosen = tune(broken, mask, FAST)
            seconds = time.perf_counter() - start
            tried = [chosen.given, *grid(chosen.given, 256)]
            figures = {each: psnr(image, restore(broken, mask, each).image) for each in tried}
            got = figures[chosen.settings]
            rows.append(
                [
                    f"{damage}, {name}",
                    f"{seconds:.1f}",
                    f"{chosen.estimated_psnr:.2f}",
                    f"{got:.2f}",
                    f"{max(figures.values()):.2f}",
                    f"{got - max(figures.values()):+.2f}",
                    f"{psnr(image, restore(broken, mask, FAST).image):.2f}",
                ]
            )
    lost = np.mean([float(row[5]) for row in rows])
    print_table(
        f"Tuning: mean distance to the best of the grid {lost:+.3f} dB",
        ["picture", "seconds", "estimated", "got", "best of grid", "got - best", "fast, untuned"],
        rows,
    )
