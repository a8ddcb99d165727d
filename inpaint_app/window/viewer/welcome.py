"""The page that an empty window shows."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from inpaint_app.model.damage import SAMPLES, Damage
from inpaint_app.window.widgets.layouts import fill, tooltip


class Welcome(QWidget):
    """Buttons to open, repair, paste or try the sample."""

    open_wanted = Signal()
    repair_wanted = Signal()
    paste_wanted = Signal()
    sample_wanted = Signal(object)
    """With the `Damage` of the sample."""

    def __init__(self) -> None:
        super().__init__()
        title = QLabel("Repair a damaged picture")
        font = title.font()
        font.setPointSizeF(font.pointSizeF() * 1.6)
        font.setBold(True)
        title.setFont(font)
        words = QLabel(
            "Drop a picture here, or open one. Cracks, scratches and dust of old photographs\n"
            "are found for you; anything else can be painted over."
        )
        self._open, self._paste = QPushButton("&Open …"), QPushButton("Paste")
        self._repair = QPushButton("Repair photo …")
        self._repair.setToolTip(
            tooltip("Open a photograph, find its cracks, scratches and dust, and restore them.")
        )
        self._sample = QToolButton()
        self._sample.setText("Open a sample")
        self._sample.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        self._sample.setMenu(sample_menu(self, self.sample_wanted.emit))
        bold = self._repair.font()
        bold.setBold(True)
        self._repair.setFont(bold)
        self._open.clicked.connect(self.open_wanted)
        self._repair.clicked.connect(self.repair_wanted)
        self._paste.clicked.connect(self.paste_wanted)
        self._sample.clicked.connect(lambda: self.sample_wanted.emit(SAMPLES[0]))
        height = max(34, self._open.sizeHint().height())
        buttons = self._repair, self._open, self._sample, self._paste
        for button in buttons:
            button.setMinimumSize(140, height)
        for label in (title, words):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        row = fill(QHBoxLayout(), 1, *buttons, 1, spacing=12)
        fill(QVBoxLayout(self), 2, title, words, row, 3, margins=None, spacing=18)


def sample_menu(parent: QWidget, chosen: Callable[[Damage], None]) -> QMenu:
    """Return a menu of the sample's damages."""
    menu = QMenu("Open &Sample", parent)
    for damage in SAMPLES:
        words = str(damage)[:1].upper() + str(damage)[1:]
        menu.addAction(words, partial(chosen, damage))
    return menu
