"""The panel that finds damage: its kinds, the sensitivity, and which marks of it count."""

from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSlider, QToolButton, QVBoxLayout, QWidget

from dictsel_core.damage_kinds import DAMAGE_KINDS, DamageKind
from inpaint_app.engine.detect import TONES, DamageChoice
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.actions import Actions
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.fields import (
    action_button,
    buddy,
    button,
    check,
    choice,
    described,
    fill,
    in_pairs,
    number,
    typed,
)

_TONES = {"light and dark": "any", "light": "light", "dark": "dark"}
_MOST = 1_000_000


class DamageLimits(QWidget):
    """Leaves out marks that are too small, too large, of the other tone, or outside of a selection."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        tip = "Lighter or darker than what lies around, or both."
        self._tone = choice("Tone of the damage", _TONES, "any", tip)
        self._smallest = number("Smallest mark", 0, _MOST, "Leave out marks of fewer pixels.", " px", "any")
        self._largest = number("Largest mark", 0, _MOST, "Leave out marks of more pixels.", " px", "any")
        self._everywhere = button(
            "Look everywhere again",
            "Count marks outside of what you drew around, too.",
            lambda: self._set(replace(session.state.choice, within=None)),
        )
        typed((self._smallest, self._largest))
        removes = f"Remove Mark{key_hint('remove_mark')} removes it."
        back = self._step("◀", "Previous mark", f"Previous mark{key_hint('previous_mark')}.", -1)
        on = self._step("▶", "Next mark", f"Next mark{key_hint('next_mark')}; {removes}", 1)
        steps = fill(QHBoxLayout(), back, on, buddy("Only", self._tone), (self._tone, 1))
        sizes = fill(QHBoxLayout(), QLabel("Size"), (self._smallest, 1), QLabel("to"), (self._largest, 1))
        fill(QVBoxLayout(self), steps, sizes, self._everywhere, spacing=4)
        self._tone.activated.connect(self._choose)
        for box in (self._smallest, self._largest):
            box.valueChanged.connect(self._choose)
        session.document.watch(self._show, "choice", "marked")
        self._show()

    def _step(self, sign: str, name: str, tip: str, by: int) -> QToolButton:
        """Return a button that goes from mark to mark."""
        made = described(QToolButton(), name, tip)
        made.setText(sign)
        made.clicked.connect(lambda: self._session.finding.step(by))
        return made

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
        chosen = self._session.state.choice
        with QSignalBlocker(self._smallest), QSignalBlocker(self._largest):
            self._tone.setCurrentIndex(TONES.index(chosen.tone))
            self._smallest.setValue(chosen.smallest)
            self._largest.setValue(chosen.largest or 0)
        self._everywhere.setVisible(chosen.within is not None)


_KINDS: dict[DamageKind, tuple[str, str]] = {
    "scratches": ("Cracks, scratches", "Cracks, scratches, creases and tears."),
    "dust": ("Dust, hairs", "Dust, dirt, hairs and fibres."),
    "dead_pixels": ("Dead pixels", "Single pixels of a camera that are stuck."),
    "dead_lines": ("Dead lines", "Rows or columns of a sensor that are stuck."),
    "stamps": ("Stamps, dates", "Text in one saturated color."),
}
_USUAL: tuple[DamageKind, ...] = ("scratches", "dust")
_STEPS = 100


class DamagePanel(QWidget):
    """Asks for damage to be found; the mask follows the slider."""

    def __init__(self, session: Session, actions: Actions) -> None:
        super().__init__()
        self._session = session
        self._boxes = {kind: check(*words) for kind, words in _KINDS.items()}
        tip = "Left: only what is certain. Right: whatever may be damage."
        self._sensitivity = described(QSlider(Qt.Orientation.Horizontal), "Sensitivity", tip)
        self._sensitivity.setRange(0, _STEPS)
        self._sensitivity.setValue(_STEPS // 2)
        self._number, self._found = QLabel(), QLabel()
        self._found.setWordWrap(True)
        self._lay_out(action_button(actions["find_damage"], "Find damage"))
        for box in self._boxes.values():
            box.clicked.connect(self._choose)
        self._sensitivity.valueChanged.connect(self._choose)
        session.document.watch(self._show, "marked", "found", "choice", "mark")
        self._show()

    def _lay_out(self, find: QWidget) -> None:
        for kind in _USUAL:
            self._boxes[kind].setChecked(True)
        grid = in_pairs(*self._boxes.values(), spacing=4)
        self._choice = QWidget()
        slider = fill(QHBoxLayout(), QLabel("Sensitivity"), (self._sensitivity, 1), self._number)
        fill(QVBoxLayout(self._choice), slider, self._found, DamageLimits(self._session), spacing=4)
        fill(QVBoxLayout(self), find, grid, self._choice, spacing=6)

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
