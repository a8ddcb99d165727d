"""A dialog that asks where and how to write the restored picture."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.engine.source import Source
from inpaint_app.errors import UserError, join_names, printable_path
from inpaint_app.io import registry
from inpaint_app.io.format import Format
from inpaint_app.io.paths import is_folder, is_visible_file, same_file
from inpaint_app.io.write import DEFAULT_QUALITY, Output, PictureProperties, check_storable
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.dialogs.file_dialogs import name_filter
from inpaint_app.window.remedies import remedies
from inpaint_app.window.widgets.fields import PathField, button_box, choice, fill, form
from inpaint_app.window.widgets.labels import SecondaryLabel
from inpaint_app.window.widgets.sliders import Quantity, SliderField

_QUALITY = Quantity(
    label="&Quality",
    minimum=1,
    maximum=100,
    default=DEFAULT_QUALITY,
    tooltip="For lossy formats: higher is better and larger; WebP at 100 is lossless.",
)


class ExportDialog(QDialog):
    """Asks for a file, its format, quality, depth and metadata.

    An existing file is named as such and replaced only if the box for it is ticked.

    Parameters
    ----------
    source : Source
        What was restored; its files are sources.
    suggestion : Path
        A name to begin with.
    properties : PictureProperties
        Of the restored picture; they decide which formats can store it.
    shows_preview : bool
        Whether the window shows a preview, which is not what is written.
    """

    def __init__(
        self,
        source: Source,
        suggestion: Path,
        parent: QWidget | None = None,
        *,
        properties: PictureProperties,
        shows_preview: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export the restored picture")
        self._source, self._properties = source, properties
        self._wanted_depth: int | None = None
        self._file = PathField(
            "&File", kind="write", start=suggestion, filters=name_filter(registry.writable())
        )
        self._format = choice("Format", {each.name: each for each in registry.writable()})
        self._depth = choice("Bits per channel")
        self._quality = SliderField(_QUALITY)
        if source.picture.metadata.is_lossless:
            self._quality.set_value(100)
        self._metadata = QCheckBox("&Keep EXIF, color profile and other metadata")
        self._replace, self._note = QCheckBox(), QLabel()
        self._preview_note = SecondaryLabel(
            f"The preview is not exported: Restore{key_hint('restore')} makes the whole picture with these "
            "parameters."
        )
        self._preview_note.setVisible(shows_preview)
        self._buttons = button_box(self, QDialogButtonBox.StandardButton.Cancel)
        self._export = self._buttons.addButton("&Export", QDialogButtonBox.ButtonRole.AcceptRole)
        self._lay_out()
        self._connect()
        self._file.set_path(suggestion)

    def _lay_out(self) -> None:
        self._metadata.setChecked(True)
        self._note.setWordWrap(True)
        rows = form({"&File": self._file, "F&ormat": self._format, "&Depth": self._depth})
        rows.addRow(self._quality)
        rows.addRow(self._metadata)
        self._preview_note.setWordWrap(True)
        parts = self._preview_note, rows, self._note, self._replace, 1, self._buttons
        fill(QVBoxLayout(self), *parts, margins=None)
        self.setMinimumWidth(560)

    def _connect(self) -> None:
        self._file.changed.connect(self._show)
        self._format.activated.connect(self._choose_format)
        self._depth.activated.connect(self._choose_depth)
        self._replace.toggled.connect(self._show_note)
        self._metadata.toggled.connect(self._show_note)

    @property
    def target(self) -> Output | None:
        """What was chosen; None while there is no name."""
        path = self._file.path
        if path is None:
            return None
        depth = self._depth.currentData()
        return Output(
            path,
            overwrite=self._replace.isChecked() and self._replace.isVisibleTo(self),
            quality=int(self._quality.value or DEFAULT_QUALITY),
            depth=None if depth == self._source.picture.depth else depth,
            keep_metadata=self._metadata.isChecked(),
        )

    def set_path(self, path: Path) -> None:
        """Fill in another file."""
        self._file.set_path(path)

    def _choose_format(self) -> None:
        path = self._file.path
        if path is not None and path.name:
            self._file.set_path(path.with_suffix(self._format.currentData().suffixes[0]))

    def _choose_depth(self) -> None:
        self._wanted_depth = self._depth.currentData()
        self._show_note()

    def _show(self) -> None:
        """Choose the format by the suffix of the name."""
        path = self._file.path
        named = None if path is None else registry.find_writable(path)
        if named is not None:
            self._format.setCurrentText(named.name)
        self._replace.setChecked(False)
        self._show_depths(self._format.currentData())
        self._quality.setEnabled(named is not None and named.is_lossy)
        self._show_note()

    def _show_depths(self, chosen: Format) -> None:
        own, before = self._source.picture.depth, self._wanted_depth
        is_plain_gray = not (self._properties.is_color or self._properties.is_transparent)
        depths = chosen.depths_of(is_plain_gray=is_plain_gray)
        possible = [depth for depth in depths if depth in (8, 16) or depth == own]
        self._depth.clear()
        for depth in possible:
            kind = "32-bit float" if depth == 32 else f"{depth} bits per channel"
            self._depth.addItem(f"{kind} (as the source)" if depth == own else kind, depth)
        best = before if before in possible else own if own in possible else possible[-1]
        self._depth.setCurrentIndex(possible.index(best))

    def _show_note(self) -> None:
        path = self._file.path
        exists = path is not None and is_visible_file(path)
        is_source = path is not None and any(same_file(path, file) for file in self._source.files)
        refusal = _name_problem(path) or self._format_problem()
        self._replace.setVisible(exists)
        self._replace.setText(
            "Replace the picture that was opened" if is_source else "Replace the existing file"
        )
        self._note.setText(refusal or self._warning(exists=exists, is_source=is_source))
        self._note.setVisible(bool(self._note.text()))
        self._export.setEnabled(not refusal and (not exists or self._replace.isChecked()))

    def _format_problem(self) -> str:
        """Return why the format cannot store the picture; empty if it can."""
        target, properties = self.target, self._properties
        if target is None:
            return ""
        if not target.keep_metadata:
            properties = replace(properties, n_exif=0, n_icc=0)
        try:
            check_storable(
                properties, registry.format_of(target.path), depth=target.depth, quality=target.quality
            )
        except UserError as error:
            return error.sentence(remedies())
        return ""

    def _warning(self, *, exists: bool, is_source: bool) -> str:
        own, depth, target = self._source.picture.depth, self._depth.currentData(), self.target
        warnings = []
        if is_source:
            warnings.append("This is the picture that was opened: replacing it loses the damaged original.")
        elif exists:
            warnings.append("A file of this name already exists.")
        if depth != own:
            warnings.append(f"The source has {own} bits per channel; the export will have {depth}.")
        lost = () if target is None else target.lost(self._source.picture)
        if lost:
            warnings.append(f"The export will not hold {join_names(lost)}.")
        return " ".join(warnings)


def _name_problem(path: Path | None) -> str:
    """Return why the file cannot be written; empty if it can."""
    if path is None:
        return "Give the file a name."
    try:
        registry.format_of(path)
        has_folder = is_folder(path.parent)
    except UserError as error:
        return error.sentence(remedies())
    if not has_folder:
        return f"The folder {printable_path(path.parent)} does not exist; choose another, or create it first."
    return ""
