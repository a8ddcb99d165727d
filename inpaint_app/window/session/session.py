"""The state of the window, and the one object that changes it."""

from collections.abc import Callable, Sequence

import numpy as np
from PySide6.QtCore import QObject, Signal

from dictsel_core import RestoreSettings
from dictsel_core.damage_kinds import DamageKind
from inpaint_app.engine.source import Source
from inpaint_app.model.mask_history import MaskHistory
from inpaint_app.model.mask_origin import MaskOrigin
from inpaint_app.model.missing import Mask
from inpaint_app.model.rect import Rect
from inpaint_app.window.background.activity import Activity
from inpaint_app.window.background.release import release_all, release_later
from inpaint_app.window.background.worker_pool import WorkerPool
from inpaint_app.window.session.hints.doubtful_mask import InvertedMask, PhotographAsMask
from inpaint_app.window.session.hints.hint import Hint
from inpaint_app.window.session.hints.marked_damage import MarkedDamage
from inpaint_app.window.session.hints.unshown_file import WholeFile
from inpaint_app.window.session.hints.wide_holes import WideHoles
from inpaint_app.window.session.mask.damage_finder import DamageFinder
from inpaint_app.window.session.mask.healer import HEALED, Healer
from inpaint_app.window.session.mask.mark_browser import MarkBrowser
from inpaint_app.window.session.mask.mask_edits import MaskEdits
from inpaint_app.window.session.mask.repairer import Repairer
from inpaint_app.window.session.opener import NO_PICTURE, Opener
from inpaint_app.window.session.runs.hole_retry import HoleRetry
from inpaint_app.window.session.runs.hole_sources import HoleSources
from inpaint_app.window.session.runs.results import Results
from inpaint_app.window.session.runs.run_browser import RunBrowser
from inpaint_app.window.session.runs.run_starter import RunStarter
from inpaint_app.window.session.runs.runner import Runner
from inpaint_app.window.session.state import RunRecord, TuningOutcome
from inpaint_app.window.session.undo_redo import UndoRedo
from inpaint_app.window.session.unsaved_work import UnsavedWork
from inpaint_app.window.session.view_state import ViewState


class Session(QObject):
    """The picture, its mask, the parameters, and the restorations made with them.

    Everything here happens on the GUI thread; long work is handed to `WorkerPool`. `opener` opens files and
    `run_starter` starts runs; `runner` has the run or preview in progress, `results` the results of earlier
    runs, `undo_redo` what can be undone, `unsaved` what is in no file, `hints` what is offered. Most signals
    carry no values: listeners ask the session.
    """

    source_changed = Signal()
    picture_opened = Signal()
    """Another picture was opened; not another mask, reference or damage of the same one."""
    mask_changed = Signal(object)
    """With the `Rect` outside of which nothing changed; None for a new mask."""
    mask_edited = Signal()
    """A step of editing the mask has ended."""
    settings_changed = Signal()
    activity_changed = Signal()
    view_changed = Signal()
    problem = Signal(str)
    """A sentence about what went wrong and what to do."""
    notice = Signal(str)
    """A sentence about what was done."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.source: Source | None = None
        self.mask: MaskHistory | None = None
        self.settings = RestoreSettings()
        self.is_automatic = False
        self.advice: TuningOutcome | None = None
        self.view = ViewState()
        self._missing_fraction: float | None = None
        self.workers = WorkerPool(4, self)
        self.runner, self.results = Runner(self.workers, self), Results(self.workers, self)
        self.healer = Healer(self.workers, self.results, self)
        self.finder = DamageFinder(self.workers, self.edit_mask, self)
        self.marks, self.repairer = MarkBrowser(self.finder, self), Repairer(self)
        self.opener, self.unsaved = Opener(self), UnsavedWork(self)
        self.mask_edits = MaskEdits(self)
        self.whole_file = WholeFile(self)
        self._doubts = InvertedMask(self), PhotographAsMask(self)
        self.hints: tuple[Hint, ...] = (MarkedDamage(self), WideHoles(self), self.whole_file, *self._doubts)
        self.run_starter, self.run_browser = RunStarter(self), RunBrowser(self)
        self.hole_retry, self.hole_sources = HoleRetry(self), HoleSources(self)
        self.undo_redo = UndoRedo(self)
        parts = (self.runner, self.healer, self.finder, self.opener, self.whole_file)
        self._tasks = [part.task for part in parts]
        for task in self._tasks:
            task.activity_changed.connect(self.activity_changed)
        self.workers.failed.connect(self.problem)
        self.healer.healed.connect(lambda: self.notice.emit(HEALED))
        self.runner.debounced.connect(self.run_starter.follow_change)
        self.results.shown.connect(self.leave_comparison)

    @property
    def activity(self) -> Activity | None:
        """The work that the user waits for, if there is any."""
        return next((task.activity for task in self._tasks if task.activity is not None), None)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is in progress or about to begin."""
        return self.workers.n_active == 0 and not self.runner.is_pausing

    def close(self) -> None:
        """Cancel all work and wait until its threads have ended."""
        self.runner.close()
        self.workers.close()
        release_all()

    # The picture

    def set_source(self, opened: Source, mask: MaskHistory | None = None) -> None:
        """Show another source; nothing of the last one may arrive any more.

        Its mask may have been made ready in another thread.
        """
        self._release()
        self.runner.cancel()
        self.runner.focus_on(None)
        self.healer.restart()
        self.finder.restart()
        self.repairer.restart()
        self.results.restart(opened)
        is_another = self.source is None or self.source.intact is not opened.intact
        self.source, self.mask = opened, mask or MaskHistory(opened.missing.mask)
        self._missing_fraction = None
        if is_another:
            self._forget_advice()
            self.hole_sources.fill = None
        self.undo_redo.restart()
        if is_another:
            self.picture_opened.emit()
        self.source_changed.emit()
        self.mask_changed.emit(None)
        self.mask_edited.emit()
        for sentence in opened.picture.notices:
            self.notice.emit(sentence)
        self._measure_damage()
        if self.is_automatic and self.missing_fraction > 0 and not self.asks_about_mask:
            self.run_starter.restore()

    def close_picture(self) -> None:
        """Show nothing, as before a picture was opened; nothing of it may arrive any more."""
        self._release()
        self._cancel_work_on_picture()
        self.healer.restart()
        self.finder.restart()
        self.repairer.restart()
        self.results.restart(None)
        self.leave_comparison()
        self._forget_advice()
        self.hole_sources.fill = None
        self.source = self.mask = self._missing_fraction = None
        self.undo_redo.restart()
        self.source_changed.emit()
        self.mask_edited.emit()

    def _release(self) -> None:
        """Let go of the picture and its results bit by bit, for another one or none."""
        release_later(self.source, self.mask, *self.results.history.records)

    def _forget_advice(self) -> None:
        """Go back to the user's own parameters: Auto chose those it has for one picture."""
        if self.advice is not None:
            self.show_settings(self.advice.given)
        self.advice = None

    def set_reference(self, opened: Source) -> None:
        """Show the source with another reference."""
        self.source = opened
        self.source_changed.emit()
        self.results.set_reference(opened)
        self._measure_damage()

    def set_marked(self, opened: Source, settings: RestoreSettings | None = None) -> None:
        """Show the source with missing pixels that are marked otherwise, and other parameters if given."""
        self.source = opened
        self._set_mask(opened.missing.mask)
        if settings is not None:
            self.show_settings(settings)
        self.source_changed.emit()
        self.mask_changed.emit(None)
        self.end_edit()
        self.undo_redo.record()

    # Mask

    def edit_mask(self, edit: Callable[[MaskHistory], Rect | None], *, ends: bool = True) -> None:
        """Change the mask; `ends` is False in the middle of a stroke. Nothing follows if nothing changes."""
        if self.mask is None:
            return
        rect = edit(self.mask)
        if rect is not None:
            self._missing_fraction = None
            is_everything = rect[2:] == self.mask.mask.shape[:2]
            self.runner.focus_on(None if is_everything else rect)
            self.mask_changed.emit(rect)
        if ends and rect is not None:
            self.end_edit()
            self.undo_redo.record()

    def find_damage(self, kinds: tuple[DamageKind, ...]) -> None:
        """Look for kinds of damage, and add them to the mask."""
        if self.source is None or self.mask is None:
            self.problem.emit(NO_PICTURE)
        elif not kinds:
            self.problem.emit("No kind of damage is ticked; tick those to look for.")
        else:
            self.set_view(self.view.with_tool("pick", ("damaged",)))
            self.finder.find(self.source, self.mask, kinds, visible=self.runner.visible)

    def heal_stroke(self) -> None:
        """End a stroke, and restore just there; the whole picture if that is what follows every change."""
        rect = None if self.mask is None else self.mask.end_covering_stroke()
        if rect is None or self.mask is None or self.source is None:
            return
        heals = not (self.is_automatic or self.runner.is_busy)
        self.end_edit(is_healed=heals)
        self.undo_redo.record()
        if heals:
            self.healer.heal(self.source, self.mask, rect, self.settings, self.hole_sources.fill)

    @property
    def missing_fraction(self) -> float:
        """Fraction of all values that is missing, 0 to 1."""
        if self._missing_fraction is None:
            mask = None if self.mask is None else self.mask.mask
            self._missing_fraction = 0.0 if mask is None else np.count_nonzero(mask) / mask.size
        return self._missing_fraction

    @property
    def asks_about_mask(self) -> bool:
        """Whether the user is being asked if the mask is meant as it is; nothing starts by itself then."""
        return any(doubt.sentence for doubt in self._doubts)

    def end_edit(self, *, is_healed: bool = False) -> None:
        """Tell that the mask has changed; a preview follows unless the change is healed."""
        self._missing_fraction = None
        self.mask_edited.emit()
        self._measure_damage()
        if is_healed and not self.runner.is_busy:
            self.runner.cancel()
        else:
            self.schedule()

    # Parameters

    def set_settings(self, settings: RestoreSettings) -> None:
        """Change the parameters; a preview follows, or a run if that is automatic."""
        if settings == self.settings:
            return
        self.show_settings(settings)
        self.undo_redo.record()
        self.schedule()

    def set_automatic(self, automatic: bool) -> None:
        """Choose whether a full run follows every change."""
        self.is_automatic = automatic
        self.undo_redo.record()
        self.settings_changed.emit()
        if automatic and not self.runner.is_busy:
            self.schedule()

    def take_advice(self, advice: TuningOutcome) -> None:
        """Use the parameters that Auto chose."""
        self.advice = advice
        self.show_settings(advice.settings)
        self.undo_redo.record()

    def show_settings(self, settings: RestoreSettings) -> None:
        """Change the parameters, and nothing else follows."""
        self.settings = settings
        if self.advice is not None and self.advice.settings != settings:
            self.advice = None
        self.settings_changed.emit()

    def schedule(self) -> None:
        """Preview, or run, when the user pauses."""
        if self.source is not None:
            self.runner.schedule(previews=not self.is_automatic and self.missing_fraction > 0)

    # Work in progress

    def stop(self) -> None:
        """Stop the work in progress and keep the current result."""
        if self.activity is not None and not self.activity.can_keep:
            self.cancel()
        self.runner.stop()

    def cancel(self) -> None:
        """Cancel and discard the work in progress; everything is as it was before."""
        was_comparing = self.activity is not None and self.activity.kind == "compare"
        self.whole_file.task.cancel()
        self._cancel_work_on_picture()
        if was_comparing:
            self.leave_comparison()

    def _cancel_work_on_picture(self) -> None:
        self.opener.task.cancel()
        self.healer.cancel()
        self.finder.task.cancel()
        self.runner.cancel()

    # Looking at results

    def set_view(self, view: ViewState) -> None:
        """Change the view mode, the tool or the brush."""
        if view != self.view:
            self.view = view
            self.view_changed.emit()

    def leave_comparison(self) -> None:
        """Go back to another view mode if the current result is not part of a comparison."""
        if self.view.mode.is_comparison and not self.results.history.compared:
            self.set_view(self.view.with_mode(self.view.mode_before_comparison))

    def show_run(self, number: int | None, comparison: Sequence[int] = ()) -> None:
        """Show a restoration, or none, in place of a preview; those it is compared with stand beside it."""
        self.runner.clear_preview()
        self.results.show(number, comparison)

    def set_inputs_of(self, record: RunRecord) -> bool:
        """Use the parameters and the mask of a restoration again; return whether the mask is another one."""
        self.show_settings(record.requested)
        has_other_mask = not self.has_mask_of(record)
        if has_other_mask:
            self._set_mask(record.mask, record.packed_mask.origin)
            self._missing_fraction = None
            self.mask_changed.emit(None)
            self.mask_edited.emit()
            self._measure_damage()
        self.undo_redo.record()
        return has_other_mask

    def has_mask_of(self, record: RunRecord) -> bool:
        """Return whether the mask is that of a restoration."""
        return self.mask is not None and self.mask.snapshot().same_pixels(record.packed_mask)

    def _set_mask(self, mask: Mask, origin: MaskOrigin | None = None) -> None:
        """Use another mask; one of the same shape can be undone."""
        if self.mask is not None and self.mask.mask.shape == mask.shape:
            self.mask.replace(mask, origin)
            self.finder.leave_mask()
        else:
            self.mask = MaskHistory(mask)
            self.undo_redo.restart()
            self.healer.restart()
            self.finder.restart()

    def _measure_damage(self) -> None:
        if self.source is not None and self.mask is not None and self.source.reference is not None:
            self.results.measure_damage(self.mask.snapshot())
