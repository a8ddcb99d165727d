"""A dialog that restores all pictures of a folder with the current settings."""

import os
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QProgressBar,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.engine.batch import BatchRequest, BatchRow, run_batch
from inpaint_app.engine.control import Progress
from inpaint_app.engine.restore_file import FileOptions
from inpaint_app.errors import printable_path
from inpaint_app.io.batch_files import BatchItem, find_items
from inpaint_app.io.write import Output
from inpaint_app.text import format_decibels, format_percent
from inpaint_app.window.background.work import Activity, ExclusiveTask
from inpaint_app.window.dialogs.mask_source_form import MaskSourceForm
from inpaint_app.window.document.captions import format_settings
from inpaint_app.window.remedies import remedies
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.banner import Banner
from inpaint_app.window.widgets.fields import PathField, button_box, fill, form, tooltip

_COLUMNS = ("File", "Missing", "PSNR (est.)", "Seconds", "Status")


class BatchDialog(QDialog):
    """Asks for folders, then shows the progress of each picture; other work continues meanwhile."""

    def __init__(self, session: Session, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Restore a folder")
        self._session = session
        self._work, self._plan = ExclusiveTask(session.workers, self), ExclusiveTask(session.workers, self)
        self._input = PathField("Folder of damaged pictures", kind="folder", start=folder)
        self._output = PathField("Folder for the results", kind="folder", start=folder)
        self._masks = MaskSourceForm(folder, self)
        self._replace = QCheckBox("Replace existing results")
        self._settings = QLabel()
        self._settings.setWordWrap(True)
        self._banner, self._bar, self._summary = Banner(), QProgressBar(), QLabel()
        self._table = QTableWidget(0, len(_COLUMNS))
        self._buttons = button_box(self, QDialogButtonBox.StandardButton.Close)
        self._start = self._buttons.addButton("&Restore all", QDialogButtonBox.ButtonRole.ActionRole)
        self._stop = self._buttons.addButton("&Stop", QDialogButtonBox.ButtonRole.ActionRole)
        self._lay_out()
        self._connect()
        self._show_settings()
        self._show_work()

    def _lay_out(self) -> None:
        self._table.setHorizontalHeaderLabels(_COLUMNS)
        self._table.setAccessibleName("Pictures of the batch")
        self._table.verticalHeader().hide()
        self._table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header = self._table.horizontalHeader()
        header.setDefaultSectionSize(header.sectionSizeHint(_COLUMNS.index("PSNR (est.)")))
        for column in (0, len(_COLUMNS) - 1):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        self._bar.setAccessibleName("Progress of the batch")
        rows = form({field.title: field for field in (self._input, self._output)})
        self._masks.add_rows(rows)
        rows.addRow("", self._replace)
        top, bottom = (self._banner, rows, self._settings), (self._bar, self._summary, self._buttons)
        fill(QVBoxLayout(self), *top, (self._table, 1), *bottom, margins=None)
        self._start.setDefault(True)
        self.resize(720, 520)

    def _connect(self) -> None:
        self._session.document.watch(self._show_settings, "settings")
        self._work.activity_changed.connect(self._show_work)
        folders = self._input.changed, self._output.changed
        for changed in (*folders, self._masks.changed, self._replace.toggled):
            changed.connect(self._show_work)
            changed.connect(self._make_plan)
        self._start.clicked.connect(self.start)
        self._stop.clicked.connect(self._work.cancel)

    def set_folders(self, folder: Path, output: Path) -> None:
        """Fill in the folders."""
        self._input.set_path(folder)
        self._output.set_path(output)

    @property
    def is_active(self) -> bool:
        """Whether pictures are being restored."""
        return self._work.is_active

    def start(self) -> None:
        """Begin."""
        folder, output = self._input.path, self._output.path
        if folder is None or output is None:
            self._banner.show_message("Choose a folder of damaged pictures and one for the results.")
            return
        self._banner.hide()
        self._plan.cancel()
        self._summary.clear()
        self._table.setRowCount(0)
        options = FileOptions(self._session.state.settings, self._masks.mask_spec)
        request = BatchRequest((folder,), Output(output, self._replace.isChecked()), options)
        self._work.start(
            lambda control: run_batch(request, control),
            done=self._finish,
            failed=self._banner.show_message,
            progress=self._show_row,
            activity=Activity("batch", Progress("restoring")),
        )

    def _make_plan(self) -> None:
        """List what would be restored, before anything is."""
        folder, spec = self._input.path, self._masks.mask_spec
        if folder is None or not self._masks.is_complete:
            self._plan.cancel()
            self._show_plan([])
            return
        output, overwrite = self._output.path or folder / "restored", self._replace.isChecked()
        self._plan.start(
            lambda _control: find_items([folder], output, spec, overwrite=overwrite),
            done=self._show_plan,
            failed=self._refuse_plan,
        )

    def _show_plan(self, items: list[BatchItem]) -> None:
        self._banner.hide()
        self._table.setRowCount(len(items))
        for number, item in enumerate(items):
            error = item.error
            status = f"to {item.output.name}" if error is None else error.sentence(remedies())
            self._fill_row(number, (printable_path(item.path.name), "", "", "", printable_path(status)))
        good = sum(item.error is None for item in items)
        self._summary.setText(f"{good} of {len(items)} pictures can be restored." if items else "")

    def _refuse_plan(self, sentence: str) -> None:
        self._table.setRowCount(0)
        self._summary.setText(sentence)

    def _show_row(self, row: BatchRow) -> None:
        self._bar.setRange(0, 1000)
        if not row.progress.is_compilation:
            self._bar.setValue(round(1000 * (row.number - 1 + (row.progress.fraction or 0)) / row.count))
        if self._table.rowCount() < row.number:
            self._table.setRowCount(row.number)
        estimated = None if row.result is None else row.result.quality.estimated_psnr
        texts = (
            printable_path(row.path.name),
            "" if row.result is None else format_percent(row.result.missing_fraction),
            "" if estimated is None else format_decibels(estimated),
            "" if row.seconds is None else f"{row.seconds:.1f}",
            _status(row, row.path.parent, self._output.path, self._masks.mask_spec.mask),
        )
        self._fill_row(row.number - 1, texts)
        if row.is_done:  # its sentence may take several lines
            self._table.resizeRowToContents(row.number - 1)

    def _fill_row(self, number: int, texts: tuple[str, ...]) -> None:
        for column, text in enumerate(texts):
            item = QTableWidgetItem(text)
            item.setToolTip(tooltip(text))
            if 0 < column < 4:
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._table.setItem(number, column, item)

    def _finish(self, rows: tuple[BatchRow, ...]) -> None:
        good = sum(row.result is not None for row in rows)
        self._summary.setText(f"{good} of {len(rows)} pictures restored.")

    def _show_settings(self) -> None:
        text = format_settings(self._session.state.settings, self._session.state.settings)
        self._settings.setText(f"With the settings of the window: {text}.")

    def _show_work(self) -> None:
        active = self._work.is_active
        ready = self._input.path is not None and self._output.path is not None and self._masks.is_complete
        self._start.setEnabled(not active and ready)
        self._stop.setEnabled(active)
        for widget in (self._input, self._output, self._replace):
            widget.setEnabled(not active)
        self._masks.set_enabled(not active)

    def reject(self) -> None:
        """Stop the batch and close, however that is asked for; what is written stays."""
        self._work.cancel()
        self._plan.cancel()
        super().reject()


def _status(row: BatchRow, *folders: Path | None) -> str:
    """Return what became of a file, the names of files without their folders."""
    if row.error is not None:
        status = row.error.sentence(remedies())
    elif row.result is not None:
        status = "; ".join(("restored", *row.result.notes))
    else:
        status = row.progress.stage
    for folder in folders:
        status = status if folder is None else status.replace(printable_path(folder) + os.sep, "")
    return status
