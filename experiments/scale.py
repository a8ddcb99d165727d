"""How selection grows with the number of points and of candidates, beside dictionary learners."""

import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import DTypeLike, NDArray
from threadpoolctl import threadpool_limits

from benchmarks.measure import print_table
from dictsel_core import GroundSet, IndividualSparsity, ground_set_from_array
from dictsel_core.selection import (
    SelectionRun,
    iter_chunked_replacement_omp,
    iter_replacement_omp,
    iter_stochastic_replacement_omp,
)
from experiments.coding import residual_variance
from experiments.data import PATCH, Array, bundled_photographs, seed
from experiments.learners import LEARNERS
from experiments.options import Options
from experiments.plots import curve, label, legend, logarithmic, panels, save
from experiments.results import Row, column, values, where
from experiments.runner import Experiment, Task

Patches = NDArray[np.float32]

SPARSITY = 5
#: Points of a chunk, and most entries of the table of gains that `replacement_omp` keeps.
CHUNK, MOST_GAINS = 25_000, 100_000_000
#: Less is not told from what the process held before.
LEAST_MEGABYTES = 10


class Size(NamedTuple):
    """T, n and k."""

    T: int
    n: int
    k: int


#: Sizes along each axis, and the goal: a million points and ten thousand candidates.
SIZES = {
    "full": {
        "T": [Size(10**i, 1000, 100) for i in range(2, 7)],
        "n": [Size(10_000, 10**i, 50) for i in range(2, 6)],
        "goal": [Size(1_000_000, 10_000, 100)],
    },
    "quick": {
        "T": [Size(1000, 500, 50), Size(10_000, 500, 50)],
        "n": [Size(1000, 100, 50), Size(1000, 2000, 50)],
        "goal": [],
    },
    "smoke": {
        "T": [Size(100, 40, 4), Size(200, 40, 4)],
        "n": [Size(100, 20, 4), Size(100, 40, 4)],
        "goal": [],
    },
}


def _whole(ground_set: GroundSet, data: Patches, n_atoms: int) -> SelectionRun:
    return iter_replacement_omp(ground_set, data, IndividualSparsity(SPARSITY), n_atoms)


def _chunked(threads: int, ground_set: GroundSet, data: Patches, n_atoms: int) -> SelectionRun:
    constraint, chunks = IndividualSparsity(SPARSITY), _chunks(data)
    return iter_chunked_replacement_omp(ground_set, chunks, constraint, n_atoms, threads=threads)


def _sampled(ground_set: GroundSet, data: Patches, n_atoms: int) -> SelectionRun:
    return iter_stochastic_replacement_omp(ground_set, data, IndividualSparsity(SPARSITY), n_atoms, rng=0)


class _Stored:
    """A chunk in a file, read where it is worked on."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Patches:
        return np.asarray(np.load(self.path))


def _in_processes(ground_set: GroundSet, data: Patches, n_atoms: int) -> "_ProcessRun":
    return _ProcessRun(ground_set, data, n_atoms)


class _ProcessRun:
    """A chunked selection by two processes, which read the chunks from files."""

    def __init__(self, ground_set: GroundSet, data: Patches, n_atoms: int) -> None:
        self._folder = tempfile.TemporaryDirectory()
        chunks = []
        for number, chunk in enumerate(_chunks(data)):
            path = Path(self._folder.name) / f"{number}.npy"
            np.save(path, chunk)
            chunks.append(_Stored(path))
        self._pool = ProcessPoolExecutor(2, get_context("spawn"))
        constraint: Any = IndividualSparsity(SPARSITY)
        self._run = iter_chunked_replacement_omp(
            ground_set, chunks, constraint, n_atoms, workers=self._pool.map, keep=False
        )

    def __iter__(self) -> Iterator[Any]:
        yield from self._run
        self.result = self._run.result
        self._pool.shutdown()
        self._folder.cleanup()


def _chunks(data: Patches) -> list[Patches]:
    """Cut data into chunks, at least four of them."""
    return np.array_split(data, max(4, len(data) // CHUNK))


#: How each selector starts, and whether it can for a size.
SELECTORS: dict[str, tuple[Callable[..., Any], Callable[[Size], bool]]] = {
    "ROMP": (_whole, lambda size: size.T * size.n <= MOST_GAINS),
    "chunked ROMP": (partial(_chunked, 1), lambda size: True),
    "chunked ROMP, two threads": (partial(_chunked, 2), lambda size: size.T >= 1000),
    "chunked ROMP, two processes": (_in_processes, lambda size: 1000 <= size.T <= 100_000 and size.n == 1000),
    "sampled ROMP": (_sampled, lambda size: size.T <= 100_000 and size.n <= 10_000),
}


class ScaleExperiment(Experiment):
    """Clock, processor time, memory, exact evaluations and test residual against T and n."""

    name = "scale"
    title = "Growth with points and candidates"

    def tasks(self, options: Options) -> list[Task]:
        """One task per size and method, each in a process of its own."""
        tasks = []
        for axis, sizes in SIZES[options.scale].items():
            for size in sizes:
                for method in methods(axis, size):
                    key = f"{axis} T={size.T} n={size.n} k={size.k} {method}"
                    tasks.append(Task(key, partial(_row, axis, size, method, options.scale != "smoke")))
        return tasks

    def report(self, rows: list[Row], folder: Path) -> list[Path]:
        """Draw the growth, and print it with its exponents."""
        figure, axes = panels(2, 3)
        for axis, words, line in (("T", "number of points $T$", axes[0]), ("n", "candidates $n$", axes[1])):
            part = where(rows, axis=axis)
            for method in values(part, "method"):
                mine = where(part, method=method)
                numbers = [row[axis] for row in mine]
                for panel, what in zip(line, _PANELS[axis], strict=True):
                    if what != "exact" or mine[0]["exact"] > 0:
                        curve(panel, method, numbers, column(mine, what)[None])
            for panel, what in zip(line, _PANELS[axis], strict=True):
                logarithmic(panel, "x", "y")
                _powers_of_ten(panel)
                if what == "megabytes":
                    panel.set_ylim(bottom=LEAST_MEGABYTES)
                label(panel, f"{_WORDS[what]}, {_others(part, axis)}", words, _UNITS[what])
        everyone = values(where(rows, axis="n"), "n")
        axes[1, 2].plot(everyone, everyone, color="0.6", linewidth=1, linestyle="--", label="all candidates")
        legend(figure, list(axes.flat))
        _print(self.title, rows)
        return save(figure, folder, self.name)


_PANELS = {"T": ("processor", "clock", "megabytes"), "n": ("processor", "megabytes", "exact")}
_WORDS = {
    "processor": "processor time",
    "clock": "clock",
    "megabytes": "memory",
    "exact": "exact evaluations",
}
_UNITS = {
    "processor": "seconds",
    "clock": "seconds",
    "megabytes": "MB beside the data",
    "exact": "atoms per step",
}


def _powers_of_ten(panel: Any) -> None:  # noqa: ANN401  (Matplotlib has no types here)
    from matplotlib.ticker import LogFormatterMathtext, LogLocator

    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(LogLocator())
        axis.set_major_formatter(LogFormatterMathtext())


def _others(rows: list[Row], axis: str) -> str:
    other = {"T": "n", "n": "T"}[axis]
    return f"${other}$ = {rows[0][other]:,}, $k$ = {rows[0]['k']}"


def methods(axis: str, size: Size) -> list[str]:
    """Return the methods that are tried at a size; learners have no candidates, and are tried along T."""
    found = [name for name, (_, can) in SELECTORS.items() if can(size)]
    if axis == "goal":
        return ["chunked ROMP, two threads"]
    if axis == "T":
        found += [name for name, each in LEARNERS.items() if each.is_installed and each.most_points >= size.T]
    return found


def exponents(rows: list[Row], axis: str, what: str) -> dict[str, float]:
    """Return the power of the axis by which a column of each method grows between its last two sizes."""
    found = {}
    for method in values(where(rows, axis=axis), "method"):
        mine = where(rows, axis=axis, method=method)
        for before, after in pairwise(mine):
            ratio = np.log(after[what] / before[what]) / np.log(after[axis] / before[axis])
            found[method] = float(ratio)
    return found


def _print(title: str, rows: list[Row]) -> None:
    lines = [
        [
            f"{row['T']:,}",
            f"{row['n']:,}",
            str(row["k"]),
            row["method"],
            f"{row['clock']:.2f}",
            f"{row['processor']:.2f}",
            f"{row['megabytes']:.0f}" if row["megabytes"] >= LEAST_MEGABYTES else f"< {LEAST_MEGABYTES}",
            f"{row['exact']:.1f}" if row["exact"] else "-",
            f"{row['residual']:.4f}",
        ]
        for row in rows
    ]
    head = ["T", "n", "k", "method", "clock", "processor", "MB", "exact / step", "residual"]
    print_table(title, head, lines)
    for axis in ("T", "n"):
        found = exponents(rows, axis, "processor")
        print_table(
            f"Processor time grows like a power of {axis}, between the last two sizes",
            ["method", "power"],
            [[method, f"{power:.2f}"] for method, power in found.items()],
        )


def _row(axis: str, size: Size, method: str, apart: bool) -> list[Row]:
    """Measure, in a process of its own if its peak of memory is wanted."""
    row: Row = {"axis": axis, **size._asdict(), "method": method}
    if not apart:
        return [row | measured(size, method)]
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return [row | pool.submit(measured, size, method).result()]


def measured(size: Size, method: str) -> Row:
    """Make data and dictionary; return what that took, without the data."""
    photographs = bundled_photographs()
    data, test = patches(photographs, size.T, 0), patches(photographs, 2000, 1)
    with threadpool_limits(1):
        if method in LEARNERS:
            # Compiling and importing is not timed.
            LEARNERS[method].learn(patches(photographs, 128, 3).astype(np.float64), 4)
            return _timed(lambda: (LEARNERS[method].learn(data.astype(np.float64), size.k), 0.0), test)
        start = SELECTORS[method][0]
        tiny = patches(photographs, 64, 3)
        run = start(ground_set_from_array(tiny.T), tiny, 8)
        for _ in run:
            pass
        candidates = patches(photographs, size.n, 2).T

        def select() -> tuple[Array, float]:
            run = start(ground_set_from_array(candidates), data, size.k)
            exact = [step.n_exact for step in run]
            return np.asarray(run.result.dictionary), float(np.mean(exact))

        return _timed(select, test)


def _timed(make: Callable[[], tuple[Array, float]], test: Patches) -> Row:
    before, clock, processor = _peak(), time.perf_counter(), _processor()
    dictionary, exact = make()
    row: Row = {
        "clock": round(time.perf_counter() - clock, 4),
        "processor": round(_processor() - processor, 4),
        "megabytes": round(max(_peak() - before, 1.0), 1),
        "exact": round(exact, 2),
    }
    norms = np.linalg.norm(dictionary, axis=0)
    units = dictionary[:, norms > 0] / norms[norms > 0]
    return row | {"residual": round(residual_variance(units, test.astype(np.float64), SPARSITY), 5)}


def _processor() -> float:
    """Return the processor time of this process and of those it started and that have ended."""
    everyone = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in everyone)


def _peak() -> float:
    """Return the largest amount of memory that this process has held, in megabytes.

    On Linux, `getrusage` would begin with the peak of the process that started this one.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024


def patches(photographs: list[Array], count: int, stream: int) -> Patches:
    """Return patches of zero mean and unit variance from all over the photographs, in single precision."""
    rng = np.random.default_rng(seed(count, stream))
    found = np.empty((count, PATCH**2), np.float32)
    origins = rng.integers(0, len(photographs), count)
    for number, picture in enumerate(photographs):
        everywhere, waiting = sliding_window_view(picture, (PATCH, PATCH)), np.flatnonzero(origins == number)
        while len(waiting):
            now = waiting[:10_000]
            rows, columns = (rng.integers(0, length, len(now)) for length in everywhere.shape[:2])
            drawn = everywhere[rows, columns].reshape(-1, PATCH**2)
            drawn = drawn - drawn.mean(axis=1, keepdims=True)
            deviations = drawn.std(axis=1, keepdims=True)
            usable = deviations[:, 0] > 1e-2  # flat ones are drawn again
            found[now[usable]] = drawn[usable] / deviations[usable]
            waiting = np.concatenate([now[~usable], waiting[10_000:]])
    return found


EXPERIMENT = ScaleExperiment()
