"""Figure 4 and its grid with several masks: a shared budget against a cap on each patch."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.measure import print_table
from benchmarks.pictures import photographs
from dictsel_core import AverageSparsity, Constraint, IndividualSparsity, psnr, replacement_omp
from experiments.data import GROUND_SET, seed
from experiments.options import Options
from experiments.paper_restoration import observed_patches, restore_in
from experiments.plots import label, panels, save
from experiments.restoration import GRIDS, MISSING, PICTURES, Grid
from experiments.results import Row, values, where
from experiments.runner import Experiment, Task

INDIVIDUAL = "individual"
#: What is compared with individual sparsity: s' = sT, which is individual sparsity, is in the grid or not.
RIVALS = {
    "average": ("average",),
    "average, or s' = sT": ("average", INDIVIDUAL),
    "average, coded in its budget": ("average, coded",),
}
#: How parameters are chosen: by the true image, or by the true image under the other masks.
CHOICES = ("this mask", "other masks")


class MasksExperiment(Experiment):
    """Differences of PSNR between average and individual sparsity, one for each picture and mask."""

    name = "masks"
    title = "Average against individual sparsity, several masks"

    def tasks(self, options: Options) -> list[Task]:
        """Return one task per mask and image."""
        size = options.at_scale(256, 128, 32)
        pictures = PICTURES[: options.at_scale(4, 2, 1)]
        grid = GRIDS[options.scale]
        return [
            Task(f"{name} mask={number}", partial(_restorations, name, size, number, grid))
            for number in range(options.n_trials(3, 2))
            for name in pictures
        ]

    def report(self, rows: list[Row], folder: Path) -> list[Path]:
        """Draw all differences, and print their means and standard deviations."""
        choices = CHOICES if len(values(rows, "mask")) > 1 else CHOICES[:1]
        figure, axes = panels(1, len(choices))
        lines = []
        for panel, choice in zip(axes[0], choices, strict=True):
            for place, (rival, kinds) in enumerate(RIVALS.items()):
                found = differences(rows, kinds, choice)
                spots = place + np.linspace(-0.15, 0.15, len(found))
                panel.plot(spots, found, "o", color="#0072B2", alpha=0.6, markersize=5)
                panel.plot([place - 0.25, place + 0.25], [found.mean()] * 2, color="#D55E00", linewidth=2)
                deviation = f"{found.std(ddof=1):.3f}" if len(found) > 1 else "-"
                better = f"{(found > 0).sum()} of {len(found)}"
                lines.append([choice, rival, f"{found.mean():+.3f}", deviation, better])
            panel.axhline(0, color="black", linewidth=0.8)
            panel.set_xticks(range(len(RIVALS)), ["average", "or $s' = sT$", "coded in\nits budget"])
            label(panel, f"parameters by {choice}", "", "dB above individual")
        head = ["parameters by", "method", "dB above individual", "standard deviation", "better"]
        print_table(self.title, head, lines)
        return save(figure, folder, self.name)


def differences(rows: list[Row], kinds: tuple[str, ...], choice: str) -> np.ndarray:
    """Return by how many dB each picture and mask is restored better than with individual sparsity.

    Parameters
    ----------
    rows : list of Row
    kinds : tuple of str
        Kinds of restorations among which the best parameters are chosen.
    choice : {"this mask", "other masks"}
        Where they are the best: on the same damaged image, or on average over the other masks of the image.
    """
    pairs = dict.fromkeys((row["picture"], row["mask"]) for row in rows)
    found = []
    for picture, mask in pairs:
        mine = where(rows, picture=picture)
        reached = [_chosen(mine, mask, each, choice) for each in (kinds, (INDIVIDUAL,))]
        found.append(reached[0] - reached[1])
    return np.array(found)


def _chosen(rows: list[Row], mask: int, kinds: tuple[str, ...], choice: str) -> float:
    """Return the PSNR under a mask of the parameters that are the best under it, or under the others."""
    scores: dict[tuple[object, ...], list[float]] = {}
    own: dict[tuple[object, ...], float] = {}
    for row in rows:
        if row["kind"] not in kinds:
            continue
        point = tuple(row[name] for name in ("kind", "k", "s", "average"))
        if row["mask"] == mask:
            own[point] = row["psnr"]
        if (row["mask"] == mask) == (choice == CHOICES[0]):
            scores.setdefault(point, []).append(row["psnr"])
    return own[max(scores, key=lambda point: float(np.mean(scores[point])))]


def _restorations(name: str, size: int, number: int, grid: Grid) -> list[Row]:
    """Return the PSNR of one damaged image for all kinds and points of the grid."""
    picture = photographs(size)[name] / 255.0
    mask = np.random.default_rng(seed(PICTURES.index(name), number)).random(picture.shape) < MISSING
    patches, missing = observed_patches(picture, mask)
    rows = []
    for kind, constraint, sparsity, average in _constraints(grid, len(patches)):
        selection = replacement_omp(GROUND_SET, patches, constraint, max(grid.sizes), mask=missing)
        for k, coded in product(grid.sizes, (False, True) if kind == "average" else (False,)):
            dictionary = selection.dictionary[:, :k]
            restored = restore_in(dictionary, picture, mask, sparsity, average if coded else None)
            rows.append(
                {
                    "picture": name,
                    "mask": number,
                    "kind": "average, coded" if coded else kind,
                    "k": k,
                    "s": sparsity,
                    "average": average,
                    "psnr": round(psnr(picture, restored, data_range=1.0), 4),
                    "psnr_missing": round(psnr(picture, restored, mask=mask, data_range=1.0), 4),
                }
            )
    return rows


def _constraints(grid: Grid, n_points: int) -> Iterator[tuple[str, Constraint, int, float]]:
    """Yield (kind, constraint, s, s'/T); individual sparsity is average sparsity with s' = sT."""
    for sparsity in grid.sparsities:
        yield INDIVIDUAL, IndividualSparsity(sparsity), sparsity, float(sparsity)
        for average in grid.averages:
            if average < sparsity:
                budget = round(average * n_points)
                yield "average", AverageSparsity(sparsity, budget), sparsity, average


EXPERIMENT = MasksExperiment()
