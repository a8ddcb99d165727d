"""A word that marks something."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel

from inpaint_app.window.theme.colors import colors_of


class Badge(QLabel):
    """A word in a rounded frame, such as "preview"; nothing while it is empty."""

    def __init__(self) -> None:
        super().__init__()
        self.setContentsMargins(8, 1, 8, 1)
        self.hide()

    def set_text(self, text: str) -> None:
        """Change the word."""
        self.setText(text)
        self.setAccessibleName(text)
        self.setVisible(bool(text))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame behind the word."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors_of(self.palette()).notice)
        frame = QRectF(self.rect())
        painter.drawRoundedRect(frame, frame.height() / 2, frame.height() / 2)
        painter.end()
        super().paintEvent(event)
