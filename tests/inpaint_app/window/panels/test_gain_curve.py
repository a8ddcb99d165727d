"""The plot of gains, and the round numbers along its axes."""

import numpy as np
import pytest
from gestures import move, press
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPointF
from PySide6.QtWidgets import QApplication

from inpaint_app.window.panels.gain_curve import GainCurve
from inpaint_app.window.widgets.ticks import log_ticks, ticks

GAINS = 5000 * np.exp(-np.arange(30) / 5)


@pytest.fixture
def curve(qtbot):
    made = GainCurve()
    qtbot.addWidget(made)
    made.resize(320, 260)
    made.set_steps(GAINS, np.cumsum(GAINS))
    made.show()
    qtbot.waitExposed(made)
    return made


def places(curve) -> list[float]:
    """Return a place across for every step."""
    found = {}
    for x in np.arange(0, curve.width(), 0.5):
        found.setdefault(curve.step_at(x), x + 2)
    found.pop(None, None)
    return [found[step] for step in sorted(found)]


def test_every_step_has_its_place(curve):
    assert len(places(curve)) == len(GAINS)
    assert curve.step_at(0) is None
    assert curve.step_at(curve.width()) is None


def test_hovering_changes_the_picture_and_leaving_brings_it_back(curve):
    before = curve.grab().toImage()
    move(curve, QPointF(places(curve)[7], 50))
    assert curve.grab().toImage() != before
    QApplication.sendEvent(curve, QEvent(QEvent.Type.Leave))
    assert curve.grab().toImage() == before


def test_marking_looks_like_hovering(curve):
    move(curve, QPointF(places(curve)[7], 50))
    hovered = curve.grab().toImage()
    QApplication.sendEvent(curve, QEvent(QEvent.Type.Leave))
    curve.set_marked(7)
    assert curve.grab().toImage() == hovered


def test_a_click_chooses_a_step(qtbot, curve):
    with qtbot.waitSignal(curve.step_clicked, check_params_cb=lambda step: step == 11, timeout=600_000):
        press(curve, QPointF(places(curve)[11], 50))


def test_words_of_a_step_are_its_values(curve):
    assert curve.describe(0) == "Atom 1: gain 5,000, objective 5,000"
    assert "Atom 30" in curve.accessibleDescription()


@pytest.mark.parametrize("gains", [[], [3.0], [0.0, 0.0], [-1.0, 2.0], [1e-12, 1e12]])
def test_unusual_series_are_drawn(curve, gains):
    curve.set_steps(gains, gains)
    curve.set_marked(5)
    assert not curve.grab().isNull()
    assert curve.step_at(160) is None or gains


def test_small_gains_are_told_apart_and_none_lies_below_them(curve):
    curve.set_steps([1e4, 1e2, 1.0, 0.0], [1.0, 2.0, 3.0, 3.0])
    panel = curve.panels()[0]
    places = [panel.y(gain) for gain in (1e4, 1e2, 1.0, 0.0)]
    assert np.diff(places[:3]) == pytest.approx(np.diff(places[:2])[0])
    assert places[2] < places[3] == panel.frame.bottom()


@given(st.floats(1e-9, 1e9), st.floats(10, 1e7), st.integers(2, 12))
def test_ticks_of_a_logarithmic_axis_are_few_and_round(low, ratio, most):
    numbers = log_ticks(low, low * ratio, most=most)
    assert 1 <= len(numbers) <= most
    assert numbers == sorted(numbers)
    assert low <= numbers[0] <= numbers[-1] <= low * ratio
    assert all(float(f"{number:.6e}".split("e")[0]) in (1, 2, 5) for number in numbers)


@given(st.floats(1e-9, 1e12), st.integers(2, 12))
def test_ticks_are_few_round_and_fill_the_axis(top, most):
    numbers = ticks(0, top, most=most)
    assert numbers[0] == 0
    assert 1 <= len(numbers) - 1 <= most
    step = numbers[1]
    assert numbers == pytest.approx([step * place for place in range(len(numbers))])
    assert numbers[-1] <= top * (1 + 1e-6) < numbers[-1] + step * (1 + 1e-5)
    mantissa = float(f"{step:e}".split("e")[0])
    assert min(abs(mantissa - round_one) for round_one in (1, 2, 2.5, 5, 10)) < 1e-6


def test_the_objective_fills_its_panel_where_it_hardly_changes(qtbot) -> None:
    curve = GainCurve()
    qtbot.addWidget(curve)
    curve.resize(320, 240)
    curve.set_steps([10.0, 5.0, 1.0], [2800.0, 2830.0, 2841.0])
    _, objective = curve.panels()
    height = objective.frame.height()
    assert objective.y(2800.0) - objective.y(2841.0) > 0.8 * height
    inside = [objective.y(value) for value in objective.ticks(5)]
    assert len(inside) >= 2
    assert all(objective.frame.top() <= place <= objective.frame.bottom() for place in inside)
