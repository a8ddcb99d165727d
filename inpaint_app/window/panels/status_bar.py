"""The line at the bottom of the window: progress, notices, the pixel, the picture and the zoom."""

from PySide6.QtWidgets import QLabel, QStatusBar

from inpaint_app.model.picture import Picture
from inpaint_app.window.panels.progress_strip import ProgressStrip

_MESSAGE_MS = 8000


class StatusBar(QStatusBar):
    """Shows what is told to it; empty where there is nothing to tell."""

    def __init__(self) -> None:
        super().__init__()
        self.progress = ProgressStrip()  #: The work in progress.
        self.pixel, self._kind, self._zoom = QLabel(), QLabel(), QLabel()
        self.addPermanentWidget(self.progress, 1)
        self.setMinimumHeight(self.progress.sizeHint().height() + 6)
        for label in (self.pixel, self._kind, self._zoom):
            label.setContentsMargins(8, 0, 8, 0)
            self.addPermanentWidget(label)

    def show_notice(self, sentence: str) -> None:
        """Show a sentence for some seconds."""
        self.showMessage(sentence, _MESSAGE_MS)

    def show_picture(self, picture: Picture | None) -> None:
        """Show size and kind of a picture that was opened, and no earlier notice."""
        self.pixel.clear()
        self._kind.clear()
        if picture is not None:
            self.clearMessage()
            self._kind.setText(f"{picture.width} x {picture.height} pixels, {picture.mode}")

    def show_zoom(self, zoom: float | None) -> None:
        """Show the zoom; None for none."""
        self._zoom.setText("" if zoom is None else f"{100 * zoom:.0f} %")
