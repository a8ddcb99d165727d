"""Figures of pictures, worked out aside while the user goes on."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from inpaint_app.image.missing import Mask
from inpaint_app.jobs.control import JobControl
from inpaint_app.jobs.dictionary import AtomUse, atom_use
from inpaint_app.jobs.measure import QualityMetrics, damage_quality, quality
from inpaint_app.jobs.restore import RestoreRequest
from inpaint_app.jobs.source import Source
from inpaint_app.window.session.background import Jobs, Work
from inpaint_app.window.session.state import RunRecord


class Measurer(QObject):
    """Measures records, the damage itself, and where atoms are used.

    Parameters
    ----------
    jobs : Jobs
        Where the work is done.
    """

    measured = Signal(int, object)
    """With the number of a record and its `QualityMetrics`."""
    damage_measured = Signal()
    atom_use_changed = Signal()
    failed = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._tasks: dict[object, JobControl] = {}
        self.damage_quality: QualityMetrics | None = None
        self.atom_use: AtomUse | None = None

    def measure(self, document: Source, record: RunRecord) -> None:
        """Measure the pixels of a record."""
        image, number = record.image, record.number
        if image is None:
            return
        request = RestoreRequest(document.picture.pixels, record.mask, record.settings)
        reference = None if document.reference is None else document.reference.pixels

        def done(figures: QualityMetrics) -> None:
            self.measured.emit(number, figures)

        self._start(number, lambda _task: quality(request, image, reference), done)

    def measure_damage(self, document: Source, mask: Mask) -> None:
        """Measure the damaged picture against its reference."""
        assert document.reference is not None
        self.damage_quality = None
        pixels, reference = document.picture.pixels, document.reference.pixels

        def done(figures: QualityMetrics) -> None:
            self.damage_quality = figures
            self.damage_measured.emit()

        self._start("damage", lambda _task: damage_quality(pixels, mask, reference), done)

    def find_atom(self, document: Source, record: RunRecord, atom: int) -> None:
        """Find the patches that use an atom of a record's dictionary; those of the last stay till then."""
        restoration = record.restoration
        request = RestoreRequest(document.picture.pixels, record.mask, record.settings)
        self._start("atom", lambda _task: atom_use(request, restoration, atom), self._take_use)

    def forget_atom(self) -> None:
        """Show the patches of no atom, and let none be found that was asked for before."""
        task = self._tasks.pop("atom", None)
        if task is not None:
            task.cancel()
        if self.atom_use is not None:
            self._take_use(None)

    def forget_all(self) -> None:
        """Let nothing arrive that was asked for before."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()
        self.damage_quality = None
        self.forget_atom()

    def _take_use(self, use: AtomUse | None) -> None:
        self.atom_use = use
        self.atom_use_changed.emit()

    def _start(self, key: object, work: Work, done: Callable[..., None]) -> None:
        """Start work in place of earlier work for the same purpose."""
        if key in self._tasks:
            self._tasks[key].cancel()
        self._tasks[key] = self._jobs.start(work, done=done, failed=self.failed.emit)
