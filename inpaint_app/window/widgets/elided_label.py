"""A line of text that becomes shorter, or ends with dots, where there is too little room."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel

from inpaint_app.window.widgets.tooltip import tooltip


class ElidedLabel(QLabel):
    """A label that may become narrower than its text; the tooltip then has all of it."""

    def __init__(self) -> None:
        super().__init__()
        self._shorter: tuple[str, ...] = ()
        self.setTextFormat(Qt.TextFormat.PlainText)

    def set_text(self, text: str, *shorter: str) -> None:
        """Change the text, and shorter forms for less and less room."""
        self._shorter = shorter
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
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(area, self.alignment(), self.fitting_text(area.width()))

    def fitting_text(self, width: int) -> str:
        """Return the longest text that fits a width; the shortest with dots if none does."""
        metrics, texts = self.fontMetrics(), (self.text(), *self._shorter)
        fitting = (text for text in texts if metrics.horizontalAdvance(text) <= width)
        return next(fitting, metrics.elidedText(texts[-1], Qt.TextElideMode.ElideRight, width))
