"""Moving and enlarging a picture by mouse and keyboard, and the pixel under the pointer."""

import pytest
from gestures import double_click, drag, move, wheel
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QNativeGestureEvent, QPointingDevice
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from windows import at


def test_wheel_zooms_at_the_pointer(canvas):
    place = QPointF(120, 90)
    before = canvas.place_at(place)
    assert wheel(canvas, 2, place)
    wheel(canvas, 2, place)
    assert canvas.viewport.zoom > 4
    assert canvas.place_at(place) == pytest.approx(before, abs=0.2)


def test_dragging_moves_the_picture(canvas):
    canvas.viewport.set_zoom(20)
    before = canvas.place_at(QPointF(100, 100))
    drag(canvas, QPointF(100, 100), QPointF(110, 105), QPointF(140, 120))
    assert canvas.place_at(QPointF(140, 120)) == pytest.approx(before, abs=0.1)


def test_double_click_fits(canvas):
    canvas.viewport.set_zoom(20)
    double_click(canvas)
    assert canvas.viewport.is_fitted


def test_keys_move_and_zoom(canvas):
    QTest.keyClick(canvas, Qt.Key.Key_Plus)
    assert not canvas.viewport.is_fitted
    canvas.viewport.set_zoom(20)
    x, y = canvas.viewport.center
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    QTest.keyClick(canvas, Qt.Key.Key_Up)
    assert canvas.viewport.center[0] > x
    assert canvas.viewport.center[1] < y
    QTest.keyClick(canvas, Qt.Key.Key_Minus)
    assert canvas.viewport.zoom == pytest.approx(16)


def test_linked_canvases_show_the_same_place(make_canvas, canvas):
    second = make_canvas(canvas.viewport)
    wheel(canvas, 5, QPointF(30, 40))
    assert second.grab().toImage() == canvas.grab().toImage()


def test_hidden_canvases_do_not_count_for_the_size(make_canvas, canvas):
    zoom = canvas.viewport.zoom
    second = make_canvas(canvas.viewport, 150, 150)
    assert canvas.viewport.zoom < zoom
    second.hide()
    assert canvas.viewport.zoom == zoom


def test_the_pixel_under_the_pointer_is_told_once(canvas):
    told = []
    canvas.hovered.connect(lambda row, column: told.append((row, column)))
    canvas.hover_left.connect(lambda: told.append(None))
    canvas.viewport.set_zoom(20)
    move(canvas, at(canvas, 30.2, 45.2))
    move(canvas, at(canvas, 30.8, 45.8))
    move(canvas, at(canvas, 31.5, 45.8))
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    assert told == [(30, 45), (31, 45), None]


def test_beside_the_picture_there_is_no_pixel(canvas):
    told = []
    canvas.hovered.connect(lambda row, column: told.append((row, column)))
    for place in ((-1, 5), (5, -1), (61, 5), (5, 91)):
        move(canvas, at(canvas, *place))
    assert told == []
    move(canvas, at(canvas, 59.5, 89.5))
    assert told == [(59, 89)]


@pytest.mark.parametrize("spread", [0.25, -0.2])
def test_two_fingers_zoom_at_their_place(canvas, spread):
    place, before = QPointF(120, 90), canvas.viewport.zoom
    under, pad = canvas.place_at(place), QPointingDevice.primaryPointingDevice()
    zoom = Qt.NativeGestureType.ZoomNativeGesture
    QApplication.sendEvent(canvas, QNativeGestureEvent(zoom, pad, 2, place, place, place, spread, QPointF()))
    assert canvas.viewport.zoom == pytest.approx(before * (1 + spread))
    if spread > 0:
        assert canvas.place_at(place) == pytest.approx(under, abs=0.2)
