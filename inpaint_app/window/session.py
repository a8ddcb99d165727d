"""The document and the services that work on it, brought together."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from dictsel_core import RestoreSettings
from dictsel_core.damage_kinds import USUAL_KINDS, DamageKind
from inpaint_app.engine.restore import RunResult
from inpaint_app.model.mask_doubt import MaskDoubt
from inpaint_app.model.picture import Mask, Rect
from inpaint_app.text import format_percent
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.background.work import WorkerPool, release_all
from inpaint_app.window.document.document import NO_PICTURE, Document
from inpaint_app.window.document.runs import RunRecord
from inpaint_app.window.document.state import DocumentState
from inpaint_app.window.document.view_state import COMPARISON, Workspace
from inpaint_app.window.services.autosaving import Autosaving, lost_work
from inpaint_app.window.services.exporting import Exporting
from inpaint_app.window.services.filling import Filling
from inpaint_app.window.services.finding import Finding
from inpaint_app.window.services.healing import Healing
from inpaint_app.window.services.masking import Masking
from inpaint_app.window.services.measuring import Measuring
from inpaint_app.window.services.offers import (
    NOTHING_MARKED,
    HiddenDifference,
    LostWork,
    MarkedPicture,
    Offer,
    WideHoles,
    inverted,
    question_about_mask,
    unseen_file,
)
from inpaint_app.window.services.opening import Opening
from inpaint_app.window.services.running import Running
from inpaint_app.window.services.sweeping import Sweeping
from inpaint_app.window.services.whole_file import WholeFile
from inpaint_app.window.undo import ChangeSettings, FillHoles, Heal, ReplaceMask, Step, UndoHistory


class Session(QObject):
    """A document, its undo history and its services; and what concerns several of these.

    Everything here happens on the GUI thread; long work is handed to `WorkerPool`.
    """

    output_wanted = Signal()
    """The user is to be asked where a file that cannot be shown goes when it is restored."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.workers = WorkerPool(4, self)
        self.document = Document(self)
        self.history = UndoHistory(self.document, self)
        document, history, workers = self.document, self.history, self.workers
        self.opening, self.masking = Opening(document, history, workers), Masking(document, history, workers)
        self.running, self.finding = (
            Running(document, history, workers, self),
            Finding(document, history, workers, self),
        )
        self.healing, self.measuring = Healing(document, history, workers), Measuring(document, workers, self)
        self.filling = Filling(document, history, workers, self._restore_then)
        self.sweeping = Sweeping(document, history, workers)
        self.exporting, self.whole_file = Exporting(document, workers, self), WholeFile(document, workers)
        self.unseen = Offer(
            document,
            "Restore All of It …",
            self.output_wanted.emit,
            ("unshown",),
            unseen_file,
            lambda: document.apply(unshown=None),
        )
        self.autosaving = Autosaving(document, workers, self)
        self.lost_work = LostWork(document, self._recover)
        self.nothing_marked = Offer(document, "Find Damage", self._find_usual, ("mask", "source"))
        self.offers: tuple[Offer, ...] = (
            MarkedPicture(
                document,
                workers,
                lambda spec: self.opening.set_mask_spec(spec, then=self.running.restore),
                self._restore_drawn,
            ),
            WideHoles(document, workers, self._fill_with_texture),
            self.unseen,
            self._doubt(MaskDoubt.INVERTED, "Invert It", self._invert_mask_file),
            self._doubt(MaskDoubt.PHOTOGRAPH, "Clear the Mask", self.masking.clear),
            self.nothing_marked,
            HiddenDifference(document, self._compare_as_in_the_paper),
            self.lost_work,
        )
        parts = (self.running, self.healing, self.masking, self.finding, self.opening, self.whole_file)
        self._tasks = [*(part.task for part in parts), self.sweeping.task]
        self._connect()

    def _connect(self) -> None:
        for task in self._tasks:
            task.activity_changed.connect(self._show_activity)
        self.workers.failed.connect(self.document.problem)
        self.history.stepped.connect(self._follow_step)
        self.running.started.connect(self.healing.cancel)
        self.running.nothing_marked.connect(lambda: self.nothing_marked.say(NOTHING_MARKED))
        self.opening.on_leaving, self.opening.on_opened = self._leave_picture, self._greet_picture

    def _doubt(self, doubt: MaskDoubt, button: str, accept: Callable[[], None]) -> Offer:
        """Return a question about a mask; dismissed, the mask is used as it is."""

        def dismissed() -> None:
            self.document.apply(doubt=None)
            self.running.schedule()

        words = partial(question_about_mask, doubt)
        return Offer(self.document, button, accept, ("doubt", "source"), words, dismissed)

    @property
    def state(self) -> DocumentState:
        """The state of the document."""
        return self.document.state

    @property
    def is_settled(self) -> bool:
        """Whether nothing is in progress or about to begin."""
        return self.workers.n_active == 0 and not self.running.is_pausing

    def close(self) -> None:
        """Cancel all work and wait until its threads have ended."""
        self.running.close()
        self.workers.close()
        self.autosaving.close()
        release_all()

    def _show_activity(self) -> None:
        activities = (task.activity for task in self._tasks)
        self.document.apply(activity=next((each for each in activities if each is not None), None))

    # The picture

    @property
    def lost_seconds(self) -> float:
        """How long the run in progress has taken, whose work would be lost; 0 for a sample."""
        is_sample = self.state.source is not None and self.state.source.is_sample
        return 0.0 if is_sample else self.running.seconds

    def _leave_picture(self) -> None:
        """Let nothing of the picture arrive any more."""
        self.running.cancel()
        self.healing.cancel()
        self.finding.cancel()
        self.masking.task.cancel()
        self.sweeping.task.cancel()
        self.measuring.restart()

    def _greet_picture(self) -> None:
        state = self.state
        if state.is_automatic and state.missing_fraction > 0 and state.doubt is None:
            self.running.restore()

    def start_autosaving(self, folder: Path) -> None:
        """Keep unsaved work in a folder from now on, and offer what was left there."""
        self.lost_work.offer(lost_work(folder))
        self.autosaving.start(folder)

    def _recover(self, path: Path) -> None:
        self.opening.open_project(path, lambda: self.autosaving.supersede(path), is_saved=False)

    def close_picture(self) -> None:
        """Show nothing, as before a picture was opened; nothing of it may arrive any more."""
        self.opening.task.cancel()
        self._leave_picture()
        self.document.close_picture()
        self.history.clear()

    def _invert_mask_file(self) -> None:
        if self.state.source is not None:
            self.opening.set_mask_spec(inverted(self.state.source))

    # Parameters

    def set_settings(self, settings: RestoreSettings) -> None:
        """Change the parameters; a preview follows, or a run if that is automatic. Cores stay as they are."""
        settings = replace(settings, threads=self.document.defaults.threads)
        self.history.push(ChangeSettings(self.document, settings=settings))

    def reset_settings(self) -> None:
        """Go back to the parameters that a picture begins with."""
        self.set_settings(self.document.defaults)

    def set_workspace(self, workspace: Workspace) -> None:
        """Show the document for another purpose."""
        self.document.set_view(self.state.view.with_workspace(workspace))
        current = self.state.runs.current
        is_up_to_date = current is not None and self.state.has_inputs_of(current)
        if not (self.running.is_busy or is_up_to_date):
            self.running.schedule()

    def set_automatic(self, automatic: bool) -> None:
        """Choose whether a full run follows every change."""
        step = ChangeSettings(self.document, is_automatic=automatic)
        self.history.push(step, follows=automatic and not self.running.is_busy)

    def _restore_drawn(self, marks: Mask) -> None:
        self.masking.fill(Rect(0, 0, *marks.shape), where=marks)
        self.running.restore()

    def _fill_with_texture(self) -> None:
        self.set_settings(replace(self.state.settings, fill="texture"))
        self.running.restore()

    def _compare_as_in_the_paper(self) -> None:
        self.set_settings(RestoreSettings.preset("paper"))
        self.running.compare()

    def _restore_then(self, then: Callable[[], None]) -> None:
        self.running.restore(then=lambda _result: then())

    # What follows a step

    def _follow_step(self, step: Step | None, is_back: bool) -> None:
        """Heal or preview what a step has changed, or show the result that belongs to it."""
        if isinstance(step, Heal):
            follows = self._heal(step, is_back=is_back)
        else:
            follows = step is not None and self._shows_run_of(step, is_back=is_back)
        if follows and not self.running.is_busy:
            self.running.cancel()
        else:
            self.running.schedule()

    def _heal(self, step: Heal, *, is_back: bool) -> bool:
        """Heal a stroke, or take that back; return whether the result follows."""
        if not step.is_new:
            return self.healing.follow(step, is_back=is_back)
        step.is_new = False
        # No run would copy from where the user says.
        heals = step.paint.copy is not None or not (self.state.is_automatic or self.running.is_busy)
        if heals:
            self.healing.heal(step)
        return heals

    def _shows_run_of(self, step: Step, *, is_back: bool) -> bool:
        """Show the result that was there before a step, or that it led to; return whether there is one."""
        state, runs = self.state, self.state.runs
        if isinstance(step, FillHoles) and state.mask is not None:
            record = runs.find_run(state.settings, state.mask, state.hole_fill)
            if record is not None:
                self.running.cancel()
                self.document.show_run(record.number)
            return record is not None
        if step.runs is None:
            return False
        left, shown = reversed(step.runs) if is_back else step.runs
        if runs.current_number != left or not (shown is None or runs.find(shown)):
            return False
        self.document.show_run(shown)
        return True

    # Damage

    def find_damage(self, kinds: tuple[DamageKind, ...]) -> None:
        """Look for kinds of damage, and add them to the mask."""
        if self.state.source is None:
            self.document.problem.emit(NO_PICTURE)
        elif not kinds:
            self.document.problem.emit("No kind of damage is ticked; tick those to look for.")
        else:
            self.document.set_view(self.state.view.with_tool("pick", ("damaged",)))
            self.finding.find(kinds)

    def _find_usual(self) -> None:
        self.nothing_marked.say("")
        self.find_damage(USUAL_KINDS)

    def repair(self) -> None:
        """Find the usual damage, mark it, and restore it with grain; one step takes all of that back."""
        self.finding.find(USUAL_KINDS, self._restore_found)

    def _restore_found(self) -> None:
        state, notice = self.state, self.document.notice
        if state.missing_fraction == 0:
            notice.emit("No damage was found; raise the sensitivity of Find Damage, or paint over it.")
            return
        part, found = format_percent(state.missing_fraction), self.finding.describe() or "what was missing"
        step, before = self.history.last_edit, state.runs.current_number

        def keep(result: RunResult) -> None:
            if step is not None:
                step.runs = before, self.state.runs.current_number
            if not result.is_stopped:
                notice.emit(f"Repaired {found} ({part} of the picture).")

        self.running.restore(grain=True, then=keep)

    # Work in progress

    def stop(self) -> None:
        """Stop the work in progress and keep the current result."""
        activity = self.state.activity
        if activity is not None and not activity.can_keep:
            self.cancel()
        self.running.stop()

    def cancel(self) -> None:
        """Cancel and discard the work in progress; everything is as it was before."""
        activity = self.state.activity
        self.whole_file.task.cancel()
        self.opening.task.cancel()
        self.healing.cancel()
        self.finding.task.cancel()
        self.masking.task.cancel()
        self.sweeping.task.cancel()
        self.running.cancel()
        if activity is not None and activity.kind == "compare":
            self.document.leave_comparison()

    # Looking at results

    def go_back(self, number: int) -> None:
        """Show a restoration of the history again, with its parameters and its mask.

        A run in progress continues with its own parameters, and shows its result when it ends.
        """
        record, is_busy = self.state.runs.find(number), self.running.is_busy
        if record is None:
            return
        if not is_busy:
            self.cancel()
            self._set_inputs_of(record)
        if record.image is None:
            way = (
                "go back to it after the run in progress"
                if is_busy
                else f"Restore{key_hint('restore')} makes them again"
            )
            self.document.notice.emit(f"The pixels of run {number} were released to save memory; {way}.")
            return
        self._show_run(number)

    def _set_inputs_of(self, record: RunRecord) -> None:
        """Use the parameters and the mask of a restoration again, in one step."""
        document = self.document
        self.history.end_stroke()
        if self.state.has_mask_of(record):
            step: Step = ChangeSettings(document, settings=record.requested)
        else:
            step = ReplaceMask(document, record.mask, record.packed_mask.origin, settings=record.requested)
            document.notice.emit(f"Run {record.number} is shown with its own mask; Undo brings yours back.")
        self.history.push(step, follows=False)

    def compare_runs(self, numbers: Sequence[int]) -> None:
        """Show restorations of the history side by side; parameters and mask stay as they are."""
        runs = self.state.runs
        if any(runs.find(number) is None for number in numbers):
            return
        current = runs.current_number
        self._show_run(numbers[-1] if current is None or current not in numbers else current, numbers)
        view = self.state.view
        if not view.mode.is_comparison:
            self.document.set_view(view.with_mode(COMPARISON))

    def _show_run(self, number: int, comparison: Sequence[int] = ()) -> None:
        if self.running.is_busy:
            self.running.hide_intermediate()
        self.document.show_run(number, comparison)

    def delete_runs(self, numbers: Sequence[int]) -> None:
        """Forget restorations, unless a run is in progress."""
        if self.running.is_busy:
            self.document.notice.emit("Runs can be deleted when the run in progress has ended.")
            return
        for number in numbers:
            self.healing.forget_run(number)
            self.document.remove_run(number)

    def rename_run(self, number: int, name: str) -> None:
        """Give a restoration a name; an empty one takes it away."""
        self.document.apply(runs=self.state.runs.updated(number, name=name))
