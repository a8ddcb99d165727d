"""Style of all figures: colors that the color-blind can distinguish, and a marker for each method."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from experiments.data import Array

mpl.use("Agg")
import matplotlib.pyplot as plt

#: Okabe and Ito's colors, one of Tol's, and markers.
STYLES = {
    "SDS_MA": ("#E69F00", "o"),
    "SDS_OMP": ("#009E73", "s"),
    "RG": ("#CC79A7", "^"),
    "ROMP": ("#0072B2", "D"),
    "ROMP, k iterations": ("#332288", "<"),
    "ROMPd": ("#56B4E9", "v"),
    "ROMP, M = 1": ("#56B4E9", "v"),
    "ROLS": ("#882255", "h"),
    "MOD": ("#D55E00", "P"),
    "K-SVD": ("#000000", "X"),
    "chunked ROMP": ("#D55E00", "o"),
    "chunked ROMP, two threads": ("#E69F00", "s"),
    "chunked ROMP, two processes": ("#882255", "^"),
    "sampled ROMP": ("#56B4E9", "v"),
    "scikit-learn": ("#999999", "P"),
    "SPAMS": ("#009E73", "*"),
    "SPORCO": ("#CC79A7", "x"),
    "Mairal et al.": ("#7F7F7F", "*"),
    "Mairal et al., as in 2018": ("#BBBBBB", "x"),
}
_LABELS = {
    "SDS_MA": r"SDS$_\mathrm{MA}$",
    "SDS_OMP": r"SDS$_\mathrm{OMP}$",
    "ROMP, k iterations": "ROMP, $k$ iterations",
    "ROMP, M = 1": "ROMP, $M$ = 1",
}


def panels(n_rows: int, n_columns: int, *, height: float = 2.9) -> tuple[Any, Any]:
    """Return a figure and its axes as an array (n_rows, n_columns)."""
    size = (3.9 * n_columns, height * n_rows + 0.4)
    figure, axes = plt.subplots(n_rows, n_columns, figsize=size, squeeze=False, layout="constrained")
    return figure, axes


def curve(
    axes: Any,  # noqa: ANN401  (Matplotlib has no types here)
    method: str,
    x: Sequence[float],
    trials: Array,
    *,
    band: bool = True,
    median: bool = False,
    name: str | None = None,
) -> None:
    """Draw the mean over trials, (n_trials, n_x), with a band of one standard error if wanted; or the median.

    The name in the legend is by default that of the method.
    """
    color, marker = STYLES[method]
    mean = np.median(trials, axis=0) if median else trials.mean(axis=0)
    axes.plot(
        x,
        mean,
        color=color,
        marker=marker,
        markersize=5,
        linewidth=1.4,
        label=name or _LABELS.get(method, method),
    )
    if band and not median and len(trials) > 1:
        error = trials.std(axis=0, ddof=1) / np.sqrt(len(trials))
        axes.fill_between(x, mean - error, mean + error, color=color, alpha=0.15, linewidth=0)


def label(axes: Any, title: str, x: str, y: str) -> None:  # noqa: ANN401
    """Name a panel and its axes."""
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(visible=True, which="major", linewidth=0.4, alpha=0.5)


def logarithmic(axes: Any, *names: str) -> None:  # noqa: ANN401
    """Make some of the axes "x" and "y" logarithmic, with plain numbers at 1, 2, 5, 10, ..."""
    for name in names:
        axes.set(**{f"{name}scale": "log"})
        axis = {"x": axes.xaxis, "y": axes.yaxis}[name]
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def legend(figure: Any, axes: Sequence[Any]) -> None:  # noqa: ANN401
    """Add one legend below all panels, with as many columns as there is room for."""
    found: dict[str, Any] = {}
    for each in axes:
        for handle, name in zip(*each.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    figure.legend(
        found.values(),
        found.keys(),
        loc="outside lower center",
        ncols=max(1, min(len(found), int(figure.get_figwidth() / (0.6 + 0.07 * max(map(len, found)))))),
        frameon=False,
    )


def save(figure: Any, folder: Path, name: str) -> list[Path]:  # noqa: ANN401
    """Write PNG and SVG files without time stamps, and return their paths."""
    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(paths[0], dpi=130)
        figure.savefig(paths[1], metadata={"Date": None})
    plt.close(figure)
    return paths
