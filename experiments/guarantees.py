"""Why greedy selection works: constants of the theorems as measured, and certificates against brute force."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.measure import print_table
from dictsel_core import (
    GroundSet,
    IndividualSparsity,
    ground_set_from_array,
    replacement_omp,
    standard_ground_set,
)
from dictsel_core.pursuit.codes import code_data
from dictsel_core.theory import approximation_bound
from experiments.data import PATCH, Array, Photographs, seed
from experiments.options import Options
from experiments.plots import label, legend, panels, save
from experiments.results import Row, column, values, where
from experiments.runner import Experiment, Task

#: By their names in the figure; random ones are made anew in every trial.
GROUND_SETS: dict[str, Callable[[int], GroundSet]] = {
    "cosines, 64": lambda trial: standard_ground_set(bases=["dct"]),
    "standard, 256": lambda trial: standard_ground_set(),
    "random, 128": lambda trial: _random(128, trial),
    "random, 256": lambda trial: _random(256, trial),
}
COLORS = dict(zip(GROUND_SETS, ("#009E73", "#0072B2", "#E69F00", "#D55E00"), strict=True))
MARKERS = dict(zip(GROUND_SETS, "osv^", strict=True))
#: Sizes of supports that the dictionaries found by brute force have: k atoms, s of them for each patch.
BRUTE_K, BRUTE_POINTS = 3, 20


class GuaranteesExperiment(Experiment):
    """m_2s / M, submodularity ratios, and certified, true and promised fractions of the optimum."""

    name = "guarantees"
    title = "Constants of the theorems, and certificates"

    def tasks(self, options: Options) -> list[Task]:
        """Return tasks for each ground set and trial."""
        photographs = Photographs(options.images)
        most, n_points = options.at_scale(10, 6, 3), options.at_scale(500, 200, 60)
        tasks = []
        for trial in range(options.n_trials(5, 2)):
            for name in GROUND_SETS:
                for what, run in (
                    ("eigenvalues", partial(_eigenvalues, name, trial, most)),
                    ("ratios", partial(_submodularity, name, trial, most, n_points, photographs)),
                    ("optimum", partial(_optima, name, trial, photographs)),
                ):
                    tasks.append(Task(f"{what} {name} trial={trial}", run))
        return tasks

    def report(self, rows: list[Row], folder: Path) -> list[Path]:
        """Draw the three panels, and print the numbers."""
        figure, axes = panels(1, 3, height=3.4)
        for name in values(rows, "ground set"):
            style = {"color": COLORS[name], "marker": MARKERS[name], "markersize": 5, "linewidth": 1.4}
            for panel, what, words in ((axes[0, 0], "worst", name), (axes[0, 1], "first percentile", name)):
                part = where(rows, **{"ground set": name, "what": what})
                sizes = values(part, "size")
                panel.plot(sizes, [_mean(part, size) for size in sizes], label=words, **style)
        for name in values(rows, "ground set"):
            for panel, what in ((axes[0, 0], "typical"), (axes[0, 1], "median")):
                part = where(rows, **{"ground set": name, "what": what})
                sizes = values(part, "size")
                panel.plot(
                    sizes, [_mean(part, size) for size in sizes], "--", color=COLORS[name], linewidth=1.2
                )
        label(
            axes[0, 0],
            "$m_{2s} / M$, worst found (dashed: typical)",
            "atoms in a set, $2s$",
            "$m_{2s} / M$",
        )
        label(
            axes[0, 1],
            "submodularity ratio (dashed: median)",
            "atoms added at once",
            r"$\gamma$, first percentile of patches",
        )
        axes[0, 1].set_ylim(bottom=0)
        _draw_optima(axes[0, 2], rows)
        legend(figure, [axes[0, 0]])
        _print(self.title, rows)
        return save(figure, folder, self.name)


def _random(n_candidates: int, trial: int) -> GroundSet:
    rng = np.random.default_rng(seed(n_candidates, trial))
    return ground_set_from_array(rng.normal(size=(PATCH**2, n_candidates)))


def _row(name: str, trial: int, what: str, size: int, value: float) -> Row:
    return {"ground set": name, "trial": trial, "what": what, "size": size, "value": round(float(value), 6)}


def smallest_eigenvalue(atoms: Array) -> float:
    """Return sigma_min^2 of some atoms, 0 if they are dependent."""
    return max(0.0, float(np.linalg.eigvalsh(atoms.T @ atoms)[0]))


def nearly_dependent(ground_set: GroundSet, size: int) -> float:
    """Return the smallest sigma_min^2 among sets of an atom and those by which OMP approximates it.

    An upper bound on m_2s for 2s = `size`: finding the worst set of all is NP-hard.
    """
    copies = ground_set.duplicates[0]
    atoms = np.delete(ground_set.atoms, copies, axis=1)
    worst = 1.0
    for number in range(atoms.shape[1]):
        others = np.delete(atoms, number, axis=1)
        used = code_data(others, atoms[:, [number]].T, size - 1).supports[0]
        worst = min(
            worst, smallest_eigenvalue(np.column_stack([others[:, used[used >= 0]], atoms[:, number]]))
        )
    return worst


def _eigenvalues(name: str, trial: int, most: int) -> list[Row]:
    """Measure m_2s / M: the worst sets found, 500 random sets, and what the library knows in advance."""
    ground_set = GROUND_SETS[name](trial)
    rng = np.random.default_rng(seed(trial, 7))
    different = np.delete(np.arange(len(ground_set)), ground_set.duplicates[0])
    rows, worst = [], 1.0
    for size in range(2, 2 * most + 1, 2):
        worst = min(worst, nearly_dependent(ground_set, size))  # a larger set is no better
        drawn = [
            smallest_eigenvalue(ground_set.atoms[:, rng.choice(different, size, replace=False)])
            for _ in range(500)
        ]
        known = ground_set.smallest_eigenvalue(size, merge_duplicates=True)
        for what, value in (("worst", worst), ("typical", np.median(drawn)), ("known", known)):
            rows.append(_row(name, trial, what, size, value / ground_set.smoothness))
    return rows


def submodularity_ratios(atoms: Array, data: Array, size: int) -> Array:
    """Return for each patch the ratio of the gains of atoms one by one to their gain together.

    Das and Kempe's ratio [1]_ is the least one over all sets. Here the sets are what greedy algorithms meet:
    the first `size` atoms of OMP are there already, and the next ones are added.

    References
    ----------
    .. [1] A. Das and D. Kempe, "Submodular meets spectral", ICML 2011.
    """
    codes = code_data(atoms, data, 2 * size)
    found = []
    for support, y in zip(codes.supports, data, strict=True):
        used = support[support >= 0]
        before, added = used[:size], used[size:]
        if len(added) < size:
            continue
        base = _explained(atoms[:, before], y)
        together = _explained(atoms[:, used], y) - base
        alone = sum(_explained(atoms[:, [*before, atom]], y) - base for atom in added)
        if together > 1e-9 * (y @ y):
            found.append(alone / together)
    return np.array(found)


def _explained(columns: Array, y: Array) -> float:
    weights = np.linalg.lstsq(columns, y, rcond=None)[0]
    return float((columns @ weights) @ y) / 2


def _submodularity(name: str, trial: int, most: int, n_points: int, photographs: Photographs) -> list[Row]:
    data = photographs.sample(n_points, trial).train
    ground_set = GROUND_SETS[name](trial)
    rows = []
    for size in range(1, most + 1):
        ratios = submodularity_ratios(ground_set.atoms, data, size)
        rows.append(_row(name, trial, "first percentile", size, np.percentile(ratios, 1)))
        rows.append(_row(name, trial, "median", size, np.median(ratios)))
    return rows


def best_objective(ground_set: GroundSet, data: Array, sparsity: int) -> float:
    """Return the largest objective of all dictionaries of three atoms; each patch has one atom or two."""
    products, moments = ground_set.atoms.T @ ground_set.atoms, data @ ground_set.atoms
    singles = np.square(moments) / 2  # (T, n)
    pairs = np.maximum(singles[:, :, None], singles[:, None, :])
    if sparsity == 2:
        outside = 1 - np.square(products)
        crossed = moments[:, None, :] - products * moments[:, :, None]  # of the second atom, less the first
        apart = outside > 1e-9
        np.maximum(
            pairs, singles[:, :, None] + np.square(crossed) / np.where(apart, 2 * outside, np.inf), out=pairs
        )
    best = 0.0
    for atom in range(len(ground_set) - 2):
        rest = slice(atom + 1, None)
        mine = pairs[:, atom, rest]
        both = np.maximum(np.maximum(mine[:, :, None], mine[:, None, :]), pairs[:, rest, rest])
        best = max(best, float(both.sum(axis=0).max()))
    return best


def _optima(name: str, trial: int, photographs: Photographs) -> list[Row]:
    """Compare Replacement OMP with the optimum, its certificate and the guarantee, for s = 1 and 2."""
    data = photographs.sample(BRUTE_POINTS, trial).train
    ground_set, rows = GROUND_SETS[name](trial), []
    for sparsity in (1, 2):
        constraint = IndividualSparsity(sparsity)
        chosen = replacement_omp(ground_set, data, constraint, BRUTE_K).certificate
        promised = approximation_bound(ground_set, constraint, n_points=len(data), n_atoms=BRUTE_K).ratio
        reached = chosen.achieved / best_objective(ground_set, data, sparsity)
        for what, value in (("reached", reached), ("certified", chosen.ratio), ("promised", promised)):
            rows.append(_row(name, trial, what, sparsity, value))
    return rows


def _draw_optima(axes: object, rows: list[Row]) -> None:
    marks = {"reached": "D", "certified": "o", "promised": "_"}
    names = values(rows, "ground set")
    for place, name in enumerate(names):
        for sparsity, shift in ((1, -0.2), (2, 0.2)):
            for what, mark in marks.items():
                part = where(rows, **{"ground set": name, "what": what, "size": sparsity})
                spots = place + shift + np.linspace(-0.08, 0.08, len(part))
                axes.plot(  # type: ignore[attr-defined]
                    spots,
                    column(part, "value"),
                    mark,
                    color=COLORS[name],
                    markersize=5,
                    fillstyle="full" if what == "reached" else "none",
                )
    for what, mark in marks.items():
        fill = "full" if what == "reached" else "none"
        axes.plot([], [], mark, color="0.3", markersize=5, label=what, fillstyle=fill)  # type: ignore[attr-defined]
    axes.set_xticks(range(len(names)), [name.replace(", ", "\n") for name in names])  # type: ignore[attr-defined]
    axes.set_ylim(-0.03, 1.03)  # type: ignore[attr-defined]
    axes.legend(loc="center right", frameon=False, fontsize=8)  # type: ignore[attr-defined]
    label(axes, f"of the optimum, $k$ = {BRUTE_K}; $s$ = 1 left, 2 right", "", "fraction")


def _mean(rows: list[Row], size: int) -> float:
    return float(column(where(rows, size=size), "value").mean())


def table(rows: list[Row]) -> list[list[str]]:
    """Return the means over trials that the documentation has, by ground set."""
    found = []
    for name in values(rows, "ground set"):
        part = where(rows, **{"ground set": name})
        sizes = (2, 4, 6, 10)
        line = [name, *(f"{_mean(where(part, what='worst'), size):.3f}" for size in sizes)]
        line += [f"{_mean(where(part, what='first percentile'), size):.2f}" for size in (2, 5)]
        for sparsity in (1, 2):
            line += [
                f"{_mean(where(part, what=w), sparsity):.3f}" for w in ("reached", "certified", "promised")
            ]
        found.append(line)
    return found


HEAD = [
    "ground set",
    *(f"m/M, {size} atoms" for size in (2, 4, 6, 10)),
    *(f"ratio, {size} added" for size in (2, 5)),
    *(f"{what}, s = {sparsity}" for sparsity in (1, 2) for what in ("reached", "certified", "promised")),
]


def _print(title: str, rows: list[Row]) -> None:
    if 10 in values(rows, "size"):
        print_table(title, HEAD, table(rows))


EXPERIMENT = GuaranteesExperiment()
