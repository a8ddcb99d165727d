"""The one object that changes what the window knows, and tells who shows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal

from dictsel_core import CONSTRAINTS, RestoreSettings, Tuning
from inpaint_app.image.damage import SAMPLES, Damage
from inpaint_app.image.mask_history import MaskHistory
from inpaint_app.image.mask_spec import MaskSpec
from inpaint_app.image.missing import Mask
from inpaint_app.image.picture import Picture
from inpaint_app.image.rect import Rect
from inpaint_app.jobs import restore as restoring
from inpaint_app.jobs import source as sources
from inpaint_app.jobs.control import Progress
from inpaint_app.jobs.dictionary import AtomUse
from inpaint_app.jobs.measure import QualityMetrics
from inpaint_app.jobs.recipe import LoadedRecipe, load_recipe
from inpaint_app.jobs.restore import IntermediateImage, Preview, RestoreRequest, RunResult
from inpaint_app.jobs.source import Source
from inpaint_app.jobs.tune import tune
from inpaint_app.window.session import descriptions
from inpaint_app.window.session.background import Jobs
from inpaint_app.window.session.exclusive_task import ExclusiveTask
from inpaint_app.window.session.history import RunHistory
from inpaint_app.window.session.results import Results
from inpaint_app.window.session.runner import Runner
from inpaint_app.window.session.state import Activity, Advice, Comparison, RunRecord


class Session(QObject):
    """The document, its mask, the parameters, and the restorations made with them.

    Everything here happens on the GUI thread; long work is handed to `Jobs`. Most signals carry no values:
    who listens asks the session. What runs is held by a `Runner`, what came of it by `Results`.
    """

    document_changed = Signal()
    mask_changed = Signal(object)
    """With the `Rect` outside of which nothing changed; None for a new mask."""
    mask_edited = Signal()
    """A step of editing the mask has ended."""
    settings_changed = Signal()
    result_changed = Signal()
    """Another restored picture is to be shown: a record, or a sketch of a run under way."""
    record_shown = Signal()
    """Another record is shown, new or of the history."""
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
        self.document: Source | None = None
        self.mask: MaskHistory | None = None
        self.settings = RestoreSettings()
        self.is_automatic = False
        self.advice: Advice | None = None
        self._missing_fraction: float | None = None
        self.jobs = Jobs(4, self)
        self._opening = ExclusiveTask(self.jobs, self)
        self._runner, self._results = Runner(self.jobs, self), Results(self.jobs, self)
        self._connect()

    def _connect(self) -> None:
        runner, results = self._runner, self._results
        self._opening.activity_changed.connect(self.activity_changed)
        runner.activity_changed.connect(self.activity_changed)
        runner.intermediate_changed.connect(self.result_changed)
        runner.preview_changed.connect(self.preview_changed)
        runner.debounced.connect(self._preview_or_restore)
        runner.failed.connect(self.problem)
        results.history_changed.connect(self.history_changed)
        results.shown.connect(self.result_changed)
        results.shown.connect(self.record_shown)
        results.atom_use_changed.connect(self.atom_use_changed)
        results.failed.connect(self.problem)

    # What is held elsewhere

    @property
    def activity(self) -> Activity | None:
        """The long work that the user waits for, if there is any."""
        return self._runner.activity or self._opening.activity

    @property
    def history(self) -> RunHistory:
        """All restorations of the document."""
        return self._results.history

    @property
    def current(self) -> RunRecord | None:
        """The restoration that is shown, if there is one."""
        return self.history.current

    @property
    def comparison(self) -> Comparison | None:
        """Which restorations were last made to stand side by side."""
        return self.history.comparison

    @property
    def compared_records(self) -> tuple[RunRecord, ...]:
        """The records that stand side by side: individual and average, or the current one alone."""
        return self.history.compared

    @property
    def intermediate(self) -> IntermediateImage | None:
        """The picture so far of the run under way, if it is looked at."""
        return self._runner.intermediate

    @property
    def preview(self) -> Preview | None:
        """A part of the picture, restored with the parameters as they are now."""
        return self._runner.preview

    @property
    def damage_quality(self) -> QualityMetrics | None:
        """How good the damaged picture is; None where that is not known yet."""
        return self._results.damage_quality

    @property
    def atom_use(self) -> AtomUse | None:
        """Where the chosen atom is used."""
        return self._results.atom_use

    @property
    def is_previewing(self) -> bool:
        """Whether a preview is being made, or will be as soon as the parameters rest."""
        return self._runner.is_previewing

    @property
    def is_settled(self) -> bool:
        """Whether nothing is under way or about to begin."""
        return self.jobs.n_active == 0 and not self._runner.is_pausing

    def close(self) -> None:
        """Cancel all work and wait until its threads have ended."""
        self._runner.close()
        self.jobs.close()

    # Opening

    def open_file(
        self,
        path: Path,
        mask_spec: MaskSpec | None = None,
        reference: Path | None = None,
        *,
        notice: str = "",
    ) -> None:
        """Open a picture file; a notice may follow."""

        def take(opened: Source) -> None:
            self._take_document(opened)
            if notice:
                self.notice.emit(notice)

        self._open(
            lambda: sources.open_source(path, mask_spec or MaskSpec(), reference),
            f"opening {path.name}",
            take,
        )

    def open_sample(self, damage: Damage = SAMPLES[0]) -> None:
        """Open the bundled picture with some damage."""
        self._open(lambda: sources.open_sample(damage), "opening the sample")

    def open_picture(self, make: Callable[[], Picture], name: str) -> None:
        """Open pixels from elsewhere; `make` is called in another thread."""
        self._open(lambda: sources.source_from_picture(make(), name), f"opening {name}")

    def simulate_damage(self, damage: Damage) -> None:
        """Damage the picture on purpose; the whole one becomes the reference."""
        document = self.document
        if document is None:
            self.problem.emit("There is no picture to damage yet; open one first.")
            return
        self._open(lambda: sources.simulate_damage(document, damage), "simulating damage")

    def open_reference(self, path: Path) -> None:
        """Measure against this undamaged picture from now on."""
        document = self.document
        if document is None:
            self.problem.emit("Open the damaged picture first, then its reference.")
            return
        self._open(
            lambda: sources.with_reference(document, path), f"opening {path.name}", self._take_reference
        )

    def set_mask_spec(self, mask_spec: MaskSpec) -> None:
        """Look for missing pixels again, as marked now; undoing brings a painted mask back."""
        document = self.document
        if document is None:
            self.problem.emit("Open a picture first, then say where pixels are missing.")
            return
        self._open(
            lambda: sources.detect_again(document, mask_spec), "finding missing pixels", self._take_mask_spec
        )

    def open_recipe(self, path: Path) -> None:
        """Take the parameters of a recipe, and its marks of missing pixels for the picture that is open.

        If anything of it does not work, everything stays as it was.
        """
        document = self.document
        self._opening.start(
            Activity("open", Progress(f"opening {path.name}")),
            lambda _control: load_recipe(path, document),
            done=self._take_recipe,
            failed=self.problem.emit,
        )

    def _open(
        self, work: Callable[[], Source], stage: str, take: Callable[[Source], None] | None = None
    ) -> None:
        self._opening.start(
            Activity("open", Progress(stage)),
            lambda _task: work(),
            done=take or self._take_document,
            failed=self.problem.emit,
        )

    def _take_document(self, opened: Source) -> None:
        """Show another document; nothing of the last one may arrive any more."""
        self._runner.cancel()
        self._results.clear()
        self.document, self.mask = opened, MaskHistory(opened.missing.mask)
        self._missing_fraction = self.advice = None
        self.document_changed.emit()
        self.mask_changed.emit(None)
        self.mask_edited.emit()
        for changed in (self.history_changed, self.result_changed, self.comparison_changed):
            changed.emit()
        self.advice_changed.emit()
        self.atom_use_changed.emit()
        for sentence in opened.picture.notices:
            self.notice.emit(sentence)
        self._measure_damage()
        if self.is_automatic and self.missing_fraction > 0:
            self.restore()

    def _take_reference(self, opened: Source) -> None:
        self.document = opened
        self.document_changed.emit()
        self._measure_damage()
        self._results.measure_all(opened)

    def _take_mask_spec(self, opened: Source) -> None:
        self.document = opened
        if self.mask is not None and self.mask.mask.shape == opened.missing.mask.shape:
            self.mask.replace(opened.missing.mask)
        else:
            self.mask = MaskHistory(opened.missing.mask)
        self.document_changed.emit()
        self.mask_changed.emit(None)
        self._end_edit()

    def _take_recipe(self, recipe: LoadedRecipe) -> None:
        if recipe.source is not None:
            self._take_mask_spec(recipe.source)
        elif recipe.mask_spec != MaskSpec():
            self.notice.emit("The recipe also marks missing pixels; open it again when a picture is open.")
        self.set_settings(recipe.settings)

    # Mask

    def edit_mask(self, edit: Callable[[MaskHistory], Rect | None], *, ends: bool = True) -> None:
        """Change the mask; `ends` is False in the middle of a stroke."""
        if self.mask is None:
            return
        rect = edit(self.mask)
        if rect is not None:
            self._missing_fraction = None
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
        if automatic and not self._runner.is_active:
            self._schedule()

    def look_at(self, rect: Rect | None) -> None:
        """Tell which part of the picture is in view: that is what a preview shows.

        Work under way goes on: looking elsewhere is no change.
        """
        if self.document is not None:
            self._runner.look_at(rect)

    def _show_settings(self, settings: RestoreSettings) -> None:
        self.settings = settings
        self.settings_changed.emit()
        if self.advice is not None and self.advice.settings != settings:
            self.advice = None
            self.advice_changed.emit()

    def _schedule(self) -> None:
        """Preview, or run, when the user pauses."""
        if self.document is not None:
            self._runner.restart(previews=not self.is_automatic and self.missing_fraction > 0)

    def _preview_or_restore(self) -> None:
        if self.missing_fraction == 0:
            self._runner.clear_preview()
        elif self.is_automatic:
            self.restore()
        else:
            request = self._request()
            assert request is not None, "there is a document"
            self._runner.preview_request(request)

    # Restoring

    def restore(self) -> None:
        """Restore the whole picture with the parameters as they are now."""
        request = self._request()
        if request is not None:
            self._runner.run(
                "restore",
                lambda control: restoring.restore(request, control),
                self._take_finished,
                again=self.restore,
            )

    def compare(self) -> None:
        """Restore under individual and under average sparsity, with the same parameters otherwise.

        What there is already is not made again.
        """
        request = self._request()
        if request is not None:
            known = self._known(request)
            rest = [constraint for constraint in CONSTRAINTS if constraint not in known]
            self._runner.run(
                "compare",
                lambda control: restoring.compare(request, rest, control),
                lambda results: self._take_compared(results, known),
                again=self.compare,
            )

    def _known(self, request: RestoreRequest) -> dict[str, int]:
        """Return the numbers, by constraint, of complete runs of a request under each."""
        known: dict[str, int] = {}
        for constraint in CONSTRAINTS:
            settings = restoring.with_constraint(request, constraint).settings
            record = self.history.find_run(settings, request.mask)
            if record is not None:
                known[constraint] = record.number
        return known

    def tune(self) -> None:
        """Let held-out pixels choose the parameters, then restore with them."""
        request = self._request()
        if request is not None:
            self._runner.run("tune", lambda control: tune(request, control), self._take_tuning)

    def stop(self) -> None:
        """End the work under way and keep what is there."""
        if self.activity is not None and not self.activity.can_keep:
            self.cancel()
        self._runner.stop()

    def cancel(self) -> None:
        """Give the work under way up; everything is as it was before."""
        self._opening.cancel()
        self._runner.cancel()

    def _request(self) -> RestoreRequest | None:
        if self.document is None or self.mask is None:
            self.problem.emit("There is no picture yet; open one, or open the sample.")
            return None
        return RestoreRequest(self.document.picture.pixels, self.mask.snapshot(), self.settings)

    def _take_finished(self, finished: RunResult) -> None:
        self._show_one_of(self._keep((finished,)))

    def _take_compared(self, results: tuple[RunResult, ...], known: dict[str, int]) -> None:
        numbers = known | self._keep(results)
        if numbers:
            self._results.compare(Comparison(numbers.get("individual"), numbers.get("average")))
        self._show_one_of(numbers)
        self.comparison_changed.emit()

    def _keep(self, results: tuple[RunResult, ...]) -> dict[str, int]:
        """Keep what runs led to, and return their numbers by constraint."""
        assert self.document is not None
        return {
            finished.request.settings.constraint: self._results.add(self.document, finished)
            for finished in results
            if finished.restoration is not None
        }

    def _show_one_of(self, numbers: dict[str, int]) -> None:
        if numbers:
            self._show(numbers.get(self.settings.constraint) or next(iter(numbers.values())))
        else:
            self.notice.emit("Stopped before there was anything to show.")
            self.result_changed.emit()

    def _take_tuning(self, tuning: Tuning) -> None:
        # What the user left to be automatic stays so.
        settings = self.settings if tuning.settings == tuning.given else tuning.settings
        self.advice = Advice(settings, descriptions.format_advice(tuning))
        self._show_settings(settings)
        self.advice_changed.emit()
        self.restore()

    # Looking at what there is

    def go_back(self, number: int) -> None:
        """Show a restoration of the history again, with its parameters.

        A run under way goes on with its own parameters, and shows its result when it ends.
        """
        record = self.history.find(number)
        if record is None:
            return
        is_busy = self._runner.is_busy
        if not is_busy:
            self.cancel()
            self._show_settings(record.requested)
        if record.image is None:
            way = "go back to it after the run under way" if is_busy else "F5 restores them again"
            self.notice.emit(f"The pixels of run {number} were let go to save memory; {way}.")
            return
        if is_busy:
            self._runner.hide_intermediate()
        self._show(number)

    def choose_atom(self, atom: int | None) -> None:
        """Find the patches that use an atom of the current dictionary; None shows none."""
        self._results.choose_atom(self.document, atom)

    def _show(self, number: int) -> None:
        self._runner.clear_preview()
        self._results.show(number)

    def _measure_damage(self) -> None:
        if self.document is not None and self.mask is not None and self.document.reference is not None:
            self._results.measure_damage(self.document, self.mask.snapshot())

    # Saving

    @property
    def has_unsaved_work(self) -> bool:
        """Whether the restored picture shown, or a painted mask, is in no file yet."""
        return self.has_unsaved_result or self.has_unsaved_mask

    @property
    def has_unsaved_result(self) -> bool:
        """Whether the restored picture shown is in no file yet."""
        return self.history.has_unsaved

    @property
    def has_unsaved_mask(self) -> bool:
        """Whether a painted mask is neither in a file nor in a picture that was restored with it."""
        return self.mask is not None and not self.mask.is_saved

    def discard(self) -> None:
        """Take the work for saved."""
        if self.mask is not None:
            self.mask.mark_saved()
        if self.current is not None:
            self._results.mark_saved(self.current)

    def mark_saved(self, record: RunRecord) -> None:
        """Remember that a restored picture is safe, and the mask if it was restored with that."""
        if self._results.mark_saved(record):
            self.mark_mask_saved(record.mask)

    def mark_mask_saved(self, mask: Mask) -> None:
        """Remember that a mask is safe, if it is still the one that is used."""
        if self.mask is not None and np.array_equal(self.mask.mask, mask):
            self.mask.mark_saved()
            self.mask_edited.emit()
