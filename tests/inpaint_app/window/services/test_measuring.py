"""The restorations of a source: kept, shown, measured, and compared."""

from dataclasses import replace

import numpy as np
import pytest
from windows import FAST

from dictsel_core import estimate_psnr, psnr, restore
from inpaint_app.engine.restore import RestoreRequest, RunResult
from inpaint_app.engine.source import Source
from inpaint_app.model.masks import MaskPainter, PackedMask
from inpaint_app.model.missing import MissingPixels
from inpaint_app.model.picture import Picture
from inpaint_app.window.background.work import WorkerPool
from inpaint_app.window.document.document import Document
from inpaint_app.window.document.runs import record_of
from inpaint_app.window.services.measuring import Measuring


@pytest.fixture
def mask(picture):
    return np.random.default_rng(3).random(picture.pixels.shape) < 0.5


@pytest.fixture
def source(picture, mask):
    damaged = Picture(np.where(mask, 0, picture.pixels).astype(np.uint8))
    return Source(damaged, MissingPixels(mask, ()), "damaged.png")


@pytest.fixture
def document(qapp, source, mask):
    made = Document()
    made.open(source, MaskPainter(mask), PackedMask.pack(mask))
    return made


@pytest.fixture
def measuring(workers, document):
    workers.failed.connect(pytest.fail)
    return Measuring(document, workers)


def run(source, mask, **changes) -> RunResult:
    request = RestoreRequest(source.picture.pixels, mask, replace(FAST, **changes))
    return RunResult(request, restore(request.pixels, mask, request.settings), 0.1)


def add(document: Document, *results: RunResult) -> None:
    """Keep what runs led to, and show the last."""
    runs = document.state.runs
    for result in results:
        runs = runs.added(record_of(result, runs.next_number, document.state.mask))
    document.show_run(runs.newest_number, runs=runs)


def settle(workers: WorkerPool, qtbot) -> None:
    qtbot.waitUntil(lambda: workers.n_active == 0, timeout=600_000)


def test_a_run_is_kept_measured_and_shown(measuring, document, workers, qtbot, source, mask) -> None:
    result = run(source, mask)
    add(document, result)
    assert document.state.runs.current.number == 1
    assert document.state.runs.current.image is result.restoration.image
    settle(workers, qtbot)
    current = document.state.runs.current
    expected = estimate_psnr(source.picture.pixels, mask, current.settings)
    assert current.figures.estimated_psnr == pytest.approx(expected.psnr, abs=1e-4)


def test_a_run_that_led_to_nothing_is_not_kept(document, source, mask) -> None:
    assert record_of(replace(run(source, mask), restoration=None), 1, document.state.mask) is None


def test_grain_is_shown_and_not_measured(measuring, document, workers, qtbot, source, mask, picture) -> None:
    document.apply(source=replace(source, reference=picture))
    grainy = np.zeros_like(picture.pixels)
    result = replace(run(source, mask), grainy=grainy)
    add(document, result)
    settle(workers, qtbot)
    current = document.state.runs.current
    assert current.image is grainy
    assert current.figures.scores.psnr == psnr(picture.pixels, result.restoration.image)
    assert current.plain is None, "which takes memory until then"


def test_a_reference_measures_everything_again(
    measuring, document, workers, qtbot, source, mask, picture
) -> None:
    add(document, run(source, mask))
    settle(workers, qtbot)
    document.apply(source=replace(source, reference=picture))
    settle(workers, qtbot)
    current, damage = document.state.runs.current, document.state.damage_quality
    assert current.figures.scores.psnr == psnr(picture.pixels, current.image)
    assert damage.scores.psnr == psnr(picture.pixels, source.picture.pixels) < current.figures.scores.psnr


def test_figures_of_another_document_never_arrive(measuring, document, workers, qtbot, source, mask) -> None:
    add(document, run(source, mask))
    measuring.restart()
    document.open(replace(source), MaskPainter(mask), PackedMask.pack(mask))
    document.watch(lambda: pytest.fail("late"))
    settle(workers, qtbot)
    assert (len(document.state.runs), document.state.damage_quality) == (0, None)


def test_complete_runs_of_the_same_request_are_found(document, source, mask) -> None:
    individual = run(source, mask, constraint="individual")
    add(document, individual, replace(run(source, mask), is_stopped=True))
    runs, settings = document.state.runs, individual.request.settings
    assert runs.find_runs(settings, PackedMask.pack(mask)) == {"individual": 1}, "the other was stopped"
    assert runs.find_runs(settings, PackedMask.pack(~mask)) == {}


def test_a_pair_stands_side_by_side(document, source, mask) -> None:
    add(document, *(run(source, mask, constraint=name) for name in ("individual", "average")))
    document.show_run(2, (1, 2))
    assert document.state.runs.compared == document.state.runs.records
    document.remove_run(1)
    assert document.state.runs.compared == (), "nothing is left to compare with"


def test_an_atom_is_found_in_the_patches_that_use_it(
    measuring, document, workers, qtbot, source, mask
) -> None:
    result = run(source, mask)
    add(document, result)
    measuring.choose_atom(1)
    settle(workers, qtbot)
    selection, use = result.restoration.selection, document.state.atom_use
    n_users = sum(selection.indices[1] in support for support in selection.supports)
    assert len(use.rects) == n_users > 0
    assert all(rect.row % 8 == rect.column % 8 == 0 for rect in use.rects)
    measuring.choose_atom(None)
    assert document.state.atom_use is None


def test_an_atom_of_a_record_no_longer_shown_is_dropped(
    measuring, document, workers, qtbot, source, mask
) -> None:
    add(document, run(source, mask))
    measuring.choose_atom(1)
    document.show_run(1)
    settle(workers, qtbot)
    assert (document.state.atom, document.state.atom_use) == (None, None)


def test_only_a_record_of_this_document_is_marked_as_saved(document, source, mask) -> None:
    add(document, run(source, mask))
    own = document.state.runs.current
    document.mark_saved(replace(own, packed_mask=PackedMask.pack(mask)))
    assert document.state.runs.has_unsaved
    document.mark_saved(own)
    assert not document.state.runs.has_unsaved
