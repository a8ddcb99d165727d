"""The offline experiments in general: time and test residual variance against the dictionary size."""

import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.measure import print_table
from dictsel_core import AverageSparsity, Constraint, IndividualSparsity
from experiments.coding import average_residual_variance, residual_variance
from experiments.data import Array, Photographs, Sample, seed, synthetic_sample
from experiments.methods import METHODS, Mask
from experiments.options import Options
from experiments.plots import curve, label, legend, logarithmic, panels, save
from experiments.results import Row, column, values, where
from experiments.runner import Experiment, Task

#: Atoms per point, s.
SPARSITY = 5
#: Beside algorithm 1 to the letter, ours is told apart: iterations that repeat an atom are not among the k.
_NAMES = {"ROMP": "ROMP, up to $2k$ iterations"}


@dataclass(frozen=True)
class Setting:
    """One row of a figure.

    Attributes
    ----------
    n_points : int
        T, in training and in test.
    methods : tuple of str
    average : bool
        s_t = 8 and s' = 5T in place of s = 5.
    masked : bool
        Half of the entries are missing, in training and in test.
    with_images : bool
        Whether photographs are used beside synthetic data.
    """

    n_points: int
    methods: tuple[str, ...]
    average: bool = False
    masked: bool = False
    with_images: bool = True

    def constraint(self) -> Constraint:
        """Return the constraint under which dictionaries are selected."""
        if self.average:
            return AverageSparsity(8, SPARSITY * self.n_points)
        return IndividualSparsity(SPARSITY)

    def evaluate(self, dictionary: Array, test: Array, mask: Mask | None) -> float:
        """Return the test residual variance."""
        if self.average:
            return average_residual_variance(dictionary, test, 8, SPARSITY * len(test))
        return residual_variance(dictionary, test, SPARSITY, mask)


@dataclass(frozen=True)
class OfflineExperiment(Experiment):
    """One setting per row, in the paper's layout: time, residual on synthetic data, on photographs."""

    name: str
    title: str
    settings: tuple[Setting, ...]

    def tasks(self, options: Options) -> list[Task]:
        """One task for each trial, setting, and size of the planted dictionary or photograph."""
        photographs = Photographs(options.images)
        sizes = {"full": [20, 40, 60, 80, 100], "quick": [20, 60, 100], "smoke": [5, 10]}[options.scale]
        tasks = []
        for trial in range(options.n_trials(20, 2)):
            for each in self.settings:
                setting = _smaller(each) if options.scale == "smoke" else each
                name = f"T={setting.n_points} trial={trial}"
                for size in sizes:
                    run = partial(_planted, setting, size, trial)
                    tasks.append(Task(f"synthetic {name} k={size}", run))
                if setting.with_images:
                    run = partial(_photographed, setting, sizes, trial, photographs)
                    tasks.append(Task(f"images {name}", run))
        return tasks

    def report(self, rows: list[Row], folder: Path) -> list[Path]:
        """Draw one row of panels per setting, and print the numbers at the largest size."""
        n_columns = 3 if any(setting.with_images for setting in self.settings) else 2
        figure, axes = panels(len(self.settings), n_columns)
        for line, n_points in zip(axes, values(rows, "T"), strict=True):
            part = where(rows, T=n_points)
            _draw(line, part, f"$T$ = {n_points:,}")
            _print(self.title, part, n_points)
        legend(figure, list(axes.flat))
        return save(figure, folder, self.name)


def _smaller(setting: Setting) -> Setting:
    return replace(setting, n_points=30 + setting.n_points // 20)


def _planted(setting: Setting, size: int, trial: int) -> list[Row]:
    """Run every method on synthetic data whose planted dictionary has the size of the selected one."""
    sample = synthetic_sample(setting.n_points, size, SPARSITY, trial)
    return [
        row for method in setting.methods for row in _run(setting, method, [size], sample, "synthetic", trial)
    ]


def _photographed(setting: Setting, sizes: list[int], trial: int, photographs: Photographs) -> list[Row]:
    sample = photographs.sample(setting.n_points, trial)
    return [
        row for method in setting.methods for row in _run(setting, method, sizes, sample, "images", trial)
    ]


def _run(setting: Setting, method: str, sizes: list[int], sample: Sample, data: str, trial: int) -> list[Row]:
    """Compute dictionaries of all sizes; nested ones are computed once, and timed at full size only."""
    masks = _masks(sample, trial) if setting.masked else (None, None)
    rows, dictionary, seconds = [], np.zeros((0, 0)), float("nan")
    for size in sorted(sizes, reverse=True):
        if METHODS[method].nested and dictionary.size:
            seconds = float("nan")
        else:
            start = time.process_time()
            dictionary = METHODS[method].make(sample.train, setting.constraint(), size, masks[0], seed(trial))
            seconds = time.process_time() - start
        residual = setting.evaluate(dictionary[:, :size], sample.test, masks[1])
        rows.append(
            {
                "T": setting.n_points,
                "data": data,
                "trial": trial,
                "method": method,
                "k": size,
                "seconds": round(seconds, 6),
                "residual": round(residual, 8),
            }
        )
    return rows


def _masks(sample: Sample, trial: int) -> tuple[Mask, Mask]:
    """Half of the entries of training and test data, True = missing."""
    rng = np.random.default_rng(seed(trial, 1))
    return rng.random(sample.train.shape) < 0.5, rng.random(sample.test.shape) < 0.5


def _draw(axes: Array, rows: list[Row], title: str) -> None:
    size = "dictionary size $k$"
    synthetic = where(rows, data="synthetic")
    sizes = values(synthetic, "k")
    for method in values(rows, "method"):
        planted = where(synthetic, method=method)
        curve(axes[0], method, sizes, by_trial(planted, "seconds"), median=True, name=_NAMES.get(method))
        curve(axes[1], method, sizes, by_trial(planted, "residual"), name=_NAMES.get(method))
        if images := where(rows, data="images", method=method):
            # No band: the differences between photographs are not those between methods.
            found = by_trial(images, "residual")
            curve(axes[2], method, sorted(values(images, "k")), found, band=False, name=_NAMES.get(method))
    logarithmic(axes[0], "y")
    label(axes[0], f"synthetic, {title}, time", size, "seconds")
    label(axes[1], f"synthetic, {title}, residual", size, "test residual variance")
    for each in axes[2:]:
        label(each, f"photographs, {title}, residual", size, "test residual variance")
    axes[1].set_ylim(bottom=0)


def by_trial(rows: list[Row], name: str) -> Array:
    """Return one column as an array (n_trials, n_sizes), sizes ascending."""
    ordered = sorted(rows, key=lambda row: (row["trial"], row["k"]))
    return column(ordered, name).reshape(len(values(rows, "trial")), -1)


def _print(title: str, rows: list[Row], n_points: int) -> None:
    largest = max(values(rows, "k"))
    lines = []
    base = by_trial(where(rows, data="synthetic", method="ROMP", k=largest), "seconds")
    for method in values(rows, "method"):
        planted = where(rows, data="synthetic", method=method, k=largest)
        images = where(rows, data="images", method=method, k=largest)
        seconds = by_trial(planted, "seconds")
        lines.append(
            [
                method,
                f"{np.median(seconds):.3f}",
                f"{np.median(seconds / base):.2f}",
                f"{column(planted, 'residual').mean():.4f}",
                f"{column(images, 'residual').mean():.4f}" if images else "",
            ]
        )
    print_table(
        f"{title}: T = {n_points:,}, k = {largest}, {len(values(rows, 'trial'))} trials",
        ["method", "seconds", "time / ROMP", "residual, synthetic", "residual, photographs"],
        lines,
    )
