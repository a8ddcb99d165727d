"""The one object that changes what the window knows, and tells who shows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from dictsel_core import RestoreSettings, Tuning
from inpaint_app.marks import Marks
from inpaint_app.mask_editing import MaskHistory
from inpaint_app.missing import Mask
from inpaint_app.picture import Picture
from inpaint_app.recipe import read_recipe
from inpaint_app.recipe_contents import recipe_settings
from inpaint_app.rect import Rect
from inpaint_app.window import opening, restoring
from inpaint_app.window.foreground import Foreground
from inpaint_app.window.history import RunHistory
from inpaint_app.window.jobs import Jobs
from inpaint_app.window.measurer import Measurer
from inpaint_app.window.opening import SAMPLES, Damage, Opened
from inpaint_app.window.previewer import Previewer
from inpaint_app.window.restoring import Finished, RestoreRequest
from inpaint_app.window.state import (
    Activity,
    Advice,
    AtomUse,
    Comparison,
    Document,
    Figures,
    Preview,
    RunRecord,
    Sketch,
)
from inpaint_app.window.task import Task

DEBOUNCE_MS = 150
"""How long parameters must rest before a preview or an automatic run begins."""

_NOTHING_TO_SHOW = "Stopped before there was anything to show."


class Session(QObject):
    """The document, its mask, the parameters, and the restorations made with them.

    Everything here happens on the GUI thread; long work is handed to `Jobs`. Most signals carry no values:
    who listens asks the session.
    """

    document_changed = Signal()
    mask_changed = Signal(object)
    """With the `Rect` outside of which nothing changed; None for a new mask."""
    mask_edited = Signal()
    """A step of editing the mask has ended."""
    settings_changed = Signal()
    result_changed = Signal()
    """Another restored picture is to be shown: a record, or a sketch of a run under way."""
    preview_changed = Signal()
    """Another preview is shown, or one is awaited now, or no longer."""
    history_changed = Signal()
    """Records, their figures or the current one are different now."""
    comparison_changed = Signal()
    activity_changed = Signal()
    advice_changed = Signal()
    atom_use_changed = Signal()
    problem = Signal(str)
    """A sentence about what went wrong and what to do."""
    notice = Signal(str)
    """A sentence about what was done."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document: Document | None = None
        self.mask: MaskHistory | None = None
        self.settings = RestoreSettings()
        self.is_automatic = False
        self.history = RunHistory()
        self.current: RunRecord | None = None
        self.sketch: Sketch | None = None
        self.comparison: Comparison | None = None
        self.advice: Advice | None = None
        self.atom_use: AtomUse | None = None
        self.damage_figures: Figures | None = None
        #: The run under way, or given up for a change, to be started anew after it.
        self._again: Callable[[], None] | None = None
        #: Whether sketches of the run under way are shown; the user may look at an earlier one meanwhile.
        self._shows_sketches = True
        self._saved_number = 0
        self._mask_is_saved = True
        self.jobs = Jobs(4, self)
        self._opening, self._working = Foreground(self.jobs, self), Foreground(self.jobs, self)
        self._previewer, self._measurer = Previewer(self.jobs, self), Measurer(self.jobs, self)
        self._missing_fraction: float | None = None
        self._debounce = QTimer(self)
        self._debounce.setSingleShot(True)
        self._debounce.setInterval(DEBOUNCE_MS)
        self._connect()

    def _connect(self) -> None:
        self._debounce.timeout.connect(self._rested)
        for foreground in (self._opening, self._working):
            foreground.activity_changed.connect(self.activity_changed)
        self._previewer.changed.connect(self.preview_changed)
        self._previewer.failed.connect(self.problem)
        self._measurer.measured.connect(self._take_figures)
        self._measurer.damage_measured.connect(self._take_damage_figures)
        self._measurer.atom_found.connect(self._take_atom_use)
        self._measurer.failed.connect(self.problem)

    @property
    def activity(self) -> Activity | None:
        """The long work that the user waits for, if there is any."""
        return self._working.activity or self._opening.activity

    @property
    def _is_busy(self) -> bool:
        """Whether a run is under way, or is to be started anew."""
        return self._working.is_active or self._again is not None

    @property
    def preview(self) -> Preview | None:
        """A part of the picture, restored with the parameters as they are now."""
        return self._previewer.preview

    @property
    def is_previewing(self) -> bool:
        """Whether a preview is being made, or will be as soon as the parameters rest."""
        return self._previewer.is_awaited

    @property
    def is_settled(self) -> bool:
        """Whether nothing is under way or about to begin."""
        return self.jobs.n_active == 0 and not self._debounce.isActive()

    def close(self) -> None:
        """Cancel all work and wait until its threads have ended."""
        self._debounce.stop()
        self.jobs.close()

    # Opening

    def open_file(self, path: Path, marks: Marks | None = None, reference: Path | None = None) -> None:
        """Open a picture file."""
        self._open(lambda: opening.open_file(path, marks or Marks(), reference), f"opening {path.name}")

    def open_sample(self, damage: Damage = SAMPLES[0]) -> None:
        """Open the bundled picture with some damage."""
        self._open(lambda: opening.open_sample(damage), "opening the sample")

    def open_picture(self, make: Callable[[], Picture], name: str) -> None:
        """Open pixels from elsewhere; `make` is called in another thread."""
        self._open(lambda: opening.open_pixels(make(), name), f"opening {name}")

    def simulate_damage(self, damage: Damage) -> None:
        """Damage the picture on purpose; the whole one becomes the reference."""
        document = self.document
        if document is None:
            self.problem.emit("There is no picture to damage yet; open one first.")
            return
        self._open(lambda: opening.simulate(document, damage), "simulating damage")

    def open_reference(self, path: Path) -> None:
        """Measure against this undamaged picture from now on."""
        if self.document is None or self.mask is None:
            self.problem.emit("Open the damaged picture first, then its reference.")
            return
        opened = Opened(self.document, self.mask.mask)
        self._open(lambda: opening.with_reference(opened, path), f"opening {path.name}", self._take_reference)

    def set_marks(self, marks: Marks) -> None:
        """Look for missing pixels again, as marked now; undoing brings a painted mask back."""
        document = self.document
        if document is None:
            self.problem.emit("Open a picture first, then say where pixels are missing.")
            return
        self._open(lambda: opening.mark_anew(document, marks), "finding missing pixels", self._take_marks)

    def open_recipe(self, path: Path) -> None:
        """Take the parameters of a recipe."""
        self._opening.start(
            Activity("open", f"opening {path.name}"),
            lambda _task: recipe_settings(read_recipe(path), path),
            done=self.set_settings,
            failed=self.problem.emit,
        )

    def _open(
        self, work: Callable[[], Opened], stage: str, take: Callable[[Opened], None] | None = None
    ) -> None:
        self._opening.start(
            Activity("open", stage),
            lambda _task: work(),
            done=take or self._take_document,
            failed=self.problem.emit,
        )

    def _take_document(self, opened: Opened) -> None:
        """Show another document; nothing of the last one may arrive any more."""
        self._debounce.stop()
        self._working.cancel()
        self._measurer.cancel()
        self._previewer.clear()
        self.document, self.mask = opened.document, MaskHistory(opened.mask)
        self._missing_fraction = None
        self._saved_number, self._mask_is_saved = 0, True
        self.history, self.current, self.sketch = RunHistory(), None, None
        self.comparison = self.advice = self.atom_use = self.damage_figures = None
        self._again = None
        self.document_changed.emit()
        self.mask_changed.emit(None)
        self.mask_edited.emit()
        for changed in (self.history_changed, self.result_changed, self.comparison_changed):
            changed.emit()
        self.advice_changed.emit()
        self.atom_use_changed.emit()
        for sentence in opened.document.picture.notices:
            self.notice.emit(sentence)
        self._measure_damage()
        if self.is_automatic and self.missing_fraction > 0:
            self.restore()

    def _take_reference(self, opened: Opened) -> None:
        self.document = opened.document
        self._set_history(self.history.without_figures())
        self.document_changed.emit()
        self._measure_damage()
        for record in self.history.records:
            self._measurer.measure(self.document, record)

    def _take_marks(self, opened: Opened) -> None:
        self.document = opened.document
        if self.mask is not None and self.mask.mask.shape == opened.mask.shape:
            self.mask.replace(opened.mask)
        else:
            self.mask = MaskHistory(opened.mask)
        self.document_changed.emit()
        self.mask_changed.emit(None)
        self._end_edit()

    # Mask

    def edit_mask(self, edit: Callable[[MaskHistory], Rect | None], *, ends: bool = True) -> None:
        """Change the mask; `ends` is False in the middle of a stroke."""
        if self.mask is None:
            return
        rect = edit(self.mask)
        if rect is not None:
            self.mask_changed.emit(rect)
        if ends:
            self._end_edit()

    @property
    def missing_fraction(self) -> float:
        """Missing part of all values, 0 to 1."""
        if self._missing_fraction is None:
            mask = None if self.mask is None else self.mask.mask
            self._missing_fraction = 0.0 if mask is None else np.count_nonzero(mask) / mask.size
        return self._missing_fraction

    def _end_edit(self) -> None:
        assert self.mask is not None
        self._mask_is_saved = not self.mask.can_undo
        self._missing_fraction = None
        self.mask_edited.emit()
        self._measure_damage()
        self._schedule()

    # Parameters

    def set_settings(self, settings: RestoreSettings) -> None:
        """Take other parameters; a preview follows, or a run if that is automatic."""
        if settings == self.settings:
            return
        self._show_settings(settings)
        self._schedule()

    def set_automatic(self, automatic: bool) -> None:
        """Say whether every change is followed by a full run."""
        self.is_automatic = automatic
        self.settings_changed.emit()
        if automatic and not self._working.is_active:
            self._schedule()

    def look_at(self, rect: Rect | None) -> None:
        """Tell which part of the picture is in view: that is what a preview shows.

        Work under way goes on: looking elsewhere is no change.
        """
        self._previewer.seen = rect
        if not (self._is_busy or self._previewer.is_in_view):
            self._schedule()

    def _show_settings(self, settings: RestoreSettings) -> None:
        self.settings = settings
        self.settings_changed.emit()
        if self.advice is not None and self.advice.settings != settings:
            self.advice = None
            self.advice_changed.emit()

    def _schedule(self) -> None:
        """Preview, or run, when the user pauses; what is outdated now never appears."""
        if self.document is None:
            return
        again = self._again
        if self._working.cancel():
            self._drop_sketch()
        self._again = again
        if again is None and not self.is_automatic and self.missing_fraction > 0:
            self._previewer.expect()
        else:
            self._previewer.cancel()
        self._debounce.start()

    def _rested(self) -> None:
        some_missing = self.missing_fraction > 0
        if self._again is not None:
            self._again()
        elif self.is_automatic and some_missing:
            self.restore()
        elif some_missing:
            request = self._request()
            assert request is not None, "there is a document"
            self._previewer.start(request)
        else:
            self._previewer.clear()

    # Restoring

    def restore(self) -> None:
        """Restore the whole picture with the parameters as they are now."""
        request = self._request()
        if request is not None:
            self._work("restore", lambda task: restoring.restore(task, request), self._take_finished)
            self._again = self.restore

    def compare(self) -> None:
        """Restore under individual and under average sparsity, with the same parameters otherwise."""
        request = self._request()
        if request is not None:
            self._work("compare", lambda task: restoring.compare(task, request), self._take_compared)
            self._again = self.compare

    def tune(self) -> None:
        """Let held-out pixels choose the parameters, then restore with them."""
        request = self._request()
        if request is not None:
            self._work("tune", lambda task: restoring.tune(task, request), self._take_tuning)

    def stop(self) -> None:
        """End the work under way and keep what is there."""
        self._debounce.stop()
        self._previewer.cancel()
        self._again = None
        if self.activity is not None and not self.activity.can_keep:
            self.cancel()
        self._working.stop()

    def cancel(self) -> None:
        """Give the work under way up; everything is as it was before."""
        self._debounce.stop()
        self._again = None
        self._opening.cancel()
        self._previewer.clear()
        if self._working.cancel():
            self._drop_sketch()

    def _request(self) -> RestoreRequest | None:
        if self.document is None or self.mask is None:
            self.problem.emit("There is no picture yet; open one, or open the sample.")
            return None
        return RestoreRequest(self.document.picture.pixels, self.mask.snapshot(), self.settings)

    def _work(self, kind: str, work: Callable[[Task], object], take: Callable[..., None]) -> None:
        self._debounce.stop()
        self._previewer.cancel()
        self._again = None
        self._shows_sketches = True

        def done(result: object) -> None:
            self._again = None
            self.sketch = None
            take(result)

        def failed(sentence: str) -> None:
            self._again = None
            self._drop_sketch()
            self.problem.emit(sentence)

        self._working.start(Activity(kind, "starting", 0.0), work, done=done, failed=failed, news=self._hear)

    def _hear(self, sketch: Sketch) -> None:
        if self._shows_sketches:
            self.sketch = sketch
            self.result_changed.emit()

    def _drop_sketch(self) -> None:
        self.sketch = None
        self.result_changed.emit()

    def _take_finished(self, finished: Finished) -> None:
        if finished.image is None:
            self.notice.emit(_NOTHING_TO_SHOW)
            self._drop_sketch()
            return
        self._show(self._add(finished))

    def _take_compared(self, results: tuple[Finished, ...]) -> None:
        records = {
            finished.request.settings.constraint: self._add(finished)
            for finished in results
            if finished.image is not None
        }
        if not records:
            self.notice.emit(_NOTHING_TO_SHOW)
            self._drop_sketch()
            return
        numbers = {constraint: record.number for constraint, record in records.items()}
        self.comparison = Comparison(numbers.get("individual"), numbers.get("average"))
        self._show(records.get(self.settings.constraint) or next(iter(records.values())))
        self.comparison_changed.emit()

    def _take_tuning(self, tuning: Tuning) -> None:
        # What the user left to be automatic stays so.
        settings = self.settings if tuning.settings == tuning.given else tuning.settings
        self.advice = Advice(settings, restoring.advice(tuning))
        self._show_settings(settings)
        self.advice_changed.emit()
        self.restore()

    def _add(self, finished: Finished) -> RunRecord:
        assert self.document is not None
        restoration = finished.restoration
        record = RunRecord(
            self.history.next_number,
            finished.request.settings if restoration is None else restoration.settings,
            finished.request.mask,
            finished.seconds,
            finished.image,
            restoration,
        )
        self.history = self.history.added(record)
        self._measurer.measure(self.document, record)
        return record

    def _show(self, record: RunRecord) -> None:
        self.current = record
        self.choose_atom(None)
        self._previewer.clear()
        self.history_changed.emit()
        self.result_changed.emit()

    def go_back(self, number: int) -> None:
        """Show a restoration of the history again, with its parameters.

        A run under way goes on with its own parameters, and shows its result when it ends.
        """
        record = self.history.find(number)
        if record is None:
            return
        is_busy = self._is_busy
        if not is_busy:
            self.cancel()
            self._show_settings(record.settings)
        if record.image is None:
            way = "go back to it after the run under way" if is_busy else "F5 restores them again"
            self.notice.emit(f"The pixels of run {number} were let go to save memory; {way}.")
            return
        if is_busy:
            self._shows_sketches, self.sketch = False, None
        self._show(record)

    # Figures

    def _measure_damage(self) -> None:
        assert self.document is not None
        assert self.mask is not None
        self.damage_figures = None
        self._measurer.measure_damage(self.document, self.mask.snapshot())

    def _take_figures(self, number: int, figures: Figures) -> None:
        self._set_history(self.history.with_figures(number, figures))

    def _take_damage_figures(self, figures: Figures) -> None:
        self.damage_figures = figures
        self.history_changed.emit()

    def _set_history(self, history: RunHistory) -> None:
        self.history = history
        self.current = None if self.current is None else history.find(self.current.number)
        self.history_changed.emit()

    def choose_atom(self, atom: int | None) -> None:
        """Find the patches that use an atom of the current dictionary; None shows none."""
        self._measurer.forget_atom()
        if atom is not None and self.document is not None and self.current is not None:
            self._measurer.find_atom(self.document, self.current, atom)
        elif self.atom_use is not None:
            self._take_atom_use(None)

    def _take_atom_use(self, use: AtomUse | None) -> None:
        self.atom_use = use
        self.atom_use_changed.emit()

    @property
    def compared_records(self) -> tuple[RunRecord, ...]:
        """The records that stand side by side: individual and average, or the current one."""
        if self.comparison is not None:
            numbers = (self.comparison.individual, self.comparison.average)
            pair = tuple(record for record in map(self.history.find, numbers) if record is not None)
            if pair:
                return pair
        return () if self.current is None else (self.current,)

    # Saving

    @property
    def has_unsaved_work(self) -> bool:
        """Whether the restored picture shown, or a painted mask, is in no file yet."""
        return self.has_unsaved_result or self.has_unsaved_mask

    @property
    def has_unsaved_result(self) -> bool:
        """Whether the restored picture shown is in no file yet."""
        return self.current is not None and self.current.number != self._saved_number

    @property
    def has_unsaved_mask(self) -> bool:
        """Whether a painted mask is neither in a file nor in a picture that was restored with it."""
        return not self._mask_is_saved

    def discard(self) -> None:
        """Take the work for saved."""
        self._mask_is_saved = True
        if self.current is not None:
            self.note_saved(self.current)

    def note_saved(self, record: RunRecord) -> None:
        """Remember that a restored picture is safe, and the mask if it was restored with that."""
        own = self.history.find(record.number)
        if own is None or own.mask is not record.mask:  # of a document that was left meanwhile
            return
        self._saved_number = record.number
        self.note_mask_saved(record.mask)
        self.history_changed.emit()

    def note_mask_saved(self, mask: Mask) -> None:
        """Remember that a mask is safe, if it is still the one that is used."""
        if self.mask is not None and np.array_equal(self.mask.mask, mask):
            self._mask_is_saved = True
            self.mask_edited.emit()
