"""The panel that finds damage: its kinds, the sensitivity, and which marks of it count."""

from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSlider,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from dictsel_core.damage_kinds import DAMAGE_KINDS, DamageKind
from inpaint_app.engine.detect import TONES, DamageChoice
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.actions import Actions
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.action_button import action_button
from inpaint_app.window.widgets.layouts import fill, tooltip
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
        self._lay_out()
        self._tone.activated.connect(self._choose)
        self._smallest.valueChanged.connect(self._choose)
        self._largest.valueChanged.connect(self._choose)
        self._everywhere.clicked.connect(lambda: self._set(replace(session.state.choice, within=None)))
        self._previous.clicked.connect(lambda: session.finding.step(-1))
        self._next.clicked.connect(lambda: session.finding.step(1))
        session.document.watch(self._show, "choice", "marked")
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
        self._previous.setToolTip(f"Previous mark{key_hint('previous_mark')}.")
        self._previous.setAccessibleName("Previous mark")
        self._next.setToolTip(
            f"Next mark{key_hint('next_mark')}; Remove Mark{key_hint('remove_mark')} removes it."
        )
        self._next.setAccessibleName("Next mark")
        label = QLabel("Only")
        label.setBuddy(self._tone)
        steps = fill(QHBoxLayout(), self._previous, self._next, label, (self._tone, 1))
        sizes = fill(QHBoxLayout(), QLabel("Size"), (self._smallest, 1), QLabel("to"), (self._largest, 1))
        fill(QVBoxLayout(self), steps, sizes, self._everywhere, spacing=6)

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


def _size_box() -> NoWheelSpinBox:
    """Return a box for a number of pixels; 0 means any."""
    box = NoWheelSpinBox()
    box.setRange(0, _MOST)
    box.setSpecialValueText("any")
    box.setSuffix(" px")
    box.setKeyboardTracking(False)
    return box


_KINDS: dict[DamageKind, tuple[str, str]] = {
    "scratches": ("Cracks, scratches", "Cracks, scratches, creases and tears."),
    "dust": ("Dust, hairs", "Dust, dirt, hairs and fibres."),
    "dead_pixels": ("Dead pixels", "Single pixels of a camera that are stuck."),
    "dead_lines": ("Dead lines", "Rows or columns of a sensor that are stuck."),
    "stamps": ("Stamps, dates", "Text in one saturated color."),
}
_USUAL = ("scratches", "dust")
_STEPS = 100


class DamagePanel(QWidget):
    """Asks for damage to be found; the mask follows the slider."""

    def __init__(self, session: Session, actions: Actions) -> None:
        super().__init__()
        self._session = session
        self._boxes = {kind: QCheckBox(words[0]) for kind, words in _KINDS.items()}
        self._sensitivity = QSlider(Qt.Orientation.Horizontal)
        self._number, self._found, self._limits = QLabel(), QLabel(), DamageLimits(session)
        self._found.setWordWrap(True)
        self._lay_out(action_button(actions["find_damage"], "Find damage"))
        for box in self._boxes.values():
            box.clicked.connect(self._choose)
        self._sensitivity.valueChanged.connect(self._choose)
        session.document.watch(self._show, "marked", "found", "choice", "mark")
        self._show()

    def _lay_out(self, find: QWidget) -> None:
        grid = QGridLayout()
        grid.setVerticalSpacing(4)
        for place, (kind, box) in enumerate(self._boxes.items()):
            box.setToolTip(tooltip(_KINDS[kind][1]))
            box.setChecked(kind in _USUAL)
            grid.addWidget(box, place // 2, place % 2)
        self._choice = QWidget()
        slider = fill(QHBoxLayout(), QLabel("Sensitivity"), (self._sensitivity, 1), self._number)
        fill(QVBoxLayout(self._choice), slider, self._found, self._limits, spacing=6)
        fill(QVBoxLayout(self), find, grid, self._choice, spacing=8)
        self._sensitivity.setRange(0, _STEPS)
        self._sensitivity.setValue(_STEPS // 2)
        self._sensitivity.setAccessibleName("Sensitivity")
        self._sensitivity.setToolTip("Left: only what is certain. Right: whatever may be damage.")

    @property
    def kinds(self) -> tuple[DamageKind, ...]:
        """The kinds that are ticked."""
        return tuple(kind for kind in DAMAGE_KINDS if self._boxes[kind].isChecked())

    def _choose(self) -> None:
        state = self._session.state
        if state.marked is not None:
            sensitivity = self._sensitivity.value() / _STEPS
            self._session.finding.choose(replace(state.choice, kinds=self.kinds, sensitivity=sensitivity))

    def _show(self) -> None:
        state = self._session.state
        self._choice.setVisible(state.marked is not None)
        if state.found is None or state.marked is None:
            return
        with QSignalBlocker(self._sensitivity):
            self._sensitivity.setValue(round(_STEPS * state.choice.sensitivity))
        self._number.setText(f"{state.choice.sensitivity:.2f}")
        for kind, box in self._boxes.items():
            box.setChecked(kind in state.choice.kinds)
        said, place = self._session.finding.describe(), self._session.finding.place
        more = f"Mark {place}." if place else f"Pick{key_hint('pick')} removes one, or brings it back."
        self._found.setText(f"{said}. {more}" if said else "Nothing found.")
