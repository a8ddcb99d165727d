"""What a canvas is composed of, besides the picture."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QWheelEvent

from inpaint_app.window.canvas.layers import Geometry


class CanvasPart:
    """Answers to mouse and keyboard, and draws on the picture.

    Of the parts of a canvas, the first that returns True takes an event, and the others do not see it;
    events without an answer go to all of them.
    """

    uses_right_button = False  #: Whether the right button does something else than open a menu.

    def press(self, event: QMouseEvent) -> bool:
        """Answer to a button that is pressed."""
        return False

    def move(self, event: QMouseEvent) -> None:
        """Follow the pointer."""

    def release(self, event: QMouseEvent) -> bool:
        """Answer to a button that is released."""
        return False

    def double_click(self, event: QMouseEvent) -> bool:
        """Answer to a second click."""
        return False

    def turn_wheel(self, event: QWheelEvent) -> bool:
        """Answer to the wheel."""
        return False

    def press_key(self, event: QKeyEvent) -> bool:
        """Answer to a key."""
        return False

    def release_key(self, event: QKeyEvent) -> bool:
        """Answer to a key that is released."""
        return False

    def take_event(self, event: QEvent) -> bool:
        """Answer to an event of another kind."""
        return False

    def leave(self) -> None:
        """Note that the pointer has left."""

    def lose_focus(self) -> None:
        """Note that keys and buttons may be released elsewhere."""

    def hide(self) -> None:
        """Note that nothing is seen any more."""

    @property
    def cursor(self) -> Qt.CursorShape | None:
        """The cursor over the picture; None for any."""
        return None

    def draw(self, painter: QPainter, geometry: Geometry) -> None:
        """Draw on top of the picture, in screen pixels."""
