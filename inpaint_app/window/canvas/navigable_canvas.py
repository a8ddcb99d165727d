"""A picture that is moved and enlarged by mouse and keyboard."""

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QFocusEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit

from inpaint_app.window.canvas.picture_canvas import PictureCanvas
from inpaint_app.window.canvas.viewport import ZOOM_STEP, Viewport

_NOTCH = 120
_KEY_PAN = 64
_DRAGGING = (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton)


class NavigableCanvas(PictureCanvas):
    """Shows a picture that the user can pan and zoom.

    The wheel zooms at the pointer; dragging with the left or the middle button moves the picture, and so
    does Space with the left button where that does something else; a double-click fits it. With the
    keyboard: arrows, plus and minus.

    Parameters
    ----------
    viewport : Viewport
        What is seen; the canvas tells it its size while it is visible.
    """

    hovered = Signal(int, int)
    """Row and column of the pixel under the pointer."""
    hover_left = Signal()
    """The pointer has left the picture."""

    def __init__(self, viewport: Viewport) -> None:
        super().__init__(viewport)
        self.is_space_held = False
        self._dragged_from: QPointF | None = None
        self._pixel: tuple[int, int] | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer."""
        delta = event.angleDelta().y()
        if delta and self.has_picture:
            self.viewport.zoom_by(ZOOM_STEP ** (delta / _NOTCH), self.place_at(event.position()))
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Zoom by a pinch gesture."""
        if (
            isinstance(event, QNativeGestureEvent)
            and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture
        ):
            self.viewport.zoom_by(1 + event.value(), self.place_at(event.position()))
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to move the picture."""
        if self.has_picture and event.button() in _DRAGGING:
            self._dragged_from = event.position()
            self.update_cursor()
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the picture, and report the pixel under the pointer."""
        if self._dragged_from is not None:
            moved = (event.position() - self._dragged_from) * self.devicePixelRatioF()
            self._dragged_from = event.position()
            self.viewport.pan(moved.x(), moved.y())
        self._hover(self.pixel_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Stop moving the picture."""
        if event.button() in _DRAGGING:
            self._dragged_from = None
            self.update_cursor()
        else:
            super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Fit the picture."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.viewport.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move and zoom by keys; Space makes the left button move the picture."""
        moves = {
            Qt.Key.Key_Left: (_KEY_PAN, 0),
            Qt.Key.Key_Right: (-_KEY_PAN, 0),
            Qt.Key.Key_Up: (0, _KEY_PAN),
            Qt.Key.Key_Down: (0, -_KEY_PAN),
        }
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Space:
            self._hold_space(True)
        elif key in moves:
            self.viewport.pan(*moves[key])
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.viewport.zoom_in()
        elif key == Qt.Key.Key_Minus:
            self.viewport.zoom_out()
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """Note that Space was released."""
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._hold_space(False)
        else:
            super().keyReleaseEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Treat Space as released: that event goes elsewhere."""
        self._hold_space(False)
        super().focusOutEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Take the keyboard focus, unless text is being typed."""
        writing = isinstance(QApplication.focusWidget(), QLineEdit | QAbstractSpinBox)
        if not writing and self.window().isActiveWindow():
            self.setFocus(Qt.FocusReason.MouseFocusReason)
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Report that no pixel is under the pointer."""
        self._hover(None)
        super().leaveEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop dragging and hovering."""
        self._dragged_from = None
        self._hover(None)
        super().hideEvent(event)

    def update_cursor(self) -> None:
        """Show what a press of the left button would do."""
        if self._dragged_from is not None:
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        elif self.is_space_held:
            self.setCursor(Qt.CursorShape.OpenHandCursor)
        else:
            self.setCursor(self.idle_cursor())

    def idle_cursor(self) -> Qt.CursorShape:
        """Return the cursor over the picture when nothing is dragged."""
        return Qt.CursorShape.ArrowCursor

    def _hold_space(self, held: bool) -> None:
        self.is_space_held = held
        self.update_cursor()

    def _hover(self, pixel: tuple[int, int] | None) -> None:
        if pixel == self._pixel:
            return
        self._pixel = pixel
        if pixel is None:
            self.hover_left.emit()
        else:
            self.hovered.emit(*pixel)
