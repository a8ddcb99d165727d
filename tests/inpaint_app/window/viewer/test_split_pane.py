"""Before and after, with a line between them."""

import numpy as np
import pytest
from gestures import double_click, drag, move, press, release
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest

from inpaint_app.window.canvas.viewport import Viewport
from inpaint_app.window.viewer.split_pane import SplitPane

BEFORE, AFTER = 60, 200


@pytest.fixture
def pane(qtbot):
    shown = SplitPane(Viewport(), "Before and after")
    qtbot.addWidget(shown)
    shown.resize(400, 360)
    shown.set_images(np.full((80, 100), BEFORE, np.uint8), np.full((80, 100), AFTER, np.uint8))
    shown.show()
    qtbot.waitExposed(shown)
    return shown


def gray_at(pane, part: float) -> int:
    image = pane.canvas.grab().toImage()
    return QColor(image.pixel(int(part * (image.width() - 1)), image.height() - 40)).red()


def at(pane, part: float, y: float = 250) -> QPointF:
    return QPointF(part * pane.canvas.width(), y)


def test_each_picture_is_on_its_side(pane):
    assert (gray_at(pane, 0.3), gray_at(pane, 0.7)) == (BEFORE, AFTER)
    pane.set_divider(0.8)
    assert (gray_at(pane, 0.7), gray_at(pane, 0.9)) == (BEFORE, AFTER)


@pytest.mark.parametrize(("place", "shown"), [(0, AFTER), (1, BEFORE)])
def test_at_the_borders_one_picture_is_left(pane, place, shown):
    pane.set_divider(place)
    assert gray_at(pane, 0.1) == gray_at(pane, 0.9) == shown


def test_the_line_is_dragged_within_the_pane(pane):
    places = []
    pane.divider_moved.connect(places.append)
    drag(pane.canvas, at(pane, 0.5), at(pane, 0.6), at(pane, 0.25))
    assert places == pytest.approx([0.6, 0.25])
    drag(pane.canvas, at(pane, 0.25), at(pane, 3))
    assert pane.canvas.divider == 1


def test_dragging_elsewhere_moves_the_picture(pane):
    pane.canvas.viewport.set_zoom(20)
    center = pane.canvas.viewport.center
    drag(pane.canvas, at(pane, 0.2), at(pane, 0.4))
    assert pane.canvas.divider == 0.5
    assert pane.canvas.viewport.center != center


def test_keys_move_the_line(pane):
    QTest.keyClick(pane.canvas, Qt.Key.Key_Right)
    assert pane.canvas.divider > 0.5
    QTest.keyClick(pane.canvas, Qt.Key.Key_Left)
    assert pane.canvas.divider == pytest.approx(0.5)
    QTest.keyClick(pane.canvas, Qt.Key.Key_End)
    assert pane.canvas.divider == 1
    QTest.keyClick(pane.canvas, Qt.Key.Key_Home)
    QTest.keyClick(pane.canvas, Qt.Key.Key_Left)
    assert pane.canvas.divider == 0


def test_double_click_on_the_line_centers_it_and_elsewhere_fits(pane):
    pane.set_divider(0.7)
    pane.canvas.viewport.set_zoom(20)
    double_click(pane.canvas, at(pane, 0.7))
    assert pane.canvas.divider == 0.5
    assert not pane.canvas.viewport.is_fitted
    double_click(pane.canvas, at(pane, 0.1))
    assert pane.canvas.viewport.is_fitted


def test_while_the_right_button_is_held_the_first_picture_is_alone(pane):
    press(pane.canvas, at(pane, 0.9), Qt.MouseButton.RightButton)
    assert gray_at(pane, 0.9) == BEFORE
    release(pane.canvas, at(pane, 0.9), Qt.MouseButton.RightButton)
    assert gray_at(pane, 0.9) == AFTER


def test_the_pointer_shows_where_the_line_can_be_taken(pane):
    move(pane.canvas, at(pane, 0.5))
    assert pane.canvas.cursor().shape() == Qt.CursorShape.SplitHCursor
    move(pane.canvas, at(pane, 0.1))
    assert pane.canvas.cursor().shape() == Qt.CursorShape.ArrowCursor


def test_without_a_second_picture_the_first_is_shown_alone(pane):
    pane.set_images(np.full((80, 100), BEFORE, np.uint8), None)
    assert gray_at(pane, 0.9) == BEFORE
    drag(pane.canvas, at(pane, 0.5), at(pane, 0.25))
    assert pane.canvas.divider == 0.5
