"""What a user does with mouse and keyboard, sent to a widget."""

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

LEFT, MIDDLE = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton
NO_BUTTON, NO_KEY = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
SHIFT, ALT = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier


def wheel(widget: QWidget, notches: float, at: QPointF | None = None, keys=NO_KEY) -> bool:
    """Turn the wheel over a widget; return whether the widget took it."""
    place = at or QPointF(widget.rect().center())
    event = QWheelEvent(
        place,
        widget.mapToGlobal(place),
        QPoint(),
        QPoint(0, round(120 * notches)),
        NO_BUTTON,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


def mouse(
    widget: QWidget, kind: QEvent.Type, at: QPointF, button=NO_BUTTON, held=NO_BUTTON, keys=NO_KEY
) -> None:
    """Send one event of the mouse."""
    QApplication.sendEvent(widget, QMouseEvent(kind, at, widget.mapToGlobal(at), button, held, keys))


def press(widget: QWidget, at: QPointF, button=LEFT, keys=NO_KEY) -> None:
    mouse(widget, QEvent.Type.MouseButtonPress, at, button, button, keys)


def click(widget: QWidget, at: QPointF, keys=NO_KEY) -> None:
    press(widget, at, keys=keys)
    release(widget, at)


def move(widget: QWidget, at: QPointF, held=NO_BUTTON) -> None:
    mouse(widget, QEvent.Type.MouseMove, at, NO_BUTTON, held)


def release(widget: QWidget, at: QPointF, button=LEFT) -> None:
    mouse(widget, QEvent.Type.MouseButtonRelease, at, button)


def drag(widget: QWidget, *points: QPointF, button=LEFT) -> None:
    """Press at the first point, move through the others, release at the last."""
    press(widget, points[0], button)
    for point in points[1:]:
        move(widget, point, button)
    release(widget, points[-1], button)


def double_click(widget: QWidget, at: QPointF | None = None) -> None:
    place = at or QPointF(widget.rect().center())
    press(widget, place)
    release(widget, place)
    mouse(widget, QEvent.Type.MouseButtonDblClick, place, LEFT, LEFT)
    release(widget, place)
