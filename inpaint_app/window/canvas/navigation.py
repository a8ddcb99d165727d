"""A picture is moved and enlarged by mouse and keyboard."""

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QNativeGestureEvent, QWheelEvent

from inpaint_app.window.canvas.part import CanvasPart
from inpaint_app.window.canvas.surface import Surface
from inpaint_app.window.canvas.viewport import ZOOM_STEP

_NOTCH = 120
_KEY_PAN = 64
_DRAGGING = (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton)


class Navigation(CanvasPart):
    """Pans and zooms.

    The wheel zooms at the pointer; dragging with the left or the middle button moves the picture, and so
    does Space with the left button where that does something else; a double-click fits it. With the
    keyboard: arrows, plus and minus.
    """

    def __init__(self, surface: Surface) -> None:
        super().__init__(surface)
        self._surface, self._viewport = surface, surface.viewport
        self.is_space_held = False
        self._dragged_from: QPointF | None = None
        self._pixel: tuple[int, int] | None = None

    def turn_wheel(self, event: QWheelEvent) -> bool:
        """Zoom at the pointer."""
        delta = event.angleDelta().y()
        if delta and self._surface.has_picture:
            self._viewport.zoom_by(ZOOM_STEP ** (delta / _NOTCH), self._surface.place_at(event.position()))
        return True

    def pinch(self, event: QNativeGestureEvent) -> bool:
        """Zoom by a pinch gesture."""
        if event.gestureType() != Qt.NativeGestureType.ZoomNativeGesture:
            return False
        self._viewport.zoom_by(1 + event.value(), self._surface.place_at(event.position()))
        return True

    def press(self, event: QMouseEvent) -> bool:
        """Begin to move the picture."""
        if not self._surface.has_picture or event.button() not in _DRAGGING:
            return False
        self._drag_from(event.position())
        return True

    def move(self, event: QMouseEvent) -> None:
        """Move the picture, and report the pixel under the pointer."""
        if self._dragged_from is not None:
            moved = (event.position() - self._dragged_from) * self._surface.devicePixelRatioF()
            self._dragged_from = event.position()
            self._viewport.pan(moved.x(), moved.y())
        self._hover(self._surface.pixel_at(event.position()))

    def release(self, event: QMouseEvent) -> bool:
        """Stop moving the picture."""
        if event.button() not in _DRAGGING:
            return False
        self._drag_from(None)
        return True

    def double_click(self, event: QMouseEvent) -> bool:
        """Fit the picture."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._viewport.fit()
        return True

    def press_key(self, event: QKeyEvent) -> bool:
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
            self._viewport.pan(*moves[key])
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self._viewport.zoom_step(1)
        elif key == Qt.Key.Key_Minus:
            self._viewport.zoom_step(-1)
        else:
            return False
        return True

    def release_key(self, event: QKeyEvent) -> bool:
        """Note that Space was released."""
        if event.key() != Qt.Key.Key_Space or event.isAutoRepeat():
            return False
        self._hold_space(False)
        return True

    def lose_focus(self, _event: QEvent) -> None:
        """Treat Space as released."""
        self._hold_space(False)

    def leave(self, _event: QEvent) -> None:
        """Report that no pixel is under the pointer."""
        self._hover(None)

    def hide(self, _event: QEvent) -> None:
        """Stop dragging and hovering."""
        self._dragged_from = None
        self._hover(None)

    @property
    def cursor(self) -> Qt.CursorShape | None:
        """A hand, where the left button moves the picture."""
        if self._dragged_from is not None:
            return Qt.CursorShape.ClosedHandCursor
        return Qt.CursorShape.OpenHandCursor if self.is_space_held else None

    def _drag_from(self, position: QPointF | None) -> None:
        self._dragged_from = position
        self._surface.update_cursor()

    def _hold_space(self, held: bool) -> None:
        self.is_space_held = held
        self._surface.update_cursor()

    def _hover(self, pixel: tuple[int, int] | None) -> None:
        if pixel == self._pixel:
            return
        self._pixel = pixel
        if pixel is None:
            self._surface.hover_left.emit()
        else:
            self._surface.hovered.emit(*pixel)
