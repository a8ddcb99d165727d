"""A dialog that asks which damage to simulate."""

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QVBoxLayout, QWidget

from inpaint_app.model.damage import MAX_TEXT, Damage
from inpaint_app.window.widgets.fields import button_box, choice, described, fill, form, number, paragraph
from inpaint_app.window.widgets.sliders import Quantity, SliderField

_KINDS = {"Pixels missing at random": "random", "Stamped text": "text", "Scratches": "scratches"}
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
        self._kind, self._missing = choice("Kind of damage", _KINDS), SliderField(_PERCENT)
        self._text = described(QLineEdit("SAMPLE"), "Text to stamp")
        self._text.setMaxLength(MAX_TEXT)
        self._seed = number("Seed", 0, 999_999, "Same seed, same damage.")
        buttons = button_box(self, QDialogButtonBox.StandardButton.Cancel)
        self._damage = buttons.addButton("&Damage", QDialogButtonBox.ButtonRole.AcceptRole)
        note = paragraph(
            "Removes pixels from the picture. The intact picture is kept as the "
            "reference, so that restorations can be measured."
        )
        self._form = form({"&Kind": self._kind})
        self._form.addRow(self._missing)
        self._form.addRow("&Text", self._text)
        self._form.addRow("&Seed", self._seed)
        fill(QVBoxLayout(self), note, self._form, 1, buttons, margins=None)
        self.setMinimumWidth(440)
        self._kind.currentIndexChanged.connect(self._show)
        self._text.textChanged.connect(self._show)
        self._show()

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
