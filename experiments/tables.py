"""The tables of docs/reproduction.md, from the CSV files: ``python -m experiments.tables FOLDER``."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from experiments import growth, guarantees, masks, scale
from experiments.offline import by_trial
from experiments.results import Row, column, read_rows, values, where

#: Sizes k of the tables of selectors.
_SIZES = (20, 60, 100)
_DATA = {"synthetic": "synthetic", "images": "photographs"}
_RATES = {"printed": "Hedge", "adaptive": "AdaHedge", "": "-"}

Table = Iterator[Sequence[str]]


def markdown(table: Table) -> list[str]:
    """Return the lines of a table in Markdown; the first row is the header."""
    header, *rows = table
    lines = [f"| {' | '.join(line)} |" for line in (header, *rows)]
    return [lines[0], "|---" * len(header) + "|", *lines[1:]]


def _plain(value: float) -> str:
    """Return a ratio with two digits, or without decimals."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _residual(value: float) -> str:
    return f"{value:.4f}" if value < 0.1 else f"{value:.3f}"


def _offline(rows: list[Row]) -> Table:
    """Yield times over that of ROMP, and residuals by data and k; there may be several T."""
    data = [each for each in _DATA if where(rows, data=each)]
    heads = [f"{_DATA[each]}, k = {k}" for each in data for k in _SIZES]
    yield ["method", "time / ROMP, k = 100", *heads]
    base = by_trial(where(rows, data="synthetic", method="ROMP", k=100), "seconds")
    for method in values(rows, "method"):
        mine = where(rows, method=method)
        seconds = by_trial(where(mine, data="synthetic", k=100), "seconds")
        found = [column(where(mine, data=each, k=k), "residual").mean() for each in data for k in _SIZES]
        yield [method, _plain(float(np.median(seconds / base))), *map(_residual, found)]


def _online(rows: list[Row]) -> Table:
    names = [f"{what}, {data}" for data in _DATA.values() for what in ("residual", "all rounds", "regret")]
    yield ["method", "learners", *names]
    last = max(values(rows, "round"))
    for method, rate in dict.fromkeys((row["method"], row["rate"]) for row in rows):
        line = []
        for data in _DATA:
            mine = where(rows, method=method, rate=rate, data=data)
            end = where(mine, round=last)
            found = (column(end, "residual"), column(mine, "residual"), column(end, "regret"))
            line += [f"{each.mean():.3f}" for each in found]
        yield [method if method.startswith("Mairal") else f"online {method}", _RATES[rate], *line]


def _restoration(rows: list[Row]) -> Table:
    yield ["picture", *values(rows, "what")]
    for picture in values(rows, "picture"):
        yield [picture, *(f"{row['psnr']:.2f}" for row in where(rows, picture=picture))]


def _masks(rows: list[Row]) -> Table:
    yield ["parameters by", "method", "dB above individual, mean", "standard deviation", "better"]
    for choice in masks.CHOICES:
        for rival, kinds in masks.RIVALS.items():
            found = masks.differences(rows, kinds, choice)
            better = f"{(found > 0).sum()} of {len(found)}"
            yield [choice, rival, f"{found.mean():+.3f}", f"{found.std(ddof=1):.3f}", better]


def _growth(rows: list[Row]) -> Table:
    rows = [row for row in rows if row["axis"] != "literal"]
    ends = {axis: values(where(rows, axis=axis), "number") for axis in growth.AXES}
    yield ["method", *(f"{axis}, {min(each):,} to {max(each):,}" for axis, each in ends.items())]
    for method in growth.SELECTORS:
        yield [method, *(f"{growth.exponent(where(rows, axis=axis, method=method)):.2f}" for axis in ends)]


def _literal(rows: list[Row]) -> Table:
    seconds = {row["method"]: row["seconds"] for row in where(rows, axis="literal")}
    yield ["method", "time / ROMP"]
    for method, value in seconds.items():
        yield [
            method,
            f"{value / seconds['ROMP']:,.0f}" if value > seconds["ROMP"] else _plain(value / seconds["ROMP"]),
        ]


def _guarantees(rows: list[Row]) -> Table:
    yield guarantees.HEAD
    yield from guarantees.table(rows)


def _scale(axis: str, rows: list[Row]) -> Table:
    part = where(rows, axis=axis)
    names = ["processor", "clock", "megabytes", "exact", "residual"]
    yield ["T", "n", "k", "method", "processor s", "clock s", "MB", "exact / step", "test residual"]
    formats = {"processor": _seconds, "clock": _seconds, "megabytes": _megabytes, "exact": _exact}
    for row in part:
        sizes = [f"{row[name]:,}" for name in ("T", "n", "k")]
        yield [*sizes, row["method"], *(formats.get(name, _residual)(row[name]) for name in names)]


def _seconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _megabytes(value: float) -> str:
    return f"{value:,.0f}" if value >= scale.LEAST_MEGABYTES else f"< {scale.LEAST_MEGABYTES}"


def _exact(value: float) -> str:
    return "-" if not value else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _powers(rows: list[Row]) -> Table:
    found = {axis: scale.exponents(rows, axis, "processor") for axis in ("T", "n")}
    yield ["method", "power of T", "power of n"]
    for method in found["T"]:
        yield [method, *(f"{found[axis][method]:.2f}" if method in found[axis] else "-" for axis in found)]


def _at(n_points: int) -> Callable[[list[Row]], Table]:
    return lambda rows: _offline(where(rows, T=n_points))


#: By the name of the experiment.
TABLES: dict[str, list[Callable[[list[Row]], Table]]] = {
    "offline_small": [_offline],
    "offline_large": [_offline],
    "average": [_offline],
    "online": [_online],
    "masked": [_at(100), _at(1000)],
    "restoration": [_restoration],
    "masks": [_masks],
    "growth": [_growth, _literal],
    "guarantees": [_guarantees],
    "scale": [
        lambda rows: _scale("goal", rows),
        lambda rows: _scale("T", rows),
        lambda rows: _scale("n", rows),
        _powers,
    ],
}


def main() -> None:
    """Print all tables of a folder."""
    folder = Path(sys.argv[1])
    for name, tables in TABLES.items():
        if (path := folder / f"{name}.csv").exists():
            rows = read_rows(path)
            for table in tables:
                print(f"\n{name}\n", *markdown(table(rows)), sep="\n")


if __name__ == "__main__":
    main()
