"""Widgets that lie over another one, so that it does not move when they come and go."""

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inpaint_app.window.widgets.fields import fill

_WIDTH, _GAP = 760, 12


class Overlay(QWidget):
    """Some widgets below each other, at the upper or the lower edge of a widget that they cover a part of."""

    def __init__(self, covered: QWidget, *parts: QWidget, edge: Qt.Edge = Qt.Edge.TopEdge) -> None:
        super().__init__(covered)
        self._covered, self._edge, self._gap = covered, edge, _GAP
        self.column = fill(QVBoxLayout(self), *parts, spacing=8)  #: Where more may be put.
        covered.installEventFilter(self)

    def leave_out(self, height: int) -> None:
        """Leave a part at the edge uncovered."""
        self._gap = max(height, _GAP)
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay at the edge of what is covered."""
        if watched is self._covered and event.type() == QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Take as much room as the widgets in sight need."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
        return super().event(event)

    def _place(self) -> None:
        layout, room = self.column, self._covered.size()
        width = min(room.width() - 2 * _GAP, _WIDTH)
        height = layout.heightForWidth(width) if layout.hasHeightForWidth() else layout.sizeHint().height()
        is_above = self._edge == Qt.Edge.TopEdge
        top = self._gap if is_above else room.height() - height - self._gap
        self.setGeometry((room.width() - width) // 2, top, width, height)
        self.raise_()


_LINE = 4
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
        painter.setPen(QPen(palette.color(QPalette.ColorRole.Highlight), _LINE))
        margin = 2 * _LINE
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(margin, margin, -margin, -margin), 8, 8)
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        area = self.rect().adjusted(24, 24, -24, -24)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._words)
