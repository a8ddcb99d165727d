"""The restorations of a document: which there are, which is shown, how good they are, which is saved."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from inpaint_app.image.missing import Mask
from inpaint_app.jobs.dictionary import AtomUse
from inpaint_app.jobs.measure import QualityMetrics
from inpaint_app.jobs.restore import RunResult
from inpaint_app.jobs.source import Source
from inpaint_app.window.session.background import Jobs
from inpaint_app.window.session.history import RunHistory
from inpaint_app.window.session.measurer import Measurer
from inpaint_app.window.session.state import Comparison, RunRecord


class Results(QObject):
    """Keeps the history of runs, and has its records measured.

    Parameters
    ----------
    jobs : Jobs
        Where they are measured.
    """

    history_changed = Signal()
    shown = Signal()
    """Another record is shown."""
    atom_use_changed = Signal()
    failed = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.history = RunHistory()
        self._measurer = Measurer(jobs, self)
        self._measurer.measured.connect(self._take_figures)
        self._measurer.damage_measured.connect(self.history_changed)
        self._measurer.atom_use_changed.connect(self.atom_use_changed)
        self._measurer.failed.connect(self.failed)

    @property
    def damage_quality(self) -> QualityMetrics | None:
        """How good the damaged picture is; None where that is not known yet."""
        return self._measurer.damage_quality

    @property
    def atom_use(self) -> AtomUse | None:
        """Where the chosen atom is used."""
        return self._measurer.atom_use

    def clear(self) -> None:
        """Forget everything, for another document; nothing of the last one arrives any more."""
        self.history = RunHistory()
        self._measurer.forget_all()

    def add(self, document: Source, finished: RunResult) -> int:
        """Keep what a restoration led to, have it measured, and return its number."""
        assert finished.restoration is not None, "there is something to keep"
        record = RunRecord(
            self.history.next_number,
            finished.request.settings,
            finished.request.mask,
            finished.seconds,
            finished.restoration.image,
            finished.restoration,
            is_stopped=finished.is_stopped,
        )
        self.history = self.history.added(record)
        self._measurer.measure(document, record)
        return record.number

    def compare(self, comparison: Comparison) -> None:
        """Let two records stand side by side."""
        self.history = replace(self.history, comparison=comparison)

    def show(self, number: int) -> None:
        """Show a record."""
        self.history = replace(self.history, current_number=number)
        self._measurer.forget_atom()
        self.history_changed.emit()
        self.shown.emit()

    def measure_all(self, document: Source) -> None:
        """Measure all records anew, for another reference."""
        self.history = self.history.without_figures()
        self.history_changed.emit()
        for record in self.history.records:
            self._measurer.measure(document, record)

    def measure_damage(self, document: Source, mask: Mask) -> None:
        """Measure the damaged picture against its reference."""
        self._measurer.measure_damage(document, mask)

    def choose_atom(self, document: Source | None, atom: int | None) -> None:
        """Find the patches that use an atom of the dictionary that is shown; None shows none."""
        current = self.history.current
        if atom is None or document is None or current is None:
            self._measurer.forget_atom()
        else:
            self._measurer.find_atom(document, current, atom)

    def mark_saved(self, record: RunRecord) -> bool:
        """Remember that a record is in a file; tells whether it is one of this document."""
        own = self.history.find(record.number)
        if own is None or own.mask is not record.mask:
            return False
        self.history = replace(self.history, saved_number=record.number)
        self.history_changed.emit()
        return True

    def _take_figures(self, number: int, figures: QualityMetrics) -> None:
        self.history = self.history.with_figures(number, figures)
        self.history_changed.emit()
