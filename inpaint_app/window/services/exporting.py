"""Writes what a document shows to files."""

from collections.abc import Callable

from PySide6.QtCore import QEventLoop, QObject, Signal

from inpaint_app.engine import export
from inpaint_app.engine.control import Progress
from inpaint_app.engine.export import ComparedImage
from inpaint_app.engine.source import Source
from inpaint_app.errors import UserError, printable_path
from inpaint_app.io.atomic import write_files
from inpaint_app.io.write import Output
from inpaint_app.model.picture import Array
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.background.work import Activity, WorkerPool
from inpaint_app.window.document.captions import comparison_titles
from inpaint_app.window.document.document import NO_PICTURE, Document
from inpaint_app.window.document.project_writer import project_file
from inpaint_app.window.document.runs import RunRecord

Notes = tuple[str, ...]


class Exporting(QObject):
    """Turns the state of a document, as it is when asked, into files; its signals tell how each went."""

    activity_changed = Signal()

    def __init__(self, document: Document, workers: WorkerPool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._workers = document, workers
        self._n_writing = 0

    @property
    def activity(self) -> Activity | None:
        """The export in progress, if there is any."""
        return Activity("export", Progress("writing")) if self._n_writing else None

    def wait(self) -> None:
        """Wait until nothing is being written; the window does not respond meanwhile."""
        loop = QEventLoop()
        self.activity_changed.connect(loop.quit)
        while self._n_writing:
            loop.exec(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)

    def write_restored(self, output: Output) -> None:
        """Write the restored picture that is shown."""

        def write(source: Source, record: RunRecord) -> Notes:
            return output.write(source.restored(pixels_of(record), record.mask), source.files)

        self._write_record(write, output, self._document.mark_saved)

    def write_dictionary(self, output: Output) -> None:
        """Write the atoms of the current dictionary as a picture."""

        def write(source: Source, record: RunRecord) -> Notes:
            return output.write(export.dictionary_figure(record.restoration), source.files)

        self._write_record(write, output)

    def write_recipe(self, output: Output) -> None:
        """Write the parameters of the current run as a recipe."""
        self._write_record(
            lambda source, record: export.write_recipe(
                source, record.settings, output.path, overwrite=output.overwrite
            ),
            output,
        )

    def write_comparison(self, output: Output) -> None:
        """Write a figure: input and restored pictures side by side, with their PSNR."""
        history = self._document.state.runs
        records = history.compared or tuple(filter(None, (history.current,)))

        def write(source: Source) -> Notes:
            titles = comparison_titles(records)
            compared = [
                ComparedImage(pixels_of(record), title, record.figures)
                for record, title in zip(records, titles, strict=True)
            ]
            mask = records[0].mask if records else source.missing.mask
            return export.write_comparison(source, mask, compared, output)

        self._write(write, output)

    def write_project(self, output: Output) -> None:
        """Write everything, to go on with it later."""
        document, state = self._document, self._document.state
        if state.source is None:
            document.problem.emit(NO_PICTURE)
            return
        self._write(
            lambda source: write_files(
                [project_file(output.path, state)], overwrite=output.overwrite, source=source.path
            ),
            output,
            lambda: document.mark_project_saved(state, output.path),
        )

    def write_mask(self, output: Output) -> None:
        """Write the mask as a picture, white = missing."""
        packed = self._document.state.mask
        if packed is None:
            self._document.problem.emit(NO_PICTURE)
            return
        self._write(
            lambda source: export.write_mask(source, packed.unpack(), output),
            output,
            lambda: self._document.mark_mask_saved(packed),
        )

    def _write_record(
        self,
        write: Callable[[Source, RunRecord], Notes],
        output: Output,
        on_saved: Callable[[RunRecord], None] = lambda _record: None,
    ) -> None:
        record = self._document.state.runs.current
        if record is None:
            self._document.problem.emit(no_result())
        else:
            self._write(lambda source: write(source, record), output, lambda: on_saved(record))

    def _write(
        self, write: Callable[[Source], Notes], output: Output, on_saved: Callable[[], None] = lambda: None
    ) -> None:
        document = self._document
        source = document.state.source
        if source is None:
            document.problem.emit(NO_PICTURE)
            return

        def on_done(notes: Notes) -> None:
            on_saved()
            document.notice.emit(" ".join((f"Written: {printable_path(output.path)}", *notes)))
            self._count(-1)

        def on_error(sentence: str) -> None:
            document.problem.emit(sentence)
            self._count(-1)

        self._workers.start(lambda _control: write(source), done=on_done, failed=on_error)
        self._count(1)

    def _count(self, change: int) -> None:
        self._n_writing += change
        self.activity_changed.emit()


def no_result() -> str:
    """Return what to do where there is nothing to write."""
    return f"There is no restored picture yet; restore it first{key_hint('restore')}."


def pixels_of(record: RunRecord) -> Array:
    """Return the restored pixels of a run.

    Raises
    ------
    UserError
        If they were released.
    """
    if record.image is None:
        raise UserError(
            "The pixels of this run were released to save memory",
            f"restore again first{key_hint('restore')}",
        )
    return record.image
