"""A canvas with a tool: what the left button does, what Escape cancels, what is outlined."""

import numpy as np
import pytest
from gestures import LEFT, MIDDLE, double_click, drag, move, press, release
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QKeySequence, QPainterPath, QPointingDevice, QShortcut, QTabletEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from windows import at, opened

from inpaint_app.window.canvas.tools.brushes import Brush
from inpaint_app.window.canvas.tools.tool import Place, Tool


class Recorder(Tool):
    """Writes down what is asked of it; outlines a square at the pointer."""

    side = 10

    def __init__(self) -> None:
        super().__init__(session=None)
        self.calls: list[tuple] = []

    def press(self, place: Place) -> None:
        self.is_active = True
        self.calls.append(("press", *place))

    def move(self, place: Place) -> None:
        self.calls.append(("move", *place))

    def release(self) -> None:
        self.is_active = False
        self.calls.append(("release",))

    def cancel(self) -> None:
        self.is_active = False
        self.calls.append(("cancel",))

    def outline(self, pointer: Place | None) -> QPainterPath | None:
        if pointer is None:
            return None
        path = QPainterPath()
        path.addRect(pointer.column, pointer.row, self.side, self.side)
        return path

    @property
    def names(self) -> list[str]:
        return [name for name, *_ in self.calls]


@pytest.fixture
def tool(canvas):
    made = Recorder()
    canvas.set_tool(made)
    return made


def test_the_left_button_is_the_tools_with_places_of_the_picture(canvas, tool):
    drag(canvas, at(canvas, 10, 20), at(canvas, 15, 25), at(canvas, 20, 70))
    assert tool.names == ["press", "move", "move", "move", "release"]
    assert tool.calls[0][1:] == pytest.approx((10, 20), abs=0.3)
    assert tool.calls[2][1:] == pytest.approx((20, 70), abs=0.3)
    assert canvas.viewport.is_fitted


def test_a_pointer_that_only_passes_does_nothing(canvas, tool):
    move(canvas, at(canvas, 10, 20))
    assert tool.calls == []


def test_middle_button_and_space_still_move_the_picture(canvas, tool):
    canvas.viewport.set_zoom(20)
    before = canvas.viewport.center
    drag(canvas, QPointF(100, 100), QPointF(140, 120), button=MIDDLE)
    assert canvas.viewport.center != before
    QTest.keyPress(canvas, Qt.Key.Key_Space)
    drag(canvas, QPointF(140, 120), QPointF(100, 100))
    QTest.keyRelease(canvas, Qt.Key.Key_Space)
    assert canvas.viewport.center == pytest.approx(before)
    assert tool.calls == []


def test_a_double_click_is_two_presses(canvas, tool):
    canvas.viewport.set_zoom(20)
    double_click(canvas)
    assert tool.names.count("press") == 2
    assert not canvas.viewport.is_fitted


def test_escape_cancels(canvas, tool):
    press(canvas, at(canvas, 10, 20))
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    release(canvas, at(canvas, 10, 20))
    assert tool.names == ["press", "cancel"]


def test_escape_reaches_the_tool_before_any_shortcut_of_the_window(canvas, tool):
    shortcuts = []
    QShortcut(QKeySequence("Esc"), canvas).activated.connect(lambda: shortcuts.append("Esc"))
    canvas.setFocus()
    press(canvas, at(canvas, 10, 20))
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert (shortcuts, tool.names) == ([], ["press", "cancel"])
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert shortcuts == ["Esc"]


@pytest.mark.parametrize("interrupt", [lambda canvas: canvas.hide(), lambda canvas: canvas.set_tool(None)])
def test_what_is_interrupted_ends(canvas, tool, interrupt):
    press(canvas, at(canvas, 10, 20))
    interrupt(canvas)
    assert tool.names == ["press", "release"]


def test_what_cannot_end_halfway_is_cancelled(canvas, tool):
    tool.release = lambda: None
    press(canvas, at(canvas, 10, 20))
    release(canvas, at(canvas, 10, 20))
    assert tool.is_active, "such as a polygon, which takes several clicks"
    canvas.set_tool(None)
    assert tool.names[-1] == "cancel"


def test_the_cursor_is_the_tools(canvas, tool):
    assert canvas.cursor().shape() == Qt.CursorShape.CrossCursor
    canvas.set_tool(None)
    assert canvas.cursor().shape() == Qt.CursorShape.ArrowCursor


def test_the_outline_follows_the_pointer_and_leaves_with_it(canvas, tool):
    before = canvas.grab().toImage()
    move(canvas, at(canvas, 30, 40))
    there = canvas.grab().toImage()
    move(canvas, at(canvas, 30, 60))
    assert there not in (before, canvas.grab().toImage())
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    assert canvas.grab().toImage() == before


def test_an_outline_of_a_few_screen_pixels_is_not_drawn(canvas, tool):
    tool.side = 1
    before = canvas.grab().toImage()
    move(canvas, at(canvas, 30, 40), LEFT)
    assert canvas.grab().toImage() == before


def test_a_pen_paints_as_wide_as_it_is_pressed_hard(canvas, session, qtbot, files) -> None:
    opened(session, qtbot, files["whole"])
    session.document.set_view(session.state.view.with_brush(20))
    canvas.set_tool(Brush(session))
    pen(canvas, QEvent.Type.TabletPress, 0.5)
    drag(canvas, at(canvas, 30, 40), at(canvas, 30, 60))
    assert 9 <= np.count_nonzero(session.document.mask[:, 50]) <= 11
    pen(canvas, QEvent.Type.TabletRelease, 0.0)
    drag(canvas, at(canvas, 30, 20))
    assert np.count_nonzero(session.document.mask[:, 20]) > 18, "a mouse has no pressure"


def pen(canvas, kind: QEvent.Type, pressure: float) -> None:
    place = QPointF(10, 10)
    event = QTabletEvent(
        kind, QPointingDevice.primaryPointingDevice(), place, place, pressure, 0, 0, 0, 0, 0,
        Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton, Qt.MouseButton.LeftButton,
    )  # fmt: skip
    QApplication.sendEvent(canvas, event)
    assert not event.isAccepted(), "Qt makes events of the mouse of it"
