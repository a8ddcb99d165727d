"""How good pictures are, and where atoms are used: measured whenever there is something to measure."""

from collections import defaultdict
from dataclasses import replace

from PySide6.QtCore import QObject

from inpaint_app.engine.export import atom_use
from inpaint_app.engine.measure import QualityMetrics, damage_quality, quality, region_psnr
from inpaint_app.model.picture import Array, Mask, Rect
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.background.work import ExclusiveTask, WorkerPool
from inpaint_app.window.document.document import Document
from inpaint_app.window.document.runs import PackedRequest, RunRecord
from inpaint_app.window.document.state import DocumentState, Region


class Measuring(QObject):
    """Follows a document: measures records without figures, and the damaged picture after every edit."""

    def __init__(self, document: Document, workers: WorkerPool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        #: By what they measure: "damage", "atom", or the number of a record.
        self._tasks: defaultdict[str | int, ExclusiveTask] = defaultdict(lambda: ExclusiveTask(workers))
        self._region_of: Mask | None = None
        self._region_images: dict[int | None, Array] = {}
        document.watch(self._follow, "source", "mask", "runs", "atom", "region")

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

    def measure_region(self, rect: Rect, inside: Mask) -> None:
        """Measure all runs within a part of the picture, and those that follow."""
        if not self._document.state.has_reference:
            self._document.notice.emit(
                f"Errors are measured against the original; open it first{key_hint('open_reference')}."
            )
            return
        self._document.apply(region=Region(rect, inside))

    def forget_region(self) -> None:
        """Measure no part of the picture any more."""
        self._document.apply(region=None)

    def _measure_region(self, state: DocumentState) -> None:
        """Measure what has not been measured in the region: the damaged picture, and runs."""
        region, source = state.region, state.source
        if region is None or source is None or source.reference is None:
            return
        reference = source.reference.pixels
        images: dict[int | None, Array | None] = {None: source.picture.pixels}
        images |= {record.number: record.image for record in state.runs.records}
        known = dict(self._region_images) if self._region_of is region.inside else {}
        new = {
            key: image for key, image in images.items() if image is not None and known.get(key) is not image
        }
        if not new:
            return
        self._region_of, self._region_images = region.inside, {**known, **new}

        def on_done(found: dict[int | None, float]) -> None:
            now = self._document.state.region
            if now is not None and now.inside is region.inside:
                self._document.apply(region=replace(now, psnr={**now.psnr, **found}))

        self._tasks["region"].start(
            lambda _control: {
                key: region_psnr(reference, image, region.rect, region.inside) for key, image in new.items()
            },
            done=on_done,
        )

    def _follow(self, old: DocumentState, new: DocumentState) -> None:
        if new.region is not old.region or new.runs is not old.runs:
            self._measure_region(new)
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
