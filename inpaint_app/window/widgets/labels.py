"""Labels: soft, shortened to fit, and a word that marks something."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel

from inpaint_app.window.theme.colors import colors_of
from inpaint_app.window.widgets.fields import tooltip


def scaled_font(font: QFont, factor: float, *, bold: bool = False) -> QFont:
    """Return a font some times as large."""
    scaled = QFont(font)
    scaled.setPointSizeF(font.pointSizeF() * factor)
    if bold:
        scaled.setWeight(QFont.Weight.DemiBold)
    return scaled


class SecondaryLabel(QLabel):
    """A label in a fainter color, which follows the palette around it."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._soften()

    def changeEvent(self, event: QEvent) -> None:
        """Follow another palette."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._soften()

    def _soften(self) -> None:
        color = colors_of(self.palette()).soft_text
        if self.palette().color(QPalette.ColorRole.WindowText) != color:
            # Only this role is set: the others go on following the palette around.
            palette = QPalette()
            palette.setColor(QPalette.ColorRole.WindowText, color)
            self.setPalette(palette)


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
