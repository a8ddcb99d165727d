"""A line with the work in progress and the time it takes, and buttons to stop it."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from inpaint_app.window.action_table import key_of
from inpaint_app.window.background.exclusive_task import Activity
from inpaint_app.window.document import captions
from inpaint_app.window.widgets.layouts import fill


class ProgressStrip(QWidget):
    """Shows an activity; nothing while there is none."""

    stop_wanted = Signal()
    cancel_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._words, self._bar = QLabel(), QProgressBar()
        self._bar.setAccessibleName("Progress")
        self._bar.setMinimumWidth(160)
        self._bar.setMaximumWidth(320)
        self._stop, self._cancel = QPushButton("Stop"), QPushButton("Cancel")
        self._stop.setToolTip(f"Stop and keep the current result ({key_of('stop')}).")
        self._cancel.setToolTip(f"Cancel and discard ({key_of('cancel')}).")
        parts = (self._words, 1), (self._bar, 1), self._stop, self._cancel
        fill(QHBoxLayout(self), *parts, margins=(4, 0, 4, 0))
        self._stop.clicked.connect(self.stop_wanted)
        self._cancel.clicked.connect(self.cancel_wanted)
        self.hide()

    def show_activity(self, activity: Activity | None) -> None:
        """Show the work in progress; None for none."""
        self.setVisible(activity is not None)
        if activity is None:
            return
        self._words.setText(captions.format_activity(activity))
        self._stop.setVisible(activity.can_keep)
        if activity.progress.fraction is None:
            self._bar.setRange(0, 0)
        else:
            self._bar.setRange(0, 1000)
            self._bar.setValue(round(1000 * activity.progress.fraction))
