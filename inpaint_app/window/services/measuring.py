"""How good pictures are, and where atoms are used: measured whenever there is something to measure."""

from collections import defaultdict

from PySide6.QtCore import QObject

from inpaint_app.engine.export import atom_use
from inpaint_app.engine.measure import QualityMetrics, damage_quality, quality
from inpaint_app.window.background.exclusive_task import ExclusiveTask
from inpaint_app.window.background.worker_pool import WorkerPool
from inpaint_app.window.document.document import Document
from inpaint_app.window.document.runs import PackedRequest, RunRecord
from inpaint_app.window.document.state import DocumentState


class Measuring(QObject):
    """Follows a document: measures records without figures, and the damaged picture after every edit."""

    def __init__(self, document: Document, workers: WorkerPool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        #: By what they measure: "damage", "atom", or the number of a record.
        self._tasks: defaultdict[str | int, ExclusiveTask] = defaultdict(lambda: ExclusiveTask(workers))
        document.watch(self._follow, "source", "mask", "runs", "atom")

    def restart(self) -> None:
        """Measure nothing of the last source any more."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()

    def choose_atom(self, atom: int | None) -> None:
        """Find the patches that use an atom of the current dictionary; those of the last stay until then.

        None shows none.
        """
        state, current = self._document.state, self._document.state.runs.current
        if atom is None or current is None or state.source is None:
            self._document.apply(atom=None, atom_use=None)
        else:
            self._document.apply(atom=atom)
            packed, restoration = _request(state, current), current.restoration
            self._tasks["atom"].start(
                lambda _control: atom_use(packed.unpack(), restoration, atom),
                done=lambda use: self._document.apply(atom_use=use),
            )

    def _follow(self, old: DocumentState, new: DocumentState) -> None:
        if new.atom is None:
            self._tasks["atom"].cancel()
        if new.source is None:
            return
        is_other_reference = old.source is None or old.source.reference is not new.source.reference
        if is_other_reference and any(record.figures is not None for record in new.runs.records):
            self._document.apply(runs=self._document.state.runs.without_figures())
        elif new.runs is not old.runs:
            before = {record.number: record for record in old.runs.records}
            for record in new.runs.records:
                known = before.pop(record.number, None)
                is_other = known is None or known.image is not record.image or known.figures is not None
                if record.figures is None and is_other:
                    self._measure(new, record)
            for number in before:
                self._tasks[number].cancel()
        if new.has_reference and (new.mask is not old.mask or is_other_reference):
            self._measure_damage(new)

    def _measure_damage(self, state: DocumentState) -> None:
        """Measure the damaged picture against its reference."""
        source, mask = state.source, state.mask
        assert source is not None and source.reference is not None and mask is not None
        pixels, reference = source.picture.pixels, source.reference.pixels
        self._document.apply(damage_quality=None)
        self._tasks["damage"].start(
            lambda _control: damage_quality(pixels, mask.unpack(), reference),
            done=lambda figures: self._document.apply(damage_quality=figures),
        )

    def _measure(self, state: DocumentState, record: RunRecord) -> None:
        image = record.image if record.plain is None else record.plain
        if image is None or state.source is None:
            return
        packed, reference = _request(state, record), state.source.reference
        pixels = None if reference is None else reference.pixels

        def on_done(figures: QualityMetrics) -> None:
            runs = self._document.state.runs.updated(record.number, figures=figures, plain=None)
            self._document.apply(runs=runs)

        self._tasks[record.number].start(
            lambda _control: quality(packed.unpack(), image, pixels), done=on_done
        )


def _request(state: DocumentState, record: RunRecord) -> PackedRequest:
    assert state.source is not None, "records belong to a source"
    return PackedRequest(state.source.picture.pixels, record.packed_mask, record.settings)
