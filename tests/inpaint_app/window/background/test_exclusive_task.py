"""Work that the user waits for: one piece at a time, with its progress."""

import threading

import pytest

from inpaint_app.engine.control import Progress
from inpaint_app.errors import UserError
from inpaint_app.window.background.work import Activity, ExclusiveTask

STARTING = Activity("restore", Progress("starting"))


@pytest.fixture
def task(workers):
    return ExclusiveTask(workers)


def test_the_activity_is_known_from_start_to_end(workers, task, qtbot) -> None:
    seen, reports, results = [], [], []
    task.activity_changed.connect(lambda: seen.append(task.activity))
    halfway = Activity("restore", Progress("halfway", 0.5))

    def work(control):
        control.report(halfway.progress)
        control.report("an image")
        return "result"

    with qtbot.waitSignal(workers.idle, timeout=600_000):
        task.start(work, done=results.append, failed=pytest.fail, progress=reports.append, activity=STARTING)
        assert task.is_active
    assert seen == [STARTING, halfway, None]
    assert (reports, results) == (["an image"], ["result"])
    assert not task.is_active


def test_a_new_piece_of_work_replaces_the_last(workers, task, qtbot) -> None:
    gate, results = threading.Event(), []
    task.start(lambda _control: gate.wait(10) and "first", done=results.append, failed=pytest.fail)
    with qtbot.waitSignal(workers.idle, timeout=600_000):
        task.start(lambda _control: "second", done=results.append, failed=pytest.fail)
        gate.set()
    assert results == ["second"]


def test_cancelled_work_delivers_nothing(workers, task, qtbot) -> None:
    assert not task.cancel(), "there is none"
    task.start(lambda _control: "late", done=pytest.fail, failed=pytest.fail, activity=STARTING)
    with qtbot.waitSignal(workers.idle, timeout=600_000):
        assert task.cancel()
        assert task.activity is None


def test_a_failure_ends_the_activity_before_it_is_told(workers, task, qtbot) -> None:
    told = []

    def work(_control):
        raise UserError("The disk is full", "free some space")

    with qtbot.waitSignal(workers.idle, timeout=600_000):
        task.start(
            work,
            done=pytest.fail,
            failed=lambda words: told.append((words, task.activity)),
            activity=STARTING,
        )
    assert told == [("The disk is full; free some space.", None)]
