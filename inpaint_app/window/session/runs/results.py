"""The restorations of a source: which there are, which is shown, how good they are, which is saved."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from dictsel_core import RestoreSettings
from dictsel_core.restoration import CONSTRAINTS
from inpaint_app.engine.dictionary import AtomUse, atom_use
from inpaint_app.engine.hole_fill import HoleFill
from inpaint_app.engine.measure import QualityMetrics, damage_quality, quality
from inpaint_app.engine.restore import RunResult
from inpaint_app.engine.source import Source
from inpaint_app.model.packed_mask import PackedMask
from inpaint_app.model.picture import Array
from inpaint_app.window.background.exclusive_task import ExclusiveTask
from inpaint_app.window.background.release import release_later
from inpaint_app.window.background.worker_pool import WorkerPool
from inpaint_app.window.session.runs.history import RunHistory
from inpaint_app.window.session.state import PackedRequest, RunRecord


class Results(QObject):
    """Keeps the history of runs, and measures its records in the background."""

    changed = Signal()
    """Records, their figures, the current record or `damage_quality` have changed."""
    shown = Signal()
    """Another record is shown."""
    atom_use_changed = Signal()

    def __init__(self, workers: WorkerPool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.history = RunHistory()  #: All restorations of the source.
        #: How good the damaged picture is; None while that is not known.
        self.damage_quality: QualityMetrics | None = None
        self.atom_use: AtomUse | None = None  #: Where the chosen atom is used.
        self._source: Source | None = None
        #: By what they measure: "damage", "atom", or the number of a record.
        self._tasks: defaultdict[str | int, ExclusiveTask] = defaultdict(lambda: ExclusiveTask(workers))

    @property
    def current(self) -> RunRecord | None:
        """The restoration that is shown, if there is one."""
        return self.history.current

    def restart(self, source: Source | None) -> None:
        """Forget everything, for another source or none; nothing arrives late from the last one."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()
        self._source, self.history, self.damage_quality = source, RunHistory(), None
        self.choose_atom(None)
        self.changed.emit()

    # Records

    def find_runs(
        self, settings: RestoreSettings, mask: PackedMask, hole_fill: HoleFill | None = None
    ) -> dict[str, int]:
        """Return the numbers, by constraint, of complete runs with these inputs under each."""
        found: dict[str, int] = {}
        for constraint in CONSTRAINTS:
            record = self.history.find_run(replace(settings, constraint=constraint), mask, hole_fill)
            if record is not None:
                found[constraint] = record.number
        return found

    def add(self, results: Iterable[RunResult], mask: PackedMask | None = None) -> dict[str, int]:
        """Keep and measure what runs led to; return the numbers of the new records by constraint.

        The mask is that of their requests, packed before.
        """
        numbers: dict[str, int] = {}
        for result in results:
            if result.restoration is not None:
                measured = result.restoration.image
                image = measured if result.grainy is None else result.grainy
                record = RunRecord(
                    self.history.next_number,
                    result.request.settings,
                    mask or PackedMask.pack(result.request.mask),
                    result.seconds,
                    image,
                    replace(result.restoration, image=image),
                    is_stopped=result.is_stopped,
                    hole_fill=result.request.hole_fill,
                )
                self.history = self.history.added(record)
                self._measure(record, measured)
                numbers[record.requested.constraint] = record.number
        return numbers

    def put(self, record: RunRecord) -> None:
        """Show a record that was healed, in place of the one of its number if there is one."""
        has_reference = self._source is not None and self._source.reference is not None
        record = replace(record, figures=None if has_reference else QualityMetrics())
        before = self.history.find(record.number)
        release_later(before)
        history = self.history.added(record) if before is None else self.history
        self.history = history.replaced(record)
        if has_reference:
            self._measure(record)
        self.choose_atom(None)
        self.changed.emit()

    def remove(self, number: int) -> None:
        """Forget a record."""
        self._tasks[number].cancel()
        self.history = self.history.without(number)
        self.choose_atom(None)
        self.changed.emit()
        self.shown.emit()

    def rename(self, number: int, name: str) -> None:
        """Give a record a name; an empty one takes it away."""
        self.history = self.history.updated(number, name=name)
        self.changed.emit()

    def show(self, number: int | None, comparison: Sequence[int] = ()) -> None:
        """Show a record, or none; those it is to be compared with stand side by side from now on."""
        self.history = replace(
            self.history, current_number=number, comparison=tuple(comparison) or self.history.comparison
        )
        self.choose_atom(None)
        self.changed.emit()
        self.shown.emit()

    def mark_saved(self, record: RunRecord) -> bool:
        """Remember that a record was written to a file; return whether it is one of this source."""
        own = self.history.find(record.number)
        if own is None or own.packed_mask is not record.packed_mask:
            return False
        self.history = replace(self.history, saved_number=record.number)
        self.changed.emit()
        return True

    # Measuring

    def set_reference(self, source: Source) -> None:
        """Measure all records again, against the reference that the source has now."""
        self._source = source
        self.history = self.history.without_figures()
        self.changed.emit()
        for record in self.history.records:
            self._measure(record)

    def measure_damage(self, mask: PackedMask) -> None:
        """Measure the damaged picture against its reference."""
        assert self._source is not None and self._source.reference is not None
        self.damage_quality = None
        pixels, reference = self._source.picture.pixels, self._source.reference.pixels

        def on_done(figures: QualityMetrics) -> None:
            self.damage_quality = figures
            self.changed.emit()

        self._tasks["damage"].start(
            lambda _control: damage_quality(pixels, mask.unpack(), reference), done=on_done
        )

    def choose_atom(self, atom: int | None) -> None:
        """Find the patches that use an atom of the current dictionary; those of the last stay until then.

        None shows none.
        """
        current = self.current
        if atom is None or current is None:
            self._tasks["atom"].cancel()
            if self.atom_use is not None:
                self._set_atom_use(None)
        else:
            packed, restoration = self._packed_request(current), current.restoration
            self._tasks["atom"].start(
                lambda _control: atom_use(packed.unpack(), restoration, atom), done=self._set_atom_use
            )

    def _measure(self, record: RunRecord, measured: Array | None = None) -> None:
        """Measure a record by its image, or by another one of it."""
        image = record.image if measured is None else measured
        if image is None or self._source is None:
            return
        packed, reference = self._packed_request(record), self._source.reference
        pixels = None if reference is None else reference.pixels

        def on_done(figures: QualityMetrics) -> None:
            self.history = self.history.updated(record.number, figures=figures)
            self.changed.emit()

        self._tasks[record.number].start(
            lambda _control: quality(packed.unpack(), image, pixels), done=on_done
        )

    def _packed_request(self, record: RunRecord) -> PackedRequest:
        assert self._source is not None, "records belong to a source"
        return PackedRequest(self._source.picture.pixels, record.packed_mask, record.settings)

    def _set_atom_use(self, use: AtomUse | None) -> None:
        self.atom_use = use
        self.atom_use_changed.emit()
