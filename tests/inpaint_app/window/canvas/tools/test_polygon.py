"""The polygon: corners are clicked, a double-click or Return fills between them."""

import numpy as np
import pytest
from gestures import double_click, move, press, release
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from windows import at, opened

from inpaint_app.window.canvas.tools.areas import Polygon

CORNERS = ((10, 20), (10, 50), (30, 50), (30, 20))


@pytest.fixture
def session(session, qtbot, files):
    return opened(session, qtbot, files["whole"])


@pytest.fixture
def canvas(canvas, session):
    canvas.set_tool(Polygon(session))
    return canvas


def click(canvas, corner: tuple[int, int], button=Qt.MouseButton.LeftButton) -> None:
    press(canvas, at(canvas, *corner), button)
    release(canvas, at(canvas, *corner), button)


def marked(rows: slice, columns: slice) -> np.ndarray:
    mask = np.zeros((72, 96), bool)
    mask[rows, columns] = True
    return mask


def test_return_fills_between_the_corners_in_one_step(canvas, session) -> None:
    for corner in CORNERS:
        click(canvas, corner)
        move(canvas, at(canvas, 40, 40))
    assert not session.document.mask.any()
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    assert np.array_equal(session.document.mask, marked(slice(10, 30), slice(20, 50)))
    for corner in CORNERS[:2]:
        click(canvas, corner, Qt.MouseButton.RightButton)
    click(canvas, (30, 50), Qt.MouseButton.RightButton)
    QTest.keyClick(canvas, Qt.Key.Key_Enter)
    assert not session.document.mask[12, 48], "the right button unmarks"
    session.history.undo()
    assert np.array_equal(session.document.mask, marked(slice(10, 30), slice(20, 50)))


def test_a_double_click_is_the_last_corner(canvas, session) -> None:
    for corner in CORNERS[:3]:
        click(canvas, corner)
    double_click(canvas, at(canvas, *CORNERS[3]))
    assert np.array_equal(session.document.mask, marked(slice(10, 30), slice(20, 50)))


def test_escape_and_another_tool_mark_nothing(canvas, session) -> None:
    for corner in CORNERS:
        click(canvas, corner)
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    for corner in CORNERS:
        click(canvas, corner)
    canvas.set_tool(None)
    assert not session.history.can_undo
