"""A label for notes and hints."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel

from inpaint_app.window.theme.colors import colors_of


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
