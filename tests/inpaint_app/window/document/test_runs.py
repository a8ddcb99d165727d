"""The history of runs: numbered, findable, within bounded memory."""

from dataclasses import replace

import numpy as np

from dictsel_core import Restoration, RestoreSettings
from dictsel_core.evaluation import QualityEstimate
from inpaint_app.engine.measure import QualityMetrics
from inpaint_app.model.masks import PackedMask
from inpaint_app.window.document.runs import RunHistory, RunRecord


def record(number: int, n_bytes: int = 100) -> RunRecord:
    image = np.zeros((n_bytes, 1), np.uint8)
    unused = np.zeros(0, np.intp)
    settings = RestoreSettings().resolved(0.5, 256)
    restoration = Restoration(image, settings, 0.5, None, unused.reshape(0, 2), unused, 0, 0, {})
    return RunRecord(
        number, RestoreSettings(), PackedMask.pack(np.zeros((1, 1), bool)), 1.0, image, restoration
    )


def test_numbers_go_on() -> None:
    history = RunHistory()
    assert history.next_number == 1
    history = history.added(record(1)).added(record(2))
    assert history.next_number == 3
    assert history.find(2).number == 2
    assert history.find(7) is None
    assert history.find(None) is None


def test_the_oldest_pixels_go_first_when_memory_is_short() -> None:
    history = RunHistory()
    for number in range(1, 6):
        history = history.added(record(number), max_bytes=250)
    assert [each.image is not None for each in history.records] == [False, False, False, True, True]
    assert [each.number for each in history.records] == [1, 2, 3, 4, 5]


def test_pixels_that_were_painted_by_hand_are_kept() -> None:
    painted = replace(record(1), touched=PackedMask.pack(np.ones((1, 1), bool)))
    history = RunHistory().added(painted)
    for number in range(2, 6):
        history = history.added(record(number), max_bytes=250)
    assert [each.image is not None for each in history.records] == [True, False, False, True, True]


def test_the_newest_is_kept_however_large() -> None:
    assert RunHistory().added(record(1, 1000), max_bytes=10).records[0].image is not None


def test_figures_belong_to_one_record() -> None:
    history = RunHistory().added(record(1)).added(record(2))
    figures = QualityMetrics(estimate=QualityEstimate(30.0, 28.5, 31.5, 255.0, 100, 0.0, n_invented=0))
    changed = history.updated(2, figures=figures)
    assert [each.figures for each in changed.records] == [None, figures]
    assert [each.figures for each in history.records] == [None, None]
    assert [each.figures for each in changed.without_figures().records] == [None, None]
