"""Runs and previews without a session: one at a time, restarted after changes, nothing late."""

import threading

import numpy as np
import pytest
from windows import FAST

from dictsel_core import psnr
from inpaint_app.engine.restore import IntermediateImage, RestoreRequest
from inpaint_app.errors import UserError
from inpaint_app.model.rect import Rect
from inpaint_app.window.background.worker_pool import WorkerPool
from inpaint_app.window.session.runs.runner import Runner

IMAGE = IntermediateImage("average", np.zeros((2, 2), np.uint8))


@pytest.fixture
def runner(workers):
    made = Runner(workers)
    made.problems = []
    workers.failed.connect(made.problems.append)
    yield made
    made.close()


@pytest.fixture
def request_(picture):
    mask = np.random.default_rng(3).random(picture.pixels.shape) < 0.5
    return RestoreRequest(picture.pixels, mask, FAST)


def settle(runner: Runner, workers: WorkerPool, qtbot) -> None:
    qtbot.waitUntil(lambda: workers.n_active == 0 and not runner.is_pausing, timeout=600_000)


class Gate:
    """Work that reports an image, and ends when it is opened."""

    def __init__(self, result: str = "result") -> None:
        self.result, self._opened = result, threading.Event()

    def __call__(self, control) -> str:
        control.report(IMAGE)
        self._opened.wait(10)
        control.check()
        return self.result

    def open(self) -> None:
        self._opened.set()


def test_a_run_shows_its_images_and_then_its_result(runner, workers, qtbot) -> None:
    gate, results = Gate(), []
    runner.run("restore", gate, results.append)
    qtbot.waitUntil(lambda: runner.intermediate is IMAGE, timeout=600_000)
    assert (runner.is_busy, runner.task.activity.kind) == (True, "restore")
    gate.open()
    settle(runner, workers, qtbot)
    assert results == ["result"]
    assert (runner.is_busy, runner.task.activity, runner.intermediate) == (False, None, None)


def test_a_run_takes_the_place_of_the_last(runner, workers, qtbot) -> None:
    first, second, results = Gate("first"), Gate("second"), []
    runner.run("restore", first, results.append)
    runner.run("tune", second, results.append)
    first.open()
    second.open()
    settle(runner, workers, qtbot)
    assert results == ["second"]


def test_a_change_restarts_the_run_after_a_pause(runner, workers, qtbot) -> None:
    gate, restarts = Gate(), []
    runner.debounced.connect(lambda: pytest.fail("there is a run to restart"))
    runner.run("restore", gate, pytest.fail, restart=lambda: restarts.append(1))
    qtbot.waitUntil(lambda: runner.intermediate is not None, timeout=600_000)
    for _ in range(3):
        runner.schedule(previews=True)
    assert (runner.intermediate, runner.is_previewing, runner.is_busy) == (None, False, True)
    gate.open()
    settle(runner, workers, qtbot)
    assert restarts == [1]


def test_without_a_run_to_restart_a_pause_is_told(runner, workers, qtbot) -> None:
    pauses = []
    runner.debounced.connect(lambda: pauses.append(runner.is_previewing))
    for _ in range(3):
        runner.schedule(previews=True)
    assert runner.is_pausing
    settle(runner, workers, qtbot)
    assert pauses == [True]


def test_cancelling_drops_everything_that_would_follow(runner, workers, qtbot) -> None:
    gate = Gate()
    runner.debounced.connect(lambda: pytest.fail("cancelled"))
    runner.run("restore", gate, pytest.fail, restart=lambda: pytest.fail("cancelled"))
    qtbot.waitUntil(lambda: runner.intermediate is not None, timeout=600_000)
    runner.schedule(previews=True)
    runner.cancel()
    assert (runner.is_busy, runner.is_pausing, runner.intermediate) == (False, False, None)
    gate.open()
    settle(runner, workers, qtbot)


def test_a_hidden_run_goes_on_and_delivers(runner, workers, qtbot) -> None:
    gate, results = Gate(), []
    runner.run("restore", gate, results.append)
    runner.hide_intermediate()
    runner.intermediate_changed.connect(lambda: pytest.fail("it is hidden"))
    gate.open()
    settle(runner, workers, qtbot)
    assert results == ["result"]


def test_a_failed_run_leaves_nothing(runner, workers, qtbot) -> None:
    def work(control):
        control.report(IMAGE)
        raise UserError("The mask is empty", "paint one")

    runner.run("restore", work, pytest.fail, restart=pytest.fail)
    settle(runner, workers, qtbot)
    assert runner.problems == ["The mask is empty; paint one."]
    assert (runner.is_busy, runner.intermediate) == (False, None)


def test_a_preview_shows_the_visible_part(runner, workers, qtbot, request_) -> None:
    runner.look_at(Rect(10, 20, 32, 40))
    runner.start_preview(lambda: request_)
    assert runner.is_previewing
    settle(runner, workers, qtbot)
    preview = runner.preview
    assert preview.rect == Rect(10, 20, 32, 40)
    observed = ~request_.mask[preview.rect.slices]
    part = request_.pixels[preview.rect.slices]
    assert np.array_equal(preview.image[observed], part[observed])
    assert not runner.is_previewing


def test_a_preview_follows_the_brush_and_is_measured(runner, workers, qtbot, picture) -> None:
    pixels = np.tile(picture.pixels, (4, 4))
    mask = np.zeros(pixels.shape, bool)
    mask[240:260, 330:350] = True
    runner.focus_on(Rect(240, 330, 20, 20))
    runner.focus_on(Rect(40, 30, 230, 330))  # the whole stroke, whose end is known
    runner.start_preview(lambda: RestoreRequest(pixels, mask, FAST), pixels)
    settle(runner, workers, qtbot)
    preview = runner.preview
    assert preview.rect.contains((250, 340))
    assert not preview.rect.contains((144, 192)), "the middle of the picture"
    assert preview.psnr == psnr(pixels[preview.rect.slices], preview.image)


def test_a_preview_that_is_outdated_never_appears(runner, workers, qtbot, request_) -> None:
    runner.start_preview(lambda: request_)
    runner.clear_preview()
    runner.preview_changed.connect(lambda: pytest.fail("outdated"))
    settle(runner, workers, qtbot)
    assert runner.preview is None


def test_looking_elsewhere_asks_for_another_preview(runner, workers, qtbot, request_) -> None:
    pauses = []
    runner.debounced.connect(lambda: pauses.append(1))
    runner.look_at(Rect(0, 0, 32, 32))
    settle(runner, workers, qtbot)
    assert pauses == [], "there is no preview to be replaced"
    runner.start_preview(lambda: request_)
    settle(runner, workers, qtbot)
    runner.look_at(Rect(4, 4, 32, 32))
    assert not runner.is_pausing, "its middle is still in the preview"
    runner.look_at(Rect(40, 60, 32, 32))
    assert runner.is_previewing
    settle(runner, workers, qtbot)
    assert pauses == [1]


def test_a_run_goes_on_wherever_the_user_looks(runner, workers, qtbot, request_) -> None:
    runner.look_at(Rect(0, 0, 32, 32))
    runner.start_preview(lambda: request_)
    settle(runner, workers, qtbot)
    gate, results = Gate(), []
    runner.run("restore", gate, results.append)
    runner.look_at(Rect(40, 60, 32, 32))
    assert not runner.is_pausing
    gate.open()
    settle(runner, workers, qtbot)
    assert results == ["result"]
