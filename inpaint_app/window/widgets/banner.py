"""A sentence across the window: what went wrong and what to do, or a hint."""

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton

from inpaint_app.window.theme.colors import colors_of
from inpaint_app.window.theme.icons import icon

_MARK, _ROUND = 20, 6


class Banner(QFrame):
    """Shows a problem until it is closed or another one comes; never in the way.

    Parameters
    ----------
    action : str
        What a button beside the sentence offers; with it, the banner is a hint rather than a problem.
    """

    accepted = Signal()
    """The button was clicked."""
    dismissed = Signal()
    """The user has closed it."""

    def __init__(self, action: str = "") -> None:
        super().__init__()
        self._is_hint = bool(action)
        self._words = QLabel()
        self._words.setWordWrap(True)
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._mark, self._close = QLabel(), QToolButton()
        self._close.setAutoRaise(True)
        self._close.setToolTip("Close this message.")
        self._close.setAccessibleName("Close the message")
        self._close.clicked.connect(self.hide)
        self._close.clicked.connect(self.dismissed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 8)
        layout.setSpacing(10)
        layout.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self._words, 1)
        if action:
            button = QPushButton(action)
            button.clicked.connect(self.accepted)
            layout.addWidget(button)
        layout.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self._draw_icons()
        self.hide()

    @property
    def text(self) -> str:
        """The sentence that is shown; empty while there is none."""
        return "" if self.isHidden() else self._words.text()

    def show_message(self, sentence: str) -> None:
        """Show a sentence; an empty one hides the banner."""
        self._words.setText(sentence)
        self._words.setAccessibleName(sentence)
        self.setVisible(bool(sentence))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the background."""
        painter = QPainter(self)
        colors = colors_of(self.palette())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(colors.rule)
        painter.setBrush(colors.notice if self._is_hint else colors.trouble)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), _ROUND, _ROUND)
        painter.end()

    def changeEvent(self, event: QEvent) -> None:
        """Follow another palette."""
        if event.type() == QEvent.Type.PaletteChange:
            self._draw_icons()
        super().changeEvent(event)

    def _draw_icons(self) -> None:
        self._mark.setPixmap(
            icon("info" if self._is_hint else "warning", self.palette()).pixmap(_MARK, _MARK)
        )
        self._close.setIcon(icon("close", self.palette()))
