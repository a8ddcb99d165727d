"""Figure 4: images with 80 % of their pixels missing; the published procedure, and our refinement.

The published procedure is to the letter: appendix E, with k iterations of algorithm 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.measure import print_table
from benchmarks.pictures import photographs
from dictsel_core import AverageSparsity, Constraint, IndividualSparsity, RestoreSettings, psnr, restore
from dictsel_core.selection import iter_replacement_omp
from experiments.data import GROUND_SET, Array, seed
from experiments.methods import METHODS
from experiments.options import Options
from experiments.paper_restoration import Mask, observed_patches, restore_in
from experiments.plots import panels, save
from experiments.results import Row, values, where
from experiments.runner import Experiment, Task

#: Pictures of the figure, crops of photographs inside scikit-image.
PICTURES = ("camera", "astronaut", "coffee", "chelsea")
MISSING = 0.8
#: Fraction of the observed pixels that is held out to choose parameters.
HELD_OUT = 0.1
#: The method of the paper, to the letter.
LITERAL = "ROMP, k iterations"


@dataclass(frozen=True)
class Grid:
    """Candidate values of the grid search against the true image."""

    sizes: tuple[int, ...]
    sparsities: tuple[int, ...]
    averages: tuple[float, ...]


GRIDS = {
    "full": Grid((8, 12, 16, 20, 30), (4, 5, 6, 8, 10), (2.0, 3.0, 4.0, 6.0)),
    "quick": Grid((12, 20), (5, 8), (3.0, 4.0)),
    "smoke": Grid((8,), (3,), (2.0,)),
}


class RestorationExperiment(Experiment):
    """Pictures with PSNR: input, individual, average, refined."""

    name = "restoration"
    title = "Image restoration, 80 % missing"

    def tasks(self, options: Options) -> list[Task]:
        """Return one task per image and column; restored images are saved with the results."""
        size = options.at_scale(256, 256, 32)
        folder = options.folder / options.scale / self.name
        folder.mkdir(parents=True, exist_ok=True)
        tasks = []
        for name in PICTURES[: options.at_scale(4, 1, 1)]:
            damaged = _damaged(name, size, folder)
            for kind in ("individual", "average"):
                method = (options.method if kind == "individual" else None) or LITERAL
                run = partial(_as_paper, damaged, kind, GRIDS[options.scale], method)
                tasks.append(Task(f"{name} {kind} {method}", run))
            tasks.append(Task(f"{name} refined", partial(_refined, damaged)))
        return tasks

    def report(self, rows: list[Row], folder: Path) -> list[Path]:
        """Show all pictures, and print PSNR and parameters."""
        names = values(rows, "picture")
        figure, axes = panels(len(names), len(COLUMNS), height=4.2)
        for line, name in zip(axes, names, strict=True):
            for panel, column in zip(line, COLUMNS, strict=True):
                picture = np.load(folder / self.name / f"{name}_{column}.npy")
                panel.imshow(picture, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
                panel.set_axis_off()
                panel.set_title(_caption(where(rows, picture=name), column), fontsize=11)
        lines = [
            [
                row["picture"],
                row["what"],
                f"{row['psnr']:.2f}",
                f"{row['psnr_missing']:.2f}",
                str(row["settings"]),
            ]
            for row in rows
        ]
        print_table(self.title, ["picture", "method", "PSNR", "missing only", "settings"], lines)
        return save(figure, folder, self.name)


COLUMNS = ("input", "individual", "average", "refined")
#: Rows of the table that belong to a column of the figure: by grid search, and by held-out pixels.
_ENTRIES = {
    "individual": ("individual, grid", "individual, held-out"),
    "average": ("average, grid", "average, held-out"),
    "refined": ("refined",),
}


def _caption(rows: list[Row], column: str) -> str:
    found = [where(rows, what=what)[0]["psnr"] for what in _ENTRIES.get(column, ())]
    if not found:
        return "input, 80 % missing"
    if len(found) == 1:
        return f"our refinement, {found[0]:.2f} dB"
    return f"{column}, {found[0]:.2f} dB (held-out: {found[1]:.2f})"


@dataclass(frozen=True, eq=False)
class Damaged:
    """An image from 0 to 1, its mask, and the folder of restored images."""

    name: str
    picture: Array
    mask: Mask
    folder: Path

    def keep(self, column: str, image: Array) -> None:
        """Save an image for the figure."""
        np.save(self.folder / f"{self.name}_{column}.npy", image.astype(np.float32))

    def row(self, what: str, restored: Array, settings: str) -> Row:
        """Return the row of a restored image."""
        return {
            "picture": self.name,
            "what": what,
            "psnr": round(psnr(self.picture, restored, data_range=1.0), 4),
            "psnr_missing": round(psnr(self.picture, restored, mask=self.mask, data_range=1.0), 4),
            "settings": settings,
        }


def _damaged(name: str, size: int, folder: Path) -> Damaged:
    picture = photographs(size)[name] / 255.0
    mask = np.random.default_rng(seed(PICTURES.index(name))).random(picture.shape) < MISSING
    return Damaged(name, picture, mask, folder)


def _as_paper(damaged: Damaged, kind: str, grid: Grid, method: str) -> list[Row]:
    """Restore as in the paper, with parameters by the true image, and by pixels that are held out."""
    picture, mask = damaged.picture, damaged.mask
    damaged.keep("input", np.where(mask, 0, picture))
    by_truth, restored = search(kind, picture, mask, np.ones_like(mask), grid, method)
    damaged.keep(kind, restored)
    rng = np.random.default_rng(seed(PICTURES.index(damaged.name), 1))
    hidden = ~mask & (rng.random(mask.shape) < HELD_OUT)
    by_hidden, _ = search(kind, picture, mask | hidden, hidden, grid, method)
    ((_, again),) = restorations(picture, mask, by_hidden, (by_hidden.size,), method)
    return [
        damaged.row(f"{kind}, grid", restored, str(by_truth)),
        damaged.row(f"{kind}, held-out", again, str(by_hidden)),
    ]


def _refined(damaged: Damaged) -> list[Row]:
    restored = restore(damaged.picture, damaged.mask, RestoreSettings.preset("best")).image
    damaged.keep("refined", restored)
    return [damaged.row("refined", restored, "preset best")]


class Point(NamedTuple):
    """A point of the grid: k, s, and s'/T, which is None for individual sparsity."""

    size: int
    sparsity: int
    average: float | None

    def __str__(self) -> str:
        """Return the parameters as text."""
        shared = "" if self.average is None else f" s'={self.average:g}T"
        return f"k={self.size} s={self.sparsity}{shared}"

    def constraint(self, n_points: int) -> Constraint:
        """Return the constraint on that many patches."""
        if self.average is None:
            return IndividualSparsity(self.sparsity)
        return AverageSparsity(self.sparsity, round(self.average * n_points))


def search(
    kind: str, picture: Array, mask: Mask, counted: Mask, grid: Grid, method: str
) -> tuple[Point, Array]:
    """Return the point whose restoration is closest to the picture where that is counted, and that one."""
    best, found = -np.inf, (Point(0, 0, None), picture)
    for sparsity in grid.sparsities:
        # s' = s T, which is individual sparsity, is in the grid of average sparsity.
        averages = [*(each for each in grid.averages if each < sparsity), float(sparsity)]
        for average in [None] if kind == "individual" else averages:
            point = Point(max(grid.sizes), sparsity, average)
            for size, restored in restorations(picture, mask, point, grid.sizes, method):
                reached = psnr(picture, restored, mask=counted, data_range=1.0)
                if reached > best:
                    best, found = reached, (point._replace(size=size), restored)
    return found


def restorations(
    picture: Array, mask: Mask, point: Point, sizes: tuple[int, ...], method: str
) -> Iterator[tuple[int, Array]]:
    """Yield restorations with dictionaries of several sizes, under one constraint."""
    patches, missing = observed_patches(picture, mask)
    for size, dictionary in dictionaries(patches, missing, point.constraint(len(patches)), sizes, method):
        yield size, restore_in(dictionary, picture, mask, point.sparsity)


def dictionaries(
    patches: Array, missing: Mask, constraint: Constraint, sizes: tuple[int, ...], method: str
) -> Iterator[tuple[int, Array]]:
    """Yield dictionaries of all sizes; those of the literal method after as many iterations."""
    if method == LITERAL:
        largest = max(sizes)
        run = iter_replacement_omp(GROUND_SET, patches, constraint, largest, mask=missing, repeats="steps")
        atoms = [step.atom for step in run]
        for size in sizes:
            yield size, GROUND_SET.atoms[:, list(dict.fromkeys(atoms[:size]))]
        return
    maker, made = METHODS[method], np.zeros((0, 0))
    for size in sorted(sizes, reverse=True):
        if not (maker.nested and made.size):
            made = maker.make(patches, constraint, size, missing, 0)
        yield size, made[:, :size]


EXPERIMENT = RestorationExperiment()
