"""The plot of a curve, and the round numbers along its axes."""

import numpy as np
import pytest
from gestures import move, press
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtWidgets import QApplication

from inpaint_app.window.widgets.point_curve import PointCurve
from inpaint_app.window.widgets.ticks import log_ticks, ticks

GAINS = 5000 * np.exp(-np.arange(30) / 5)


def made(qtbot, values, **options) -> PointCurve:
    curve = PointCurve(size=QSize(320, 160), **options)
    qtbot.addWidget(curve)
    curve.resize(320, 160)
    curve.set_points([*enumerate(values, 1)], "atom", "Gain")
    curve.show()
    qtbot.waitExposed(curve)
    return curve


@pytest.fixture
def curve(qtbot):
    return made(qtbot, GAINS.tolist(), is_logarithmic=True, has_line=False, dot=2)


def test_a_click_chooses_the_nearest_point(qtbot, curve):
    told = []
    curve.point_clicked.connect(told.append)
    for number in (0, 11, 29):
        press(curve, QPointF(curve.place(number).x() + 1, 50))
    assert told == [0, 11, 29]


def test_hovering_changes_the_picture_and_leaving_brings_it_back(curve):
    before = curve.grab().toImage()
    move(curve, QPointF(curve.place(7).x(), 50))
    assert curve.grab().toImage() != before
    QApplication.sendEvent(curve, QEvent(QEvent.Type.Leave))
    assert curve.grab().toImage() == before


def test_arrows_go_from_point_to_point_and_return_chooses(qtbot, curve):
    told = []
    curve.point_clicked.connect(told.append)
    qtbot.keyClick(curve, Qt.Key.Key_Return)
    for _ in range(3):
        qtbot.keyClick(curve, Qt.Key.Key_Right)
    qtbot.keyClick(curve, Qt.Key.Key_Return)
    qtbot.keyClick(curve, Qt.Key.Key_Left)
    qtbot.keyClick(curve, Qt.Key.Key_Space)
    assert told == [2, 1]


def test_a_marked_place_is_seen(curve):
    before = curve.grab().toImage()
    curve.set_marked(7)
    assert curve.grab().toImage() != before
    curve.set_marked(None)
    assert curve.grab().toImage() == before


def test_words_tell_the_highest_point(curve):
    assert curve.accessibleDescription() == "30 points; most at atom = 1: 5,000"


@pytest.mark.parametrize("values", [[], [3.0], [0.0, 0.0], [-1.0, 2.0], [1e-12, 1e12]])
@pytest.mark.parametrize("is_logarithmic", [False, True])
def test_unusual_series_are_drawn(qtbot, values, is_logarithmic):
    curve = made(qtbot, values, is_logarithmic=is_logarithmic)
    curve.set_marked(5)
    move(curve, QPointF(160, 50))
    assert not curve.grab().isNull()


def test_small_values_are_told_apart_and_none_lies_below_them(qtbot):
    curve = made(qtbot, [1e4, 1e2, 1.0, 0.0], is_logarithmic=True)
    places = [curve.place(number).y() for number in range(4)]
    assert np.diff(places[:3]) == pytest.approx(np.diff(places[:2])[0])
    assert places[2] < places[3] < curve.height()


def test_values_that_hardly_change_fill_the_height(qtbot):
    curve = made(qtbot, [2800.0, 2830.0, 2841.0])
    assert curve.place(0).y() - curve.place(2).y() > 0.5 * curve.height()


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
