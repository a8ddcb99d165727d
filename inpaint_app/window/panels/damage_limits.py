"""Which of the found damage counts: by tone, size and place; and one mark after the other."""

from dataclasses import replace

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from inpaint_app.engine.detect import TONES, DamageChoice
from inpaint_app.window.action_table import key_of
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.layouts import fill
from inpaint_app.window.widgets.no_wheel_boxes import NoWheelComboBox, NoWheelSpinBox

_TONES = {"any": "light and dark", "light": "light", "dark": "dark"}
_MOST = 1_000_000


class DamageLimits(QWidget):
    """Leaves out marks that are too small, too large, of the other tone, or outside of a selection."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._tone = NoWheelComboBox()
        self._smallest, self._largest = _size_box(), _size_box()
        self._everywhere = QPushButton("Look everywhere again")
        self._previous, self._next = QToolButton(), QToolButton()
        self._place = QLabel()
        self._lay_out()
        self._tone.activated.connect(self._choose)
        self._smallest.valueChanged.connect(self._choose)
        self._largest.valueChanged.connect(self._choose)
        self._everywhere.clicked.connect(lambda: self._set(replace(session.state.choice, within=None)))
        self._previous.clicked.connect(session.finding.go_to_previous)
        self._next.clicked.connect(session.finding.go_to_next)
        session.document.watch(self._show, "choice", "marked")
        session.document.watch(self._show_place, "mark", "found")
        self._show()

    def _lay_out(self) -> None:
        for tone in TONES:
            self._tone.addItem(_TONES[tone], tone)
        self._tone.setAccessibleName("Tone of the damage")
        self._tone.setToolTip("Lighter or darker than what lies around, or both.")
        self._smallest.setAccessibleName("Smallest mark")
        self._smallest.setToolTip("Leave out marks of fewer pixels.")
        self._largest.setAccessibleName("Largest mark")
        self._largest.setToolTip("Leave out marks of more pixels.")
        self._everywhere.setToolTip("Count marks outside of what you drew around, too.")
        self._previous.setText("◀")
        self._next.setText("▶")
        self._previous.setToolTip(f"Previous mark ({key_of('previous_mark')}).")
        self._previous.setAccessibleName("Previous mark")
        self._next.setToolTip(f"Next mark ({key_of('next_mark')}).")
        self._next.setAccessibleName("Next mark")
        label = QLabel("Only")
        label.setBuddy(self._tone)
        tones = fill(QHBoxLayout(), label, (self._tone, 1))
        sizes = fill(QHBoxLayout(), QLabel("Size"), (self._smallest, 1), QLabel("to"), (self._largest, 1))
        steps = fill(QHBoxLayout(), self._previous, self._next, (self._place, 1))
        fill(QVBoxLayout(self), tones, sizes, steps, self._everywhere)

    def _choose(self) -> None:
        self._set(
            replace(
                self._session.state.choice,
                tone=self._tone.currentData(),
                smallest=self._smallest.value(),
                largest=self._largest.value() or None,
            )
        )

    def _set(self, choice: DamageChoice) -> None:
        if self._session.state.marked is not None:
            self._session.finding.choose(choice)

    def _show(self) -> None:
        choice = self._session.state.choice
        with QSignalBlocker(self._smallest), QSignalBlocker(self._largest):
            self._tone.setCurrentIndex(TONES.index(choice.tone))
            self._smallest.setValue(choice.smallest)
            self._largest.setValue(choice.largest or 0)
        self._everywhere.setVisible(choice.within is not None)
        self._show_place()

    def _show_place(self) -> None:
        self._place.setText(
            self._session.finding.place
            or f"Next mark: {key_of('next_mark')}, remove it: {key_of('remove_mark')}"
        )


def _size_box() -> NoWheelSpinBox:
    """Return a box for a number of pixels; 0 means any."""
    box = NoWheelSpinBox()
    box.setRange(0, _MOST)
    box.setSpecialValueText("any")
    box.setSuffix(" px")
    box.setKeyboardTracking(False)
    return box
