"""Runs and previews of a document: one at a time, restarted after changes, nothing late."""

import threading

import numpy as np
import pytest
from windows import FAST, watch

from dictsel_core import psnr
from inpaint_app.engine.restore import IntermediateImage
from inpaint_app.engine.source import Source
from inpaint_app.errors import UserError
from inpaint_app.model.masks import MaskPainter, PackedMask
from inpaint_app.model.missing import MissingPixels
from inpaint_app.model.picture import Picture, Rect
from inpaint_app.window.background.work import WorkerPool
from inpaint_app.window.document.document import Document
from inpaint_app.window.services.running import Running
from inpaint_app.window.undo import UndoHistory

IMAGE = IntermediateImage("average", np.zeros((2, 2), np.uint8))


@pytest.fixture
def document(qapp, picture):
    made = Document()
    mask = np.random.default_rng(3).random(picture.pixels.shape) < 0.5
    show(made, picture.pixels, mask)
    made.apply(settings=FAST)
    return made


def show(document: Document, pixels, mask, reference=None) -> None:
    source = Source(Picture(pixels), MissingPixels(mask, ("alpha",)), "damaged", reference=reference)
    document.open(source, MaskPainter(mask), PackedMask.pack(mask))


@pytest.fixture
def runner(document, workers):
    made = Running(document, UndoHistory(document), workers)
    made.document, made.problems = document, []
    workers.failed.connect(made.problems.append)
    yield made
    made.close()


def settle(runner: Running, workers: WorkerPool, qtbot) -> None:
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


def wait_for_image(document, qtbot) -> None:
    qtbot.waitUntil(lambda: document.state.intermediate is IMAGE, timeout=600_000)


def test_a_run_shows_its_images_and_then_its_result(runner, document, workers, qtbot) -> None:
    gate, results = Gate(), []
    runner.run("restore", gate, results.append)
    wait_for_image(document, qtbot)
    assert (runner.is_busy, runner.task.activity.kind) == (True, "restore")
    gate.open()
    settle(runner, workers, qtbot)
    assert results == ["result"]
    assert (runner.is_busy, runner.task.activity, document.state.intermediate) == (False, None, None)


def test_a_run_takes_the_place_of_the_last(runner, workers, qtbot) -> None:
    first, second, results = Gate("first"), Gate("second"), []
    runner.run("restore", first, results.append)
    runner.run("tune", second, results.append)
    first.open()
    second.open()
    settle(runner, workers, qtbot)
    assert results == ["second"]


def test_a_change_restarts_the_run_after_a_pause(runner, document, workers, qtbot) -> None:
    gate, restarts = Gate(), []

    def restart() -> None:
        restarts.append(1)
        runner.cancel()

    runner.run("restore", gate, pytest.fail, restart=restart)
    wait_for_image(document, qtbot)
    for _ in range(3):
        runner.schedule()
    assert (document.state.intermediate, document.state.is_previewing, runner.is_busy) == (None, False, True)
    gate.open()
    settle(runner, workers, qtbot)
    assert restarts == [1]
    assert document.state.preview is None, "there was a run to restart"


def test_without_a_run_to_restart_a_preview_follows_a_pause(runner, document, workers, qtbot) -> None:
    for _ in range(3):
        runner.schedule()
    assert (runner.is_pausing, document.state.is_previewing) == (True, True)
    settle(runner, workers, qtbot)
    assert document.state.preview is not None


def test_cancelling_drops_everything_that_would_follow(runner, document, workers, qtbot) -> None:
    gate = Gate()
    runner.run("restore", gate, pytest.fail, restart=lambda: pytest.fail("cancelled"))
    wait_for_image(document, qtbot)
    runner.schedule()
    runner.cancel()
    assert (runner.is_busy, runner.is_pausing, document.state.intermediate) == (False, False, None)
    gate.open()
    settle(runner, workers, qtbot)
    assert document.state.preview is None


def test_a_hidden_run_goes_on_and_delivers(runner, document, workers, qtbot) -> None:
    gate, results = Gate(), []
    runner.run("restore", gate, results.append)
    runner.hide_intermediate()
    watch(runner, "intermediate", lambda _image: pytest.fail("it is hidden"))
    gate.open()
    settle(runner, workers, qtbot)
    assert results == ["result"]


def test_a_failed_run_leaves_nothing(runner, document, workers, qtbot) -> None:
    def work(control):
        control.report(IMAGE)
        raise UserError("The mask is empty", "paint one")

    runner.run("restore", work, pytest.fail, restart=pytest.fail)
    settle(runner, workers, qtbot)
    assert runner.problems == ["The mask is empty; paint one."]
    assert (runner.is_busy, document.state.intermediate) == (False, None)


def test_a_preview_shows_the_visible_part(runner, document, workers, qtbot) -> None:
    runner.look_at(Rect(10, 20, 32, 40))
    runner.schedule()
    assert document.state.is_previewing
    settle(runner, workers, qtbot)
    preview = document.state.preview
    assert preview.rect == Rect(10, 20, 32, 40)
    observed = ~document.mask[preview.rect.slices]
    part = document.state.source.picture.pixels[preview.rect.slices]
    assert np.array_equal(preview.image[observed], part[observed])
    assert not document.state.is_previewing


def test_a_preview_follows_the_brush_and_is_measured(runner, document, workers, qtbot, picture) -> None:
    pixels = np.tile(picture.pixels, (4, 4))
    mask = np.zeros(pixels.shape, bool)
    mask[240:260, 330:350] = True
    show(document, pixels, mask, Picture(pixels))
    document.painted.emit(Rect(240, 330, 20, 20))
    document.painted.emit(Rect(40, 30, 230, 330))  # the whole stroke, whose end is known
    runner.schedule()
    settle(runner, workers, qtbot)
    preview = document.state.preview
    assert preview.rect.contains((250, 340))
    assert not preview.rect.contains((144, 192)), "the middle of the picture"
    assert preview.psnr == psnr(pixels[preview.rect.slices], preview.image)


def test_a_preview_that_is_outdated_never_appears(runner, document, workers, qtbot) -> None:
    runner.schedule()
    qtbot.waitUntil(lambda: workers.n_active > 0, timeout=600_000)
    runner.clear_preview()
    watch(runner, "preview", lambda _preview: pytest.fail("outdated"))
    settle(runner, workers, qtbot)
    assert document.state.preview is None


def test_looking_elsewhere_asks_for_another_preview(runner, document, workers, qtbot) -> None:
    runner.look_at(Rect(0, 0, 32, 32))
    assert not runner.is_pausing, "there is no preview to be replaced"
    runner.schedule()
    settle(runner, workers, qtbot)
    runner.look_at(Rect(4, 4, 32, 32))
    assert not runner.is_pausing, "its middle is still in the preview"
    runner.look_at(Rect(40, 60, 32, 32))
    assert document.state.is_previewing
    settle(runner, workers, qtbot)
    assert document.state.preview.rect == Rect(40, 60, 32, 32).clipped((72, 96))


def test_a_run_goes_on_wherever_the_user_looks(runner, workers, qtbot) -> None:
    runner.look_at(Rect(0, 0, 32, 32))
    runner.schedule()
    settle(runner, workers, qtbot)
    gate, results = Gate(), []
    runner.run("restore", gate, results.append)
    runner.look_at(Rect(40, 60, 32, 32))
    assert not runner.is_pausing
    gate.open()
    settle(runner, workers, qtbot)
    assert results == ["result"]
