"""Experiments, and how they are run: task by task, with progress, resumable."""

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from threadpoolctl import threadpool_limits

from experiments.methods import warm_up
from experiments.options import Options
from experiments.results import Results, Row


@dataclass(frozen=True)
class Task:
    """One piece of an experiment: a trial on one data set. `run` returns at least one row."""

    key: str
    run: Callable[[], list[Row]]


class Experiment(ABC):
    """A figure of the paper."""

    name: str
    title: str

    @abstractmethod
    def tasks(self, options: Options) -> list[Task]:
        """Return all tasks, trial by trial, so that an interrupted run has complete trials."""

    @abstractmethod
    def report(self, rows: list[Row], folder: Path) -> list[Path]:
        """Draw the figure into PNG and SVG files, print the numbers, and return the files."""


def run(experiment: Experiment, options: Options) -> None:
    """Run the remaining tasks, then report."""
    folder = options.folder / options.scale
    source = "bundled photographs" if options.images is None else str(options.images.resolve())
    results = Results(folder, experiment.name, source)
    tasks = experiment.tasks(options)
    progress = Progress(experiment.title, len(tasks))
    # One thread, since methods do not benefit equally from more.
    with threadpool_limits(1):
        warm_up()
        for task in tasks:
            if task.key in results:
                progress.skip()
                continue
            progress.show(task.key)
            results.add(task.key, task.run())
            progress.step()
    progress.close()
    for path in experiment.report(results.rows([task.key for task in tasks]), folder):
        print(f"wrote {path}")


class Progress:
    """Shows a bar on a terminal; elsewhere prints lines at intervals."""

    def __init__(self, title: str, n_tasks: int) -> None:
        self._title, self._n_tasks = title, n_tasks
        self._n_done = self._n_made = 0
        self._start = self._shown = time.monotonic()
        print(f"\n{title}", file=sys.stderr)

    def skip(self) -> None:
        """Count a task that was done in an earlier run."""
        self._n_done += 1

    def step(self) -> None:
        """Count a task."""
        self._n_done += 1
        self._n_made += 1

    def show(self, what: str) -> None:
        """Show the next task, and the remaining time."""
        on_terminal = sys.stderr.isatty()
        if not on_terminal and self._n_made and time.monotonic() - self._shown < 30:
            return
        self._shown = time.monotonic()
        filled = 30 * self._n_done // self._n_tasks
        left = ""
        if self._n_made:
            seconds = (self._shown - self._start) / self._n_made * (self._n_tasks - self._n_done)
            left = f", {seconds / 60:.1f} min left"
        line = f"[{'#' * filled}{'.' * (30 - filled)}] {self._n_done}/{self._n_tasks} {what}{left}"
        print(
            f"\r{line[:100]:<100}" if on_terminal else line, end="" if on_terminal else "\n", file=sys.stderr
        )

    def close(self) -> None:
        """End the line."""
        if sys.stderr.isatty():
            print(file=sys.stderr)
