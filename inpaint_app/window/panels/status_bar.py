"""The line at the bottom of the window: progress, notices, the pixel, the picture and the zoom."""

from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QStatusBar, QVBoxLayout, QWidget

from inpaint_app.model.picture import Picture
from inpaint_app.text import format_size
from inpaint_app.window.actions import Actions
from inpaint_app.window.background.work import Activity
from inpaint_app.window.document import captions
from inpaint_app.window.widgets.fields import action_button, fill


class ProgressStrip(QWidget):
    """Shows an activity; nothing while there is none."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self.is_busy = False  #: Whether there is something to show.
        self.setAutoFillBackground(True)
        self._words, self._bar = QLabel(), QProgressBar()
        self._bar.setAccessibleName("Progress")
        self._bar.setMinimumWidth(160)
        self._bar.setMaximumWidth(320)
        self._stop = action_button(actions["stop"])
        parts = (self._words, 1), (self._bar, 1), self._stop, action_button(actions["cancel"])
        fill(QHBoxLayout(self), *parts, margins=(4, 0, 4, 0))
        self.hide()

    def show_activity(self, activity: Activity | None) -> None:
        """Show the work in progress; None for none."""
        self.is_busy = activity is not None
        self.setVisible(self.is_busy)
        if activity is None:
            return
        self._words.setText(captions.format_activity(activity))
        self._stop.setVisible(activity.can_keep)
        if activity.progress.fraction is None:
            self._bar.setRange(0, 0)
        else:
            self._bar.setRange(0, 1000)
            self._bar.setValue(round(1000 * activity.progress.fraction))


_MESSAGE_MS = 8000


class StatusBar(QStatusBar):
    """Shows what is told to it; empty where there is nothing to tell."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self.progress = ProgressStrip(actions)  #: The work in progress.
        self.pixel, self._kind, self._zoom = QLabel(), QLabel(), QLabel()
        self._picture: Picture | None = None
        self._unit = "px"
        self.addPermanentWidget(self.progress, 1)
        self.setMinimumHeight(self.progress.sizeHint().height() + 6)
        for label in (self.pixel, self._kind, self._zoom):
            label.setContentsMargins(8, 0, 8, 0)
            self.addPermanentWidget(label)

    def lend_progress(self, place: QVBoxLayout | None) -> None:
        """Show the work in progress elsewhere while the bar is hidden; None to take it back."""
        self.removeWidget(self.progress)
        if place is None:
            self.insertPermanentWidget(0, self.progress, 1)
        else:
            place.addWidget(self.progress)
        self.progress.setVisible(self.progress.is_busy)

    def show_notice(self, sentence: str) -> None:
        """Show a sentence for some seconds."""
        self.showMessage(sentence, _MESSAGE_MS)

    def show_picture(self, picture: Picture | None) -> None:
        """Show size and kind of a picture that was opened, and no earlier notice."""
        self._picture = picture
        self.pixel.clear()
        if picture is not None:
            self.clearMessage()
        self._show_size()

    def set_unit(self, unit: str) -> None:
        """Tell sizes in another unit."""
        self._unit = unit
        self._show_size()

    def _show_size(self) -> None:
        picture = self._picture
        if picture is None:
            self._kind.clear()
        else:
            size = format_size(picture.width, picture.height, picture.metadata.dpi, self._unit)
            self._kind.setText(f"{size}, {picture.mode}")

    def show_zoom(self, zoom: float | None) -> None:
        """Show the zoom; None for none."""
        self._zoom.setText("" if zoom is None else f"{100 * zoom:.0f} %")
