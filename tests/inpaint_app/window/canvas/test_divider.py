"""Before and after, with a line between them."""

from unittest.mock import Mock

import numpy as np
import pytest
from gestures import double_click, drag, mouse, move, press, release
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest

from inpaint_app.window.canvas.canvas import Canvas
from inpaint_app.window.canvas.image_pyramid import build_pyramid
from inpaint_app.window.canvas.layers import Content
from inpaint_app.window.canvas.tools.tool import Tool
from inpaint_app.window.canvas.viewport import Viewport

BEFORE, AFTER = 60, 200


def even(shade: int):
    return build_pyramid(np.full((80, 100), shade, np.uint8))


@pytest.fixture
def canvas(qtbot):
    shown = Canvas(Viewport(), is_split=True)
    qtbot.addWidget(shown)
    shown.resize(400, 300)
    shown.set_content(Content(even(BEFORE), even(AFTER), ("Before", "After")))
    shown.show()
    qtbot.waitExposed(shown)
    return shown


def gray_at(canvas, part: float) -> int:
    image = canvas.grab().toImage()
    return QColor(image.pixel(int(part * (image.width() - 1)), image.height() - 40)).red()


def at(canvas, part: float, y: float = 250) -> QPointF:
    return QPointF(part * canvas.width(), y)


def test_each_picture_is_on_its_side(canvas):
    assert (gray_at(canvas, 0.3), gray_at(canvas, 0.7)) == (BEFORE, AFTER)
    canvas.divider.move_to(0.8)
    assert (gray_at(canvas, 0.7), gray_at(canvas, 0.9)) == (BEFORE, AFTER)


@pytest.mark.parametrize(("place", "shown"), [(0, AFTER), (1, BEFORE)])
def test_at_the_borders_one_picture_is_left(canvas, place, shown):
    canvas.divider.move_to(place)
    assert gray_at(canvas, 0.1) == gray_at(canvas, 0.9) == shown


def test_the_line_is_dragged_within_the_pane(canvas):
    drag(canvas, at(canvas, 0.5), at(canvas, 0.6), at(canvas, 0.25))
    assert canvas.divider.place == pytest.approx(0.25)
    drag(canvas, at(canvas, 0.25), at(canvas, 3))
    assert canvas.divider.place == 1


def test_dragging_elsewhere_moves_the_picture(canvas):
    canvas.viewport.set_zoom(20)
    center = canvas.viewport.center
    drag(canvas, at(canvas, 0.2), at(canvas, 0.4))
    assert canvas.divider.place == 0.5
    assert canvas.viewport.center != center


def test_keys_move_the_line(canvas):
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    assert canvas.divider.place > 0.5
    QTest.keyClick(canvas, Qt.Key.Key_Left)
    assert canvas.divider.place == pytest.approx(0.5)
    QTest.keyClick(canvas, Qt.Key.Key_End)
    assert canvas.divider.place == 1
    QTest.keyClick(canvas, Qt.Key.Key_Home)
    QTest.keyClick(canvas, Qt.Key.Key_Left)
    assert canvas.divider.place == 0


def test_double_click_on_the_line_centers_it_and_elsewhere_fits(canvas):
    canvas.divider.move_to(0.7)
    canvas.viewport.set_zoom(20)
    double_click(canvas, at(canvas, 0.7))
    assert canvas.divider.place == 0.5
    assert not canvas.viewport.is_fitted
    double_click(canvas, at(canvas, 0.1))
    assert canvas.viewport.is_fitted


def test_while_the_right_button_is_held_the_first_picture_is_alone(canvas):
    press(canvas, at(canvas, 0.9), Qt.MouseButton.RightButton)
    assert gray_at(canvas, 0.9) == BEFORE
    release(canvas, at(canvas, 0.9), Qt.MouseButton.RightButton)
    assert gray_at(canvas, 0.9) == AFTER


def test_the_right_button_shows_it_alone_with_a_tool_too_however_fast_it_is_pressed_again(canvas):
    tool = Mock(spec=Tool, is_active=False, cursor=None, uses_right_button=True)
    tool.outline.return_value = None
    canvas.set_tool(tool)
    press(canvas, at(canvas, 0.9), Qt.MouseButton.RightButton)
    release(canvas, at(canvas, 0.9), Qt.MouseButton.RightButton)
    mouse(canvas, QEvent.Type.MouseButtonDblClick, at(canvas, 0.9), Qt.MouseButton.RightButton)
    assert gray_at(canvas, 0.9) == BEFORE
    tool.press.assert_not_called()
    release(canvas, at(canvas, 0.9), Qt.MouseButton.RightButton)
    assert gray_at(canvas, 0.9) == AFTER


def test_the_pointer_shows_where_the_line_can_be_taken(canvas):
    move(canvas, at(canvas, 0.5))
    assert canvas.cursor().shape() == Qt.CursorShape.SplitHCursor
    move(canvas, at(canvas, 0.1))
    assert canvas.cursor().shape() == Qt.CursorShape.ArrowCursor


def test_without_a_second_picture_the_first_is_shown_alone(canvas):
    canvas.set_content(Content(even(BEFORE)))
    assert gray_at(canvas, 0.9) == BEFORE
    drag(canvas, at(canvas, 0.5), at(canvas, 0.25))
    assert canvas.divider.place == 0.5
