"""What a canvas is composed of, besides the picture."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from inpaint_app.window.canvas.layers import Geometry

#: The method by which a part answers to an event, if it has that.
_ANSWERS = {
    QEvent.Type.MouseButtonPress: "press",
    QEvent.Type.MouseMove: "move",
    QEvent.Type.MouseButtonRelease: "release",
    QEvent.Type.MouseButtonDblClick: "double_click",
    QEvent.Type.Wheel: "turn_wheel",
    QEvent.Type.NativeGesture: "pinch",
    QEvent.Type.TabletPress: "press_pen",
    QEvent.Type.TabletMove: "press_pen",
    QEvent.Type.TabletRelease: "press_pen",
    QEvent.Type.ShortcutOverride: "override",
    QEvent.Type.KeyPress: "press_key",
    QEvent.Type.KeyRelease: "release_key",
    QEvent.Type.Leave: "leave",
    QEvent.Type.FocusOut: "lose_focus",
    QEvent.Type.Hide: "hide",
}


class CanvasPart(QObject):
    """Answers to mouse and keyboard, and draws on the picture: an event filter of the canvas.

    Of the parts of a canvas, the first whose method returns True takes an event, and the others do not see
    it; what returns nothing lets all of them see it.
    """

    uses_right_button = False  #: Whether the right button does something else than open a menu.

    def __init__(self, canvas: QWidget) -> None:
        super().__init__(canvas)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Answer to an event."""
        answer = getattr(self, _ANSWERS.get(event.type(), ""), None)
        is_taken = answer is not None and bool(answer(event))
        if is_taken:
            event.accept()
        return is_taken

    @property
    def cursor(self) -> Qt.CursorShape | None:
        """The cursor over the picture; None for any."""
        return None

    def draw(self, painter: QPainter, geometry: Geometry) -> None:
        """Draw on top of the picture, in screen pixels."""
