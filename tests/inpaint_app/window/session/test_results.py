"""The restorations of a document: kept, shown, measured, and compared."""

from dataclasses import replace

import numpy as np
import pytest
from windows import FAST

from dictsel_core import estimate_psnr, psnr, restore
from inpaint_app.image.missing import detect_missing
from inpaint_app.image.picture import Picture
from inpaint_app.jobs.restore import RestoreRequest, RunResult
from inpaint_app.jobs.source import Source
from inpaint_app.window.session.background import Jobs
from inpaint_app.window.session.results import Results
from inpaint_app.window.session.state import Comparison


@pytest.fixture
def mask(picture):
    return np.random.default_rng(3).random(picture.pixels.shape) < 0.5


@pytest.fixture
def document(picture, mask):
    damaged = Picture(np.where(mask, 0, picture.pixels).astype(np.uint8))
    return Source(damaged, detect_missing(damaged), "damaged.png")


@pytest.fixture
def results(jobs, document):
    made = Results(jobs)
    made.failed.connect(pytest.fail)
    made.restart(document)
    return made


def run(document, mask, **changes) -> RunResult:
    request = RestoreRequest(document.picture.pixels, mask, replace(FAST, **changes))
    return RunResult(request, restore(request.pixels, mask, request.settings), 0.1)


def settle(jobs: Jobs, qtbot) -> None:
    qtbot.waitUntil(lambda: jobs.n_active == 0, timeout=60_000)


def test_a_run_is_kept_measured_and_shown(results, jobs, qtbot, document, mask) -> None:
    shown = []
    results.shown.connect(lambda: shown.append(results.current.number))
    result = run(document, mask)
    assert results.add([result]) == {"average": 1}
    assert results.current is None, "kept, not yet shown"
    results.show(1)
    assert shown == [1]
    assert results.current.image is result.restoration.image
    settle(jobs, qtbot)
    expected = estimate_psnr(document.picture.pixels, mask, results.current.settings)
    assert results.current.figures.estimated_psnr == pytest.approx(expected, abs=1e-4)


def test_a_run_that_led_to_nothing_is_not_kept(results, document, mask) -> None:
    assert results.add([replace(run(document, mask), restoration=None)]) == {}
    assert len(results.history) == 0


def test_a_reference_measures_everything_again(results, jobs, qtbot, document, mask, picture) -> None:
    results.show(results.add([run(document, mask)])["average"])
    results.set_reference(replace(document, reference=picture))
    results.measure_damage(mask)
    settle(jobs, qtbot)
    scores = results.current.figures.scores
    assert scores.psnr == psnr(picture.pixels, results.current.image)
    assert results.damage_quality.scores.psnr == psnr(picture.pixels, document.picture.pixels) < scores.psnr


def test_figures_of_another_document_never_arrive(results, jobs, qtbot, document, mask) -> None:
    results.add([run(document, mask)])
    results.restart(replace(document))
    results.changed.connect(lambda: pytest.fail("late"))
    settle(jobs, qtbot)
    assert (len(results.history), results.damage_quality) == (0, None)


def test_complete_runs_of_the_same_request_are_found(results, document, mask) -> None:
    individual = run(document, mask, constraint="individual")
    results.add([individual, replace(run(document, mask), is_stopped=True)])
    assert results.find_runs(individual.request) == {"individual": 1}, "the other was stopped"
    assert results.find_runs(run(document, ~mask).request) == {}


def test_a_pair_stands_side_by_side(results, document, mask) -> None:
    numbers = results.add([run(document, mask, constraint=name) for name in ("individual", "average")])
    results.compare(numbers)
    results.show(numbers["average"])
    assert results.history.comparison == Comparison(1, 2)
    assert results.history.compared == results.history.records


def test_an_atom_is_found_in_the_patches_that_use_it(results, jobs, qtbot, document, mask) -> None:
    result = run(document, mask)
    results.show(results.add([result])["average"])
    results.choose_atom(1)
    settle(jobs, qtbot)
    selection = result.restoration.selection
    n_users = sum(selection.atoms[1] in support for support in selection.supports)
    assert len(results.atom_use.rects) == n_users > 0
    assert all(rect.row % 8 == rect.column % 8 == 0 for rect in results.atom_use.rects)
    results.choose_atom(None)
    assert results.atom_use is None


def test_an_atom_of_a_record_no_longer_shown_is_dropped(results, jobs, qtbot, document, mask) -> None:
    results.show(results.add([run(document, mask)])["average"])
    results.choose_atom(1)
    results.show(1)
    settle(jobs, qtbot)
    assert results.atom_use is None


def test_only_a_record_of_this_document_is_marked_as_saved(results, document, mask) -> None:
    results.show(results.add([run(document, mask)])["average"])
    own = results.current
    assert not results.mark_saved(replace(own, mask=mask.copy()))
    assert results.history.has_unsaved
    assert results.mark_saved(own)
    assert not results.history.has_unsaved
