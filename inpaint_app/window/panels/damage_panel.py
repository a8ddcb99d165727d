"""The panel that finds damage: its kinds and the sensitivity."""

from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from dictsel_core.damage_kinds import DAMAGE_KINDS, DamageKind
from inpaint_app.window.action_table import key_of
from inpaint_app.window.panels.damage_limits import DamageLimits
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.layouts import fill, tooltip

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

    find_wanted = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._find = QPushButton("Find damage")
        self._find.setToolTip(f"Mark scratches, dust and other damage ({key_of('find_damage')}).")
        self._boxes = {kind: QCheckBox(words[0]) for kind, words in _KINDS.items()}
        self._sensitivity = QSlider(Qt.Orientation.Horizontal)
        self._number, self._found, self._limits = QLabel(), QLabel(), DamageLimits(session)
        self._found.setWordWrap(True)
        self._lay_out()
        self._find.clicked.connect(self.find_wanted)
        for box in self._boxes.values():
            box.clicked.connect(self._choose)
        self._sensitivity.valueChanged.connect(self._choose)
        session.document.watch(self._show, "source", "activity", "marked", "found", "choice")
        self._show()

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setVerticalSpacing(2)
        for place, (kind, box) in enumerate(self._boxes.items()):
            box.setToolTip(tooltip(_KINDS[kind][1]))
            box.setChecked(kind in _USUAL)
            grid.addWidget(box, place // 3, place % 3)
        self._choice = QWidget()
        slider = fill(QHBoxLayout(), QLabel("Sensitivity"), (self._sensitivity, 1), self._number)
        fill(QVBoxLayout(self._choice), slider, self._found, self._limits)
        fill(QVBoxLayout(self), self._find, grid, self._choice, margins=(8, 4, 8, 4))
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
        is_looking = state.activity is not None and state.activity.kind == "detect"
        self._find.setEnabled(state.source is not None and not is_looking)
        self._choice.setVisible(state.marked is not None)
        if state.found is None or state.marked is None:
            return
        with QSignalBlocker(self._sensitivity):
            self._sensitivity.setValue(round(_STEPS * state.choice.sensitivity))
        self._number.setText(f"{state.choice.sensitivity:.2f}")
        for kind, box in self._boxes.items():
            box.setChecked(kind in state.choice.kinds)
        said = self._session.finding.describe()
        self._found.setText(
            f"{said}. Click one to remove it, or to bring it back." if said else "Nothing found."
        )
