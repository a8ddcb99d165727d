"""The restorations of a source: kept, shown, measured, and compared."""

from dataclasses import replace

import numpy as np
import pytest
from windows import FAST

from dictsel_core import estimate_psnr, psnr, restore
from inpaint_app.engine.restore import RestoreRequest, RunResult
from inpaint_app.engine.source import Source
from inpaint_app.model.missing import detect_missing
from inpaint_app.model.packed_mask import PackedMask
from inpaint_app.model.picture import Picture
from inpaint_app.window.background.worker_pool import WorkerPool
from inpaint_app.window.session.runs.results import Results


@pytest.fixture
def mask(picture):
    return np.random.default_rng(3).random(picture.pixels.shape) < 0.5


@pytest.fixture
def source(picture, mask):
    damaged = Picture(np.where(mask, 0, picture.pixels).astype(np.uint8))
    return Source(damaged, detect_missing(damaged), "damaged.png")


@pytest.fixture
def results(workers, source):
    made = Results(workers)
    workers.failed.connect(pytest.fail)
    made.restart(source)
    return made


def run(source, mask, **changes) -> RunResult:
    request = RestoreRequest(source.picture.pixels, mask, replace(FAST, **changes))
    return RunResult(request, restore(request.pixels, mask, request.settings), 0.1)


def settle(workers: WorkerPool, qtbot) -> None:
    qtbot.waitUntil(lambda: workers.n_active == 0, timeout=600_000)


def test_a_run_is_kept_measured_and_shown(results, workers, qtbot, source, mask) -> None:
    shown = []
    results.shown.connect(lambda: shown.append(results.current.number))
    result = run(source, mask)
    assert results.add([result]) == {"average": 1}
    assert results.current is None, "kept, not yet shown"
    results.show(1)
    assert shown == [1]
    assert results.current.image is result.restoration.image
    settle(workers, qtbot)
    expected = estimate_psnr(source.picture.pixels, mask, results.current.settings)
    assert results.current.figures.estimated_psnr == pytest.approx(expected.psnr, abs=1e-4)


def test_a_run_that_led_to_nothing_is_not_kept(results, source, mask) -> None:
    assert results.add([replace(run(source, mask), restoration=None)]) == {}
    assert len(results.history) == 0


def test_a_reference_measures_everything_again(results, workers, qtbot, source, mask, picture) -> None:
    results.show(results.add([run(source, mask)])["average"])
    results.set_reference(replace(source, reference=picture))
    results.measure_damage(PackedMask.pack(mask))
    settle(workers, qtbot)
    scores = results.current.figures.scores
    assert scores.psnr == psnr(picture.pixels, results.current.image)
    assert results.damage_quality.scores.psnr == psnr(picture.pixels, source.picture.pixels) < scores.psnr


def test_figures_of_another_document_never_arrive(results, workers, qtbot, source, mask) -> None:
    results.add([run(source, mask)])
    results.restart(replace(source))
    results.changed.connect(lambda: pytest.fail("late"))
    settle(workers, qtbot)
    assert (len(results.history), results.damage_quality) == (0, None)


def test_complete_runs_of_the_same_request_are_found(results, source, mask) -> None:
    individual = run(source, mask, constraint="individual")
    results.add([individual, replace(run(source, mask), is_stopped=True)])
    assert results.find_runs(individual.request.settings, PackedMask.pack(mask)) == {"individual": 1}, (
        "the other was stopped"
    )
    assert results.find_runs(individual.request.settings, PackedMask.pack(~mask)) == {}


def test_a_pair_stands_side_by_side(results, source, mask) -> None:
    numbers = results.add([run(source, mask, constraint=name) for name in ("individual", "average")])
    results.show(numbers["average"], list(numbers.values()))
    assert results.history.compared == results.history.records
    results.remove(1)
    assert results.history.compared == (), "nothing is left to compare with"


def test_an_atom_is_found_in_the_patches_that_use_it(results, workers, qtbot, source, mask) -> None:
    result = run(source, mask)
    results.show(results.add([result])["average"])
    results.choose_atom(1)
    settle(workers, qtbot)
    selection = result.restoration.selection
    n_users = sum(selection.indices[1] in support for support in selection.supports)
    assert len(results.atom_use.rects) == n_users > 0
    assert all(rect.row % 8 == rect.column % 8 == 0 for rect in results.atom_use.rects)
    results.choose_atom(None)
    assert results.atom_use is None


def test_an_atom_of_a_record_no_longer_shown_is_dropped(results, workers, qtbot, source, mask) -> None:
    results.show(results.add([run(source, mask)])["average"])
    results.choose_atom(1)
    results.show(1)
    settle(workers, qtbot)
    assert results.atom_use is None


def test_only_a_record_of_this_document_is_marked_as_saved(results, source, mask) -> None:
    results.show(results.add([run(source, mask)])["average"])
    own = results.current
    assert not results.mark_saved(replace(own, packed_mask=PackedMask.pack(mask)))
    assert results.history.has_unsaved
    assert results.mark_saved(own)
    assert not results.history.has_unsaved
