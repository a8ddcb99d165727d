"""Results on disk: rows of one experiment as CSV, and which tasks are done as JSON."""

import csv
import json
import platform
from pathlib import Path
from typing import Any

import numpy as np

import dictsel_core

Row = dict[str, Any]


class ResultsError(Exception):
    """Results of other options than the current ones."""


class Results:
    """The rows of one experiment, task by task, so that a run can be interrupted and resumed.

    Parameters
    ----------
    folder : Path
    name : str
        Files are NAME.csv and NAME.json.
    source : str
        Where photographs come from; results of another source are refused.
    """

    def __init__(self, folder: Path, name: str, source: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._table, self._log = folder / f"{name}.csv", folder / f"{name}.json"
        self._rows: dict[str, list[Row]] = {}
        self._about = {
            "images": source,
            "dictsel": dictsel_core.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        }
        if self._log.exists():
            self._load(source)

    def _load(self, source: str) -> None:
        log = json.loads(self._log.read_text())
        if log["about"]["images"] != source:
            raise ResultsError(
                f"{self._table} holds results for {log['about']['images']}; choose another folder with --out."
            )
        self._about = log["about"]
        self._rows = {task: [] for task in log["done"]}
        with self._table.open(newline="") as file:
            table = list(csv.DictReader(file))
        finished = [row for row in table if row["task"] in self._rows]
        if len(finished) < len(table):  # interrupted between the rows of a task and the log
            self._rewrite(finished, list(table[0]))
        for row in finished:
            task = row.pop("task")
            self._rows[task].append({key: _parsed(value) for key, value in row.items()})

    def _rewrite(self, table: list[dict[str, str]], fields: list[str]) -> None:
        draft = self._table.with_suffix(".draft")
        with draft.open("w", newline="") as file:
            writer = csv.DictWriter(file, fields)
            writer.writeheader()
            writer.writerows(table)
        draft.replace(self._table)

    def __contains__(self, task: str) -> bool:
        """Return whether a task is done."""
        return task in self._rows

    def add(self, task: str, rows: list[Row]) -> None:
        """Save the rows of a finished task."""
        fields = ["task", *rows[0]]
        first = not self._rows  # an existing table is that of an interrupted first task
        with self._table.open("w" if first else "a", newline="") as file:
            writer = csv.DictWriter(file, fields)
            if first:
                writer.writeheader()
            writer.writerows({"task": task, **row} for row in rows)
        self._rows[task] = rows
        draft = self._log.with_suffix(".draft")
        draft.write_text(json.dumps({"about": self._about, "done": list(self._rows)}, indent=1))
        draft.replace(self._log)

    def rows(self, tasks: list[str]) -> list[Row]:
        """Return the rows of some tasks."""
        return [row for task in tasks for row in self._rows[task]]


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a CSV file."""
    with path.open(newline="") as file:
        return [{key: _parsed(value) for key, value in row.items()} for row in csv.DictReader(file)]


def _parsed(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def where(rows: list[Row], **wanted: object) -> list[Row]:
    """Return the rows that have the wanted values."""
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def values(rows: list[Row], column: str) -> list[Any]:
    """Return the different values of a column in the order of their first appearance."""
    return list(dict.fromkeys(row[column] for row in rows))


def column(rows: list[Row], name: str) -> np.ndarray:
    """Return one column as an array of numbers."""
    return np.array([row[name] for row in rows], dtype=np.float64)
