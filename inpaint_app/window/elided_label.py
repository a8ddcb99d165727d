"""A line of text that ends with dots where there is no room for all of it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from inpaint_app.window.tooltip import tooltip


class ElidedLabel(QLabel):
    """A label that may become narrower than its text; the tooltip then has all of it.

    Parameters
    ----------
    text : str
        One line of plain text.
    parent : QWidget, optional
    """

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.set_text(text)

    def set_text(self, text: str) -> None:
        """Change the text."""
        self.setText(text)
        self.setAccessibleName(text)
        self.setToolTip(tooltip(text))

    def minimumSizeHint(self) -> QSize:
        """Return a size for the dots alone."""
        return QSize(self.fontMetrics().horizontalAdvance("…"), super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what there is room for."""
        painter = QPainter(self)
        area = self.contentsRect()
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, area.width())
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(area, self.alignment(), text)
