"""A choice between a few things, side by side in one frame."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QAction, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from inpaint_app.window.theme.colors import colors_of
from inpaint_app.window.widgets.layouts import fill


class Segments(QWidget):
    """Buttons for actions of which one is on."""

    def __init__(self, actions: Sequence[QAction]) -> None:
        super().__init__()
        buttons = [QToolButton() for _ in actions]
        for button, action in zip(buttons, actions, strict=True):
            button.setDefaultAction(action)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
            button.setAutoRaise(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setMinimumWidth(84)
        fill(QHBoxLayout(self), *buttons, margins=(3, 3, 3, 3), spacing=2)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame."""
        painter, colors = QPainter(self), colors_of(self.palette())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colors.rule, 1))
        painter.setBrush(self.palette().base())
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(frame, 6, 6)
