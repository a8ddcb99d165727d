"""Writes what the session shows to files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEventLoop, QObject, Signal

from inpaint_app.errors import printable_path
from inpaint_app.jobs import exporting
from inpaint_app.jobs.exporting import Target
from inpaint_app.window.session.session import Session
from inpaint_app.window.session.state import Activity, Document, RunRecord


class Exporter(QObject):
    """Turns the state of a session, as it is when asked, into files; how each went is told.

    Parameters
    ----------
    session : Session
        Its signals `problem` and `notice` tell how it went.
    """

    activity_changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._n_writing = 0

    @property
    def activity(self) -> Activity | None:
        """The writing under way, if there is any."""
        return Activity("export", "writing") if self._n_writing else None

    def wait(self) -> None:
        """Return when nothing is being written; the user can do nothing meanwhile."""
        loop = QEventLoop()
        self.activity_changed.connect(loop.quit)
        while self._n_writing:
            loop.exec(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)

    def write_restored(self, target: Target) -> None:
        """Write the restored picture that is shown."""
        self._write_record(exporting.write_restored, target, self._session.mark_saved)

    def write_dictionary(self, target: Target) -> None:
        """Write the atoms of the current dictionary as a picture."""
        self._write_record(exporting.write_dictionary, target)

    def write_recipe(self, target: Target) -> None:
        """Write the parameters of the current run as a recipe."""
        self._write_record(exporting.write_settings, target)

    def write_comparison(self, target: Target) -> None:
        """Write a figure: input and restored pictures side by side, with their PSNR."""
        records = self._session.results.history.compared
        self._write(lambda document: exporting.write_comparison(document, records, target))

    def write_mask(self, target: Target) -> None:
        """Write the mask as a picture, white = missing."""
        if self._session.mask is None:
            self._session.problem.emit("There is no mask to save yet; open a picture first.")
            return
        mask = self._session.mask.snapshot()
        self._write(
            lambda document: exporting.write_mask(document, mask, target),
            lambda: self._session.mark_mask_saved(mask),
        )

    def _write_record(
        self,
        write: Callable[[Document, RunRecord, Target], Path],
        target: Target,
        saved: Callable[[RunRecord], None] | None = None,
    ) -> None:
        record = self._session.results.current
        if record is None:
            self._session.problem.emit("There is no restored picture yet; restore it first (F5).")
            return
        self._write(
            lambda document: write(document, record, target),
            None if saved is None else lambda: saved(record),
        )

    def _write(self, write: Callable[[Document], Path], saved: Callable[[], None] | None = None) -> None:
        session = self._session
        document = session.document
        if document is None:
            session.problem.emit("There is nothing to export yet; open a picture first.")
            return

        def done(path: Path) -> None:
            if saved is not None:
                saved()
            session.notice.emit(f"Written: {printable_path(path)}")
            self._count(-1)

        def failed(sentence: str) -> None:
            session.problem.emit(sentence)
            self._count(-1)

        session.jobs.start(lambda _task: write(document), done=done, failed=failed)
        self._count(1)

    def _count(self, change: int) -> None:
        self._n_writing += change
        self.activity_changed.emit()
