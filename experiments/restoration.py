"""Figure 4: images with 80 % of their pixels missing; individual, average, and our refinement."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.measure import print_table
from benchmarks.pictures import photographs
from dictsel_core import AverageSparsity, Constraint, IndividualSparsity, RestoreSettings, psnr, restore, tune
from dictsel_core.restoration import ConstraintName
from experiments.data import Array, seed
from experiments.methods import METHODS
from experiments.options import Options
from experiments.paper_restoration import Mask, observed_patches, restore_in
from experiments.plots import panels, save
from experiments.results import Row, values, where
from experiments.runner import Experiment, Task

#: Pictures of the figure, crops of photographs inside scikit-image.
PICTURES = ("camera", "astronaut", "coffee", "chelsea")
MISSING = 0.8


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
                method = options.method if kind == "individual" else "ROMP"
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


def _as_paper(damaged: Damaged, kind: ConstraintName, grid: Grid, method: str) -> list[Row]:
    """Restore as in the paper, with parameters from a grid search and from held-out pixels."""
    picture, mask = damaged.picture, damaged.mask
    damaged.keep("input", np.where(mask, 0, picture))
    restored, words = _grid_search(kind, picture, mask, grid, method)
    damaged.keep(kind, restored)
    settings = replace(RestoreSettings.preset("paper"), constraint=kind)
    # Every second patch is enough to compare settings, in half the time.
    tuned = replace(tune(picture, mask, replace(settings, every_patch=False)).settings, every_patch=True)
    return [
        damaged.row(f"{kind}, grid", restored, words),
        damaged.row(f"{kind}, held-out", restore(picture, mask, tuned).image, _in_words(tuned)),
    ]


def _refined(damaged: Damaged) -> list[Row]:
    restored = restore(damaged.picture, damaged.mask, RestoreSettings.preset("best")).image
    damaged.keep("refined", restored)
    return [damaged.row("refined", restored, "preset best")]


def _in_words(settings: RestoreSettings) -> str:
    average = f" s'={settings.mean_sparsity:g}T" if settings.constraint == "average" else ""
    return f"k={settings.n_atoms} s={settings.sparsity}{average} coding={settings.coding_sparsity}"


def _grid_search(kind: str, picture: Array, mask: Mask, grid: Grid, method: str) -> tuple[Array, str]:
    """Return the restoration closest to the true image, and its parameters, as in the paper."""
    patches, missing = observed_patches(picture, mask)
    best: tuple[float, Array, str] = (-np.inf, picture, "")
    for constraint, sparsity, words in _constraints(kind, grid, len(patches)):
        maker = METHODS[method]
        largest = max(grid.sizes)
        dictionary = maker.make(patches, constraint, largest, missing, 0)
        for size in grid.sizes:
            if not maker.nested and size < largest:
                dictionary = maker.make(patches, constraint, size, missing, 0)
            restored = restore_in(dictionary[:, :size], picture, mask, sparsity)
            reached = psnr(picture, restored, data_range=1.0)
            if reached > best[0]:
                best = (reached, restored, f"k={size} {words}")
    return best[1], best[2]


def _constraints(kind: str, grid: Grid, n_points: int) -> Iterator[tuple[Constraint, int, str]]:
    """Yield (constraint, s, description) for all s, and for all s' below s T and s T itself."""
    if kind == "individual":
        for sparsity in grid.sparsities:
            yield IndividualSparsity(sparsity), sparsity, f"s={sparsity}"
        return
    for sparsity in grid.sparsities:
        for average in (*(each for each in grid.averages if each < sparsity), sparsity):
            budget = round(average * n_points)
            yield AverageSparsity(sparsity, budget), sparsity, f"s={sparsity} s'={average:g}T"


EXPERIMENT = RestorationExperiment()
