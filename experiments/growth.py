"""Table 1 measured: how time grows with T, k, n and s, and the cost of the literal algorithms."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import synthetic
from benchmarks.literal import literal_replacement_greedy, literal_sds_omp
from benchmarks.measure import print_table
from dictsel_core import GroundSet, IndividualSparsity, replacement_omp, standard_ground_set
from dictsel_core.atoms import STANDARD_BASES
from dictsel_core.selection import replacement_greedy, sds_ma, sds_omp
from experiments.data import seed
from experiments.options import Options
from experiments.plots import curve, label, legend, logarithmic, panels, save
from experiments.results import Row, column, values, where
from experiments.runner import Experiment, Task

SELECTORS: dict[str, Callable[..., object]] = {
    "SDS_MA": sds_ma,
    "SDS_OMP": sds_omp,
    "RG": replacement_greedy,
    "ROMP": replacement_omp,
}
LITERAL: dict[str, Callable[..., object]] = {
    "SDS_OMP": literal_sds_omp,
    "RG": literal_replacement_greedy,
}
AXES = {
    "T": "number of points $T$",
    "k": "dictionary size $k$",
    "n": "candidate atoms $n$",
    "s": "sparsity $s$",
}
POINTS = {
    "full": {
        "T": [100, 200, 400, 800, 1600],
        "k": [10, 20, 40, 80],
        "n": [64, 128, 192, 256],
        "s": [2, 4, 8],
    },
    "quick": {"T": [50, 200], "k": [10, 40], "n": [64, 256], "s": [2, 8]},
    "smoke": {"T": [20, 40], "k": [5, 8], "n": [64, 128], "s": [2, 3]},
}


@dataclass(frozen=True)
class Size:
    """The numbers that the running times of table 1 depend on; d = 64."""

    T: int = 100
    k: int = 20
    n: int = 256
    s: int = 5

    def ground_set(self) -> GroundSet:
        """Return a ground set of n atoms."""
        return standard_ground_set(bases=STANDARD_BASES[: self.n // 64])

    def data(self, ground_set: GroundSet, trial: int) -> np.ndarray:
        """Return the paper's synthetic data."""
        number = seed(self.T, self.k, self.n, self.s, trial)
        return synthetic(ground_set, self.T, max(self.k, self.s), self.s, number)[0]


class GrowthExperiment(Experiment):
    """Seconds against T, k, n and s, the others being 100, 20, 256 and 5."""

    name = "growth"
    title = "Growth of the running time (table 1)"

    def tasks(self, options: Options) -> list[Task]:
        """One task per point of a curve and trial; then the literal algorithms, once."""
        usual = Size(T=40, k=5, n=64, s=2) if options.scale == "smoke" else Size()
        tasks = []
        for trial in range(options.n_trials(3, 1)):
            for axis, numbers in POINTS[options.scale].items():
                for number in numbers:
                    size = replace(usual, **{axis: number})
                    tasks.append(Task(f"{axis}={number} trial={trial}", partial(_time, axis, size, trial)))
        size = replace(usual, k=options.at_scale(100, 20, 3))
        return [*tasks, Task(f"literal k={size.k}", partial(_time_literal, size))]

    def report(self, rows: list[Row], folder: Path) -> list[Path]:
        """Draw all curves, and print the exponents and the cost of the literal algorithms."""
        figure, axes = panels(1, len(AXES))
        lines = {method: [method] for method in SELECTORS}
        for panel, (axis, words) in zip(axes[0], AXES.items(), strict=True):
            for method in SELECTORS:
                part = where(rows, axis=axis, method=method)
                numbers = values(part, "number")
                seconds = column(part, "seconds").reshape(len(values(part, "trial")), -1)
                curve(panel, method, numbers, seconds)
                lines[method].append(f"{exponent(part):.2f}")
            logarithmic(panel, "x", "y")
            panel.set_xticks(numbers, labels=[f"{number}" for number in numbers])
            panel.minorticks_off()
            label(panel, f"time against ${axis}$", words, "seconds")
        legend(figure, list(axes.flat))
        print_table("Time grows like a power of", ["method", *AXES], list(lines.values()))
        _print_literal(where(rows, axis="literal"))
        return save(figure, folder, self.name)


def exponent(rows: list[Row]) -> float:
    """Return the power of an axis by which the median over trials grows, of one method along that axis."""
    seconds = column(rows, "seconds").reshape(len(values(rows, "trial")), -1)
    return float(np.polyfit(np.log(values(rows, "number")), np.log(np.median(seconds, axis=0)), 1)[0])


def _time(axis: str, size: Size, trial: int) -> list[Row]:
    """Time all selectors on the same data."""
    ground_set = size.ground_set()
    data = size.data(ground_set, trial)
    rows = []
    for method, selector in SELECTORS.items():
        selector(
            ground_set, data[:5], IndividualSparsity(1), 1
        )  # so that cached properties of the ground set are not timed
        start = time.process_time()
        selector(ground_set, data, IndividualSparsity(size.s), size.k)
        rows.append(_row(axis, getattr(size, axis), trial, method, time.process_time() - start))
    return rows


def _time_literal(size: Size) -> list[Row]:
    """Time the literal algorithms, between two runs of ours."""
    ground_set = size.ground_set()
    data = size.data(ground_set, 0)
    rows = [{**row, "axis": "literal"} for row in _time("k", size, 0)]
    for method, run in LITERAL.items():
        start = time.process_time()
        run(ground_set, data, size.s, size.k)
        rows.append(_row("literal", size.k, 0, f"{method} as written", time.process_time() - start))
    for row, again in zip(rows, _time("k", size, 0), strict=False):
        row["seconds"] = round((row["seconds"] + again["seconds"]) / 2, 6)
    return rows


def _row(axis: str, number: int, trial: int, method: str, seconds: float) -> Row:
    return {"axis": axis, "number": number, "trial": trial, "method": method, "seconds": round(seconds, 6)}


def _print_literal(rows: list[Row]) -> None:
    seconds = {row["method"]: row["seconds"] for row in rows}
    print_table(
        f"The algorithms as they are written: k = {rows[0]['number']}",
        ["method", "seconds", "time / ROMP"],
        [[method, f"{value:.3f}", f"{value / seconds['ROMP']:.1f}"] for method, value in seconds.items()],
    )


EXPERIMENT = GrowthExperiment()
