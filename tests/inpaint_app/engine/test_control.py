"""Progress of jobs, of which the compilation of kernels is no part."""

import time
from collections.abc import Iterator

import pytest

from dictsel_core._util.compiled import compiling
from dictsel_core.progress import Compilation, GeneratorRun
from inpaint_app.cli import report as cli_progress
from inpaint_app.engine import control
from inpaint_app.engine.control import JobControl, Progress, ProgressReporter


def compiling_run() -> GeneratorRun[int, str]:
    def steps() -> Iterator[int]:
        yield 1
        compiling.change(1)
        compiling.change(-1)
        yield 2
        return "done"

    return GeneratorRun(steps())


def test_compilation_is_reported_as_such() -> None:
    reports: list[Progress] = []
    assert JobControl(reports.append).drain(compiling_run(), lambda _step: None) == "done"
    (told,) = reports
    assert told.is_compilation
    assert told.stage == "first run: compiling"
    assert told.seconds_left is not None
    compiling.change(1)
    compiling.change(-1)
    assert len(reports) == 1, "when the run has ended, nobody listens"


@pytest.fixture
def clocks(monkeypatch):
    """Seconds that have passed, and those of them that kernels were compiled."""
    now = {"passed": 0.0, "compiling": 0.0}
    monkeypatch.setattr(time, "monotonic", lambda: now["passed"])
    monkeypatch.setattr(time, "perf_counter", lambda: now["passed"])
    monkeypatch.setattr(control, "compilation", lambda: Compilation(0, now["compiling"], is_running=False))
    return now


def test_the_time_left_is_that_of_the_work(clocks) -> None:
    reports: list[Progress] = []
    reporter = ProgressReporter(JobControl(reports.append))
    clocks.update(passed=50.0, compiling=40.0)
    reporter.update("coding", 0.5)
    assert reports[-1].seconds_left == pytest.approx(10)


def test_the_bar_shows_compilation_and_leaves_it_out(clocks, monkeypatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(cli_progress, "print_note", lines.append)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with cli_progress.ProgressBar() as bar:
        bar.update("selecting", 0.1)
        bar.show_compilation(Progress("first run: compiling", 0.25, seconds_left=20.0, is_compilation=True))
        clocks.update(passed=50.0, compiling=40.0)
        bar.update("coding", 0.5)
    assert "25 %  first run: compiling  20 s left" in lines[0]
    assert "50 %  coding  10 s left" in lines[1]
