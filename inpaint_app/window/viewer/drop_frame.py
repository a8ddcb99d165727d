"""A frame over a part of the window while something is dragged there that it can open."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QWidget

_WIDTH = 4
_OPACITY = 235


class DropFrame(QWidget):
    """Shows what dropping would do, on top of another widget; hidden otherwise."""

    def __init__(self, covered: QWidget) -> None:
        super().__init__(covered)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._covered, self._words = covered, ""
        self.hide()

    def announce(self, words: str) -> None:
        """Cover the widget with a frame and some words."""
        self._words = words
        self.setGeometry(self._covered.rect())
        self.raise_()
        self.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame, and the words in the middle."""
        painter, palette = QPainter(self), self.palette()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QColor(palette.color(QPalette.ColorRole.Window))
        ground.setAlpha(_OPACITY)
        painter.setBrush(ground)
        painter.setPen(QPen(palette.color(QPalette.ColorRole.Highlight), _WIDTH))
        margin = 2 * _WIDTH
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(margin, margin, -margin, -margin), 8, 8)
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        area = self.rect().adjusted(24, 24, -24, -24)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._words)
