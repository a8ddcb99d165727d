"""How the missing pixels of many pictures are marked."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QColorDialog, QFormLayout, QLabel, QLineEdit

from inpaint_app.model.missing import MaskSpec
from inpaint_app.window.dialogs.file_dialogs import name_filter
from inpaint_app.window.widgets.fields import PathField, button, choice, described, number, strip

_KINDS = {
    "Transparent or NaN": "",
    "White in one mask for all": "file",
    "White in a mask for each": "folder",
    "Of one color": "key",
}
#: Stands for a tolerance that is chosen for each picture.
_AUTOMATIC = -1


class MaskSourceForm(QObject):
    """Rows of a form that ask for a mask for all pictures, a folder of masks, or a color.

    Parameters
    ----------
    start : Path
        Folder in which file dialogs open.
    """

    changed = Signal()

    def __init__(self, start: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kind = choice("Missing pixels are", _KINDS)
        self._key = described(QLineEdit("#ff00ff"), "Color of missing pixels")
        self._tolerance = number("Tolerance of the color", _AUTOMATIC, 65535, least="automatic")
        self._tolerance.setValue(_AUTOMATIC)
        self._paths = {
            "file": PathField("Mask", kind="read", start=start, filters=name_filter()),
            "folder": PathField("Folder of masks", kind="folder", start=start),
        }
        choose = button("Choose …", "", self._choose_color)
        choose.setAutoDefault(False)
        self._color_row = strip(self._key, choose, QLabel("Tolerance"), self._tolerance)
        self._form: QFormLayout | None = None
        for field in self._paths.values():
            field.changed.connect(self.changed)
        self._kind.currentIndexChanged.connect(self._show)
        self._kind.currentIndexChanged.connect(self.changed)
        self._key.textChanged.connect(self.changed)
        self._tolerance.valueChanged.connect(self.changed)

    def add_rows(self, form: QFormLayout) -> None:
        """Add the rows to a form, so that their labels stand below the others."""
        self._form = form
        form.addRow("&Missing pixels are", self._kind)
        for field in self._paths.values():
            form.addRow(field.title, field)
        form.addRow("Color", self._color_row)
        self._show()

    def set_enabled(self, is_enabled: bool) -> None:
        """Let the user change the rows, or not."""
        for widget in (self._kind, *self._paths.values(), self._color_row):
            widget.setEnabled(is_enabled)

    @property
    def mask_spec(self) -> MaskSpec:
        """What was chosen."""
        kind = self._kind.currentData()
        if kind == "key":
            tolerance = self._tolerance.value()
            chosen = None if tolerance == _AUTOMATIC else float(tolerance)
            return MaskSpec(key=self._key.text(), tolerance=chosen)
        return MaskSpec(mask=self._paths[kind].path if kind else None)

    @property
    def is_complete(self) -> bool:
        """Whether the mask, the folder or the color that is asked for was given."""
        kind, spec = self._kind.currentData(), self.mask_spec
        return not kind or spec.mask is not None or bool(spec.key)

    def _choose_color(self) -> None:
        chosen = QColorDialog.getColor(QColor(self._key.text()), self._key, "Color of missing pixels")
        if chosen.isValid():
            self._key.setText(chosen.name())

    def _show(self) -> None:
        kind = self._kind.currentData()
        if self._form is None:
            return
        for name, field in self._paths.items():
            self._form.setRowVisible(field, name == kind)
        self._form.setRowVisible(self._color_row, kind == "key")
