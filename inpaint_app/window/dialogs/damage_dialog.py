"""A dialog that asks which damage to simulate."""

from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.model.damage import MAX_TEXT, Damage
from inpaint_app.window.widgets.layouts import button_box, fill
from inpaint_app.window.widgets.slider_field import Quantity, SliderField

_KINDS = {"random": "Pixels missing at random", "text": "Stamped text", "scratches": "Scratches"}
_PERCENT = Quantity(
    label="&Missing pixels",
    minimum=1,
    maximum=99,
    default=80,
    suffix=" %",
    tooltip="Fraction of the pixels that will be missing.",
)


class DamageDialog(QDialog):
    """Asks for a kind of damage and its seed; the intact picture becomes the reference."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Simulate damage")
        self._kind, self._text, self._seed = QComboBox(), QLineEdit("SAMPLE"), QSpinBox()
        self._missing = SliderField(_PERCENT)
        self._buttons = button_box(self, QDialogButtonBox.StandardButton.Cancel)
        self._damage = self._buttons.addButton("&Damage", QDialogButtonBox.ButtonRole.AcceptRole)
        for kind, text in _KINDS.items():
            self._kind.addItem(text, kind)
        self._kind.setAccessibleName("Kind of damage")
        self._text.setAccessibleName("Text to stamp")
        self._text.setMaxLength(MAX_TEXT)
        self._seed.setRange(0, 999_999)
        self._seed.setAccessibleName("Seed")
        self._seed.setToolTip("Same seed, same damage.")
        self._lay_out()
        self._kind.currentIndexChanged.connect(self._show)
        self._text.textChanged.connect(self._show)
        self._show()

    def _lay_out(self) -> None:
        note = QLabel(
            "Removes pixels from the picture. The intact picture is kept as the "
            "reference, so that restorations can be measured."
        )
        note.setWordWrap(True)
        self._form = QFormLayout()
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        self._form.addRow("&Kind", self._kind)
        self._form.addRow(self._missing)
        self._form.addRow("&Text", self._text)
        self._form.addRow("&Seed", self._seed)
        fill(QVBoxLayout(self), note, self._form, 1, self._buttons, margins=None)
        self.setMinimumWidth(440)

    @property
    def damage(self) -> Damage:
        """What was chosen."""
        return Damage(
            self._kind.currentData(),
            fraction=float(self._missing.value or 80) / 100,
            text=self._text.text(),
            seed=self._seed.value(),
        )

    def _show(self) -> None:
        kind = self._kind.currentData()
        self._form.setRowVisible(self._missing, kind == "random")
        self._form.setRowVisible(self._text, kind == "text")
        self._damage.setEnabled(kind != "text" or bool(self._text.text().strip()))
