"""Pictures on their way to the screen: the latest wins, the same is not made twice."""

import threading

from inpaint_app.window.session.background import Jobs
from inpaint_app.window.session.latest_result import LatestResult


def settle(jobs: Jobs, qtbot) -> None:
    qtbot.waitUntil(lambda: jobs.n_active == 0, timeout=10_000)


def test_the_latest_request_wins(jobs, qtbot) -> None:
    slot, gate, seen = LatestResult(jobs), threading.Event(), []
    slot.changed.connect(lambda: seen.append(slot.ready))
    slot.show(lambda: gate.wait(10) and "first", object())
    slot.show(lambda: "second", object())
    assert slot.is_busy
    gate.set()
    settle(jobs, qtbot)
    assert seen == ["second"]
    assert not slot.is_busy


def test_the_same_sources_are_made_ready_once(jobs, qtbot) -> None:
    slot, made, one, other = LatestResult(jobs), [], [1], [1]
    for sources in ((one, other), (one, other), (other, one), (one,)):
        slot.show(lambda: made.append(1) or len(made), *sources)
        settle(jobs, qtbot)
    assert len(made) == 3, "equal is not the same"


def test_clearing_drops_what_is_under_way(jobs, qtbot) -> None:
    slot, source = LatestResult(jobs), object()
    slot.show(lambda: "ready", source)
    slot.clear()
    settle(jobs, qtbot)
    assert slot.ready is None
    slot.show(lambda: "ready", source)
    settle(jobs, qtbot)
    assert slot.ready == "ready", "it can be asked for again"
