"""Work outside the GUI thread: delivered in order, cancelled for good, closed to the end."""

import threading

import pytest

from dictsel_core.progress import GeneratorRun as Run
from inpaint_app.errors import UserError


def test_results_and_reports_arrive_on_the_gui_thread_in_order(workers, qtbot) -> None:
    heard = []

    def listen(kind):
        return lambda value: heard.append((kind, value, threading.current_thread()))

    def work(task):
        for number in range(3):
            task.report(number)
        return "result"

    with qtbot.waitSignal(workers.idle, timeout=600_000):
        workers.start(work, done=listen("done"), failed=listen("failed"), progress=listen("progress"))
    assert [(kind, value) for kind, value, _ in heard] == [
        ("progress", 0),
        ("progress", 1),
        ("progress", 2),
        ("done", "result"),
    ]
    assert {thread for *_, thread in heard} == {threading.main_thread()}


def test_work_starts_when_the_event_that_asked_for_it_has_been_handled(workers, qtbot) -> None:
    begun = threading.Event()
    workers.start(lambda _task: begun.set(), done=lambda _result: None)
    assert not begun.wait(0.01)
    with qtbot.waitSignal(workers.idle, timeout=600_000):
        assert workers.n_active == 1
    assert begun.is_set()


def test_what_was_in_progress_when_cancelled_is_not_delivered(workers, qtbot, qapp) -> None:
    heard, gate, reached = [], threading.Event(), threading.Event()

    def work(task):
        gate.wait(5)
        task.report("early")
        reached.set()
        return "result"

    task = workers.start(work, done=heard.append, failed=heard.append, progress=heard.append)
    qapp.processEvents()
    gate.set()
    assert reached.wait(5)  # its messages wait in the event queue now
    with qtbot.waitSignal(workers.idle, timeout=600_000):
        task.cancel()
    assert heard == []


def test_cancelling_closes_the_generator(workers, qtbot, qapp) -> None:
    closed, begun = threading.Event(), threading.Event()

    def steps():
        try:
            while True:
                begun.set()
                yield 0
        finally:
            closed.set()

    task = workers.start(
        lambda task: task.drain(Run(steps()), lambda _step: None),
        done=pytest.fail,
        failed=pytest.fail,
    )
    qapp.processEvents()
    assert begun.wait(5)
    with qtbot.waitSignal(workers.idle, timeout=600_000):
        task.cancel()
    assert closed.is_set()


def test_closing_waits_and_delivers_nothing(workers, qtbot, qapp) -> None:
    heard, begun, ended = [], threading.Event(), threading.Event()

    def steps():
        try:
            while True:
                begun.set()
                yield 0
        finally:
            ended.set()

    for _ in range(5):  # more than there are threads: some wait
        workers.start(
            lambda task: task.drain(Run(steps()), lambda _step: None),
            done=heard.append,
            failed=heard.append,
        )
    qapp.processEvents()
    assert begun.wait(5)
    workers.close()
    assert ended.is_set()
    qapp.processEvents()
    assert heard == []
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("inpaint-worker")]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (UserError("The file is gone", "look for it"), "The file is gone; look for it."),
        (MemoryError(), "not enough memory"),
        (ZeroDivisionError("secret"), "Something went wrong inside the program (ZeroDivisionError)"),
    ],
)
def test_failures_become_sentences(workers, qtbot, error, words, caplog) -> None:
    heard = []

    def work(_task):
        raise error

    with qtbot.waitSignal(workers.idle, timeout=600_000):
        workers.start(work, done=pytest.fail, failed=heard.append)
    (sentence,) = heard
    assert words in sentence
    assert sentence.endswith(".")
    assert "secret" not in sentence
