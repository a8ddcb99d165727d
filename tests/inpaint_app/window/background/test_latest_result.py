"""Pictures on their way to the screen: the latest wins, the same is not made twice."""

import threading

from inpaint_app.window.background.work import LatestResult, WorkerPool


def settle(workers: WorkerPool, qtbot) -> None:
    qtbot.waitUntil(lambda: workers.n_active == 0, timeout=600_000)


def test_the_latest_request_wins(workers, qtbot) -> None:
    slot, gate, seen = LatestResult(workers), threading.Event(), []
    slot.changed.connect(lambda: seen.append(slot.ready))
    slot.show(lambda: gate.wait(10) and "first", object())
    slot.show(lambda: "second", object())
    assert slot.is_busy
    gate.set()
    settle(workers, qtbot)
    assert seen == ["second"]
    assert not slot.is_busy


def test_the_same_sources_are_made_ready_once(workers, qtbot) -> None:
    slot, made, one, other = LatestResult(workers), [], [1], [1]
    for sources in ((one, other), (one, other), (other, one), (one,)):
        slot.show(lambda: made.append(1) or len(made), *sources)
        settle(workers, qtbot)
    assert len(made) == 3, "equal is not the same"


def test_clearing_drops_what_is_in_progress(workers, qtbot) -> None:
    slot, source = LatestResult(workers), object()
    slot.show(lambda: "ready", source)
    slot.clear()
    settle(workers, qtbot)
    assert slot.ready is None
    slot.show(lambda: "ready", source)
    settle(workers, qtbot)
    assert slot.ready == "ready", "it can be asked for again"
