"""A sentence across the window: what went wrong, and what to do."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from inpaint_app.window.theme.colors import colors_of
from inpaint_app.window.theme.icons import icon

_MARK = 20


class Banner(QFrame):
    """Shows a problem until it is closed or another one comes; never in the way."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = QLabel()
        self._words.setWordWrap(True)
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._mark, self._close = QLabel(), QToolButton()
        self._close.setAutoRaise(True)
        self._close.setToolTip("Close this message.")
        self._close.setAccessibleName("Close the message")
        self._close.clicked.connect(self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 8)
        layout.setSpacing(10)
        layout.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self._words, 1)
        layout.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self._draw_icons()
        self.hide()

    @property
    def text(self) -> str:
        """The sentence that is shown; empty while there is none."""
        return "" if self.isHidden() else self._words.text()

    def show_message(self, sentence: str) -> None:
        """Show a problem."""
        self._words.setText(sentence)
        self._words.setAccessibleName(self._words.text())
        self.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the background."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), colors_of(self.palette()).trouble)
        painter.end()

    def changeEvent(self, event: QEvent) -> None:
        """Follow another palette."""
        if event.type() == QEvent.Type.PaletteChange:
            self._draw_icons()
        super().changeEvent(event)

    def _draw_icons(self) -> None:
        self._mark.setPixmap(icon("warning", self.palette()).pixmap(_MARK, _MARK))
        self._close.setIcon(icon("close", self.palette()))
