"""The state of the window, and the one object that changes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from dictsel_core import CONSTRAINTS, DamageKind, RestoreSettings, Tuning
from inpaint_app.image.damage import SAMPLES, Damage
from inpaint_app.image.mask_history import MaskHistory
from inpaint_app.image.mask_origin import MaskOrigin
from inpaint_app.image.mask_spec import MaskSpec
from inpaint_app.image.missing import Mask
from inpaint_app.image.packed_mask import PackedMask
from inpaint_app.image.picture import Picture
from inpaint_app.image.rect import Rect
from inpaint_app.jobs import restore as restoring
from inpaint_app.jobs import source as sources
from inpaint_app.jobs.control import Progress
from inpaint_app.jobs.recipe import LoadedRecipe, load_recipe
from inpaint_app.jobs.restore import RestoreRequest
from inpaint_app.jobs.source import Source
from inpaint_app.jobs.tune import tune
from inpaint_app.window.session import descriptions
from inpaint_app.window.session.exclusive_task import ExclusiveTask
from inpaint_app.window.session.finder import DamageFinder
from inpaint_app.window.session.healer import HEALED, Healer
from inpaint_app.window.session.mask_edits import MaskEdits
from inpaint_app.window.session.results import Results
from inpaint_app.window.session.runner import Runner
from inpaint_app.window.session.state import Activity, Advice, RunRecord
from inpaint_app.window.session.view_modes import COMPARISON
from inpaint_app.window.session.view_state import ViewState
from inpaint_app.window.session.wide_holes import WideHoles
from inpaint_app.window.session.worker_pool import WorkerPool

NO_PICTURE = "There is no picture yet; open one, or open the sample."


class Session(QObject):
    """The picture, its mask, the parameters, and the restorations made with them.

    Everything here happens on the GUI thread; long work is handed to `WorkerPool`. `runner` has the run or
    preview in progress, `results` the results of earlier runs. Most signals carry no values:
    listeners ask the session.
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
        self.advice: Advice | None = None
        self.view = ViewState()
        self._missing_fraction: float | None = None
        self.workers = WorkerPool(4, self)
        self._opening = ExclusiveTask(self.workers, self)
        self.runner, self.results = Runner(self.workers, self), Results(self.workers, self)
        self.healer = Healer(self.workers, self.results, self)
        self.finder = DamageFinder(self.workers, self.edit_mask, self)
        self.mask_edits, self.wide_holes = MaskEdits(self), WideHoles(self)
        self._opening.activity_changed.connect(self.activity_changed)
        self.healer.activity_changed.connect(self.activity_changed)
        self.finder.activity_changed.connect(self.activity_changed)
        self.finder.failed.connect(self.problem)
        self.healer.healed.connect(lambda: self.notice.emit(HEALED))
        self.healer.failed.connect(self.problem)
        self.runner.activity_changed.connect(self.activity_changed)
        self.runner.debounced.connect(self._preview_or_restore)
        self.runner.failed.connect(self.problem)
        self.results.failed.connect(self.problem)
        self.results.shown.connect(self._leave_comparison)

    @property
    def activity(self) -> Activity | None:
        """The work that the user waits for, if there is any."""
        tasks = (self.runner, self.healer, self.finder, self._opening)
        return next((task.activity for task in tasks if task.activity is not None), None)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is in progress or about to begin."""
        return self.workers.n_active == 0 and not self.runner.is_pausing

    def close(self) -> None:
        """Cancel all work and wait until its threads have ended."""
        self.runner.close()
        self.workers.close()

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
            self._take_source(opened)
            if notice:
                self.notice.emit(notice)

        spec = mask_spec or MaskSpec()
        self._open(lambda: sources.open_source(path, spec, reference), f"opening {path.name}", take)

    def open_sample(self, damage: Damage = SAMPLES[0]) -> None:
        """Open the bundled picture with some damage."""
        self._open(lambda: sources.open_sample(damage), "opening the sample", self._take_source)

    def open_picture(self, make: Callable[[], Picture], name: str) -> None:
        """Open pixels that are no file; `make` is called in another thread."""
        self._open(lambda: sources.source_from_picture(make(), name), f"opening {name}", self._take_source)

    def simulate_damage(self, damage: Damage) -> None:
        """Simulate damage; the whole picture becomes the reference."""
        self._change_source(
            lambda source: sources.simulate_damage(source, damage), "simulating damage", self._take_source
        )

    def open_reference(self, path: Path) -> None:
        """Measure against this undamaged picture from now on."""
        self._change_source(
            lambda source: sources.with_reference(source, path), f"opening {path.name}", self._take_reference
        )

    def set_mask_spec(self, mask_spec: MaskSpec) -> None:
        """Detect missing pixels again; undo brings a painted mask back."""
        self._change_source(
            lambda source: sources.detect_again(source, mask_spec),
            "finding missing pixels",
            self._take_mask_spec,
        )

    def open_recipe(self, path: Path) -> None:
        """Use the parameters of a recipe, and its marks of missing pixels for the picture that is open.

        If anything of it does not work, everything stays as it was.
        """
        source = self.source
        self._open(lambda: load_recipe(path, source), f"opening {path.name}", self._take_recipe)

    def _change_source(
        self, work: Callable[[Source], Source], stage: str, done: Callable[[Source], None]
    ) -> None:
        source = self.source
        if source is None:
            self.problem.emit(NO_PICTURE)
        else:
            self._open(lambda: work(source), stage, done)

    def _open(self, work: Callable[[], Any], stage: str, done: Callable[[Any], None]) -> None:
        activity = Activity("open", Progress(stage))
        self._opening.start(activity, lambda _control: work(), done=done, failed=self.problem.emit)

    def _take_source(self, opened: Source) -> None:
        """Show another source; nothing of the last one may arrive any more."""
        self.runner.cancel()
        self.runner.focus_on(None)
        self.healer.restart()
        self.finder.restart()
        self.results.restart(opened)
        is_another = self.source is None or self.source.intact is not opened.intact
        self.source, self.mask = opened, MaskHistory(opened.missing.mask)
        self._missing_fraction = None
        if is_another:
            self._forget_advice()
            self.picture_opened.emit()
        self.source_changed.emit()
        self.mask_changed.emit(None)
        self.mask_edited.emit()
        for sentence in opened.picture.notices:
            self.notice.emit(sentence)
        self._measure_damage()
        if self.is_automatic and self.missing_fraction > 0:
            self.restore()

    def _forget_advice(self) -> None:
        """Go back to the user's own parameters: Auto chose those it has for one picture."""
        if self.advice is not None:
            self._show_settings(self.advice.given)
        self.advice = None

    def _take_reference(self, opened: Source) -> None:
        self.source = opened
        self.source_changed.emit()
        self.results.set_reference(opened)
        self._measure_damage()

    def _take_mask_spec(self, opened: Source) -> None:
        self.source = opened
        self._set_mask(opened.missing.mask)
        self.source_changed.emit()
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
            is_everything = rect[2:] == self.mask.mask.shape[:2]
            self.runner.focus_on(None if is_everything else rect)
            self.mask_changed.emit(rect)
        if ends:
            self._end_edit()

    def find_damage(self, kinds: tuple[DamageKind, ...]) -> None:
        """Look for kinds of damage, and add them to the mask."""
        if self.source is None or self.mask is None:
            self.problem.emit(NO_PICTURE)
        elif not kinds:
            self.problem.emit("No kind of damage is ticked; tick those to look for.")
        else:
            self.set_view(self.view.with_tool("pick", ("damaged",)))
            self.finder.find(self.source, self.mask, kinds)

    def undo(self) -> None:
        """Undo the last edit of the mask, and what was healed with it."""
        if self.mask is not None and self.mask.can_undo:
            state = self.mask.state
            self.edit_mask(lambda mask: mask.undo(), ends=False)
            self._end_edit(is_healed=self.healer.move(state, is_back=True))

    def redo(self) -> None:
        """Redo the last undone edit of the mask, and what was healed with it."""
        if self.mask is not None and self.mask.can_redo:
            self.edit_mask(lambda mask: mask.redo(), ends=False)
            self._end_edit(is_healed=self.healer.move(self.mask.state, is_back=False))

    def heal_stroke(self) -> None:
        """End a stroke, and restore just there; the whole picture if that is what follows every change."""
        rect = None if self.mask is None else self.mask.end_covering_stroke()
        if rect is None or self.mask is None or self.source is None:
            return
        heals = not (self.is_automatic or self.runner.is_busy)
        self._end_edit(is_healed=heals)
        if heals:
            self.healer.heal(self.source, self.mask, rect, self.settings)

    @property
    def missing_fraction(self) -> float:
        """Fraction of all values that is missing, 0 to 1."""
        if self._missing_fraction is None:
            mask = None if self.mask is None else self.mask.mask
            self._missing_fraction = 0.0 if mask is None else np.count_nonzero(mask) / mask.size
        return self._missing_fraction

    def _end_edit(self, *, is_healed: bool = False) -> None:
        """Tell that the mask has changed; a preview follows unless the change is healed."""
        self._missing_fraction = None
        self.mask_edited.emit()
        self._measure_damage()
        if is_healed and not self.runner.is_busy:
            self.runner.cancel()
        else:
            self._schedule()

    # Parameters

    def set_settings(self, settings: RestoreSettings) -> None:
        """Change the parameters; a preview follows, or a run if that is automatic."""
        if settings == self.settings:
            return
        self._show_settings(settings)
        self._schedule()

    def set_automatic(self, automatic: bool) -> None:
        """Choose whether a full run follows every change."""
        self.is_automatic = automatic
        self.settings_changed.emit()
        if automatic and not self.runner.is_busy:
            self._schedule()

    def _show_settings(self, settings: RestoreSettings) -> None:
        self.settings = settings
        if self.advice is not None and self.advice.settings != settings:
            self.advice = None
        self.settings_changed.emit()

    def _schedule(self) -> None:
        """Preview, or run, when the user pauses."""
        if self.source is not None:
            self.runner.schedule(previews=not self.is_automatic and self.missing_fraction > 0)

    def _preview_or_restore(self) -> None:
        if self.missing_fraction == 0:
            self.runner.clear_preview()
        elif self.is_automatic:
            self.restore()
        else:
            request = self._request()
            assert request is not None and self.source is not None, "there is a picture"
            reference = self.source.reference
            self.runner.start_preview(request, None if reference is None else reference.pixels)

    # Restoring

    def restore(self) -> None:
        """Restore the whole picture with the current parameters."""
        request = self._request()
        if request is not None:
            origin = self._mask_origin
            self._run(
                "restore",
                lambda control: restoring.restore(request, control),
                lambda result: self._show_one_of(self.results.add((result,), origin)),
                restart=self.restore,
            )

    def compare(self) -> None:
        """Restore under every sparsity constraint, and show the results side by side.

        Runs that are already in the history are not repeated.
        """
        if 0 < self.missing_fraction < 1:
            self.set_view(self.view.with_mode(COMPARISON))
        self._compare()

    def _compare(self) -> None:
        request = self._request()
        if request is not None:
            known, origin = self.results.find_runs(request), self._mask_origin
            rest = [constraint for constraint in CONSTRAINTS if constraint not in known]
            self._run(
                "compare",
                lambda control: restoring.compare(request, rest, control),
                lambda results: self._take_compared(known | self.results.add(results, origin)),
                restart=self._compare,
            )

    def tune(self) -> None:
        """Let held-out pixels choose the parameters, then restore with them."""
        request = self._request()
        if request is not None:
            self._run("tune", lambda control: tune(request, control), self._take_tuning)

    def _run(self, *args: Any, **options: Any) -> None:  # noqa: ANN401
        """Start a run, see `Runner.run`; it restores the strokes that wait to be healed too."""
        self.healer.cancel()
        self.runner.run(*args, **options)

    def stop(self) -> None:
        """Stop the work in progress and keep the current result."""
        if self.activity is not None and not self.activity.can_keep:
            self.cancel()
        self.runner.stop()

    def cancel(self) -> None:
        """Cancel and discard the work in progress; everything is as it was before."""
        was_comparing = self.activity is not None and self.activity.kind == "compare"
        self._opening.cancel()
        self.healer.cancel()
        self.finder.cancel()
        self.runner.cancel()
        if was_comparing:
            self._leave_comparison()

    def _request(self) -> RestoreRequest | None:
        if self.source is None or self.mask is None:
            self.problem.emit(NO_PICTURE)
            return None
        return RestoreRequest(self.source.picture.pixels, self.mask.snapshot(), self.settings)

    @property
    def _mask_origin(self) -> MaskOrigin | None:
        return None if self.mask is None else self.mask.origin

    def _take_compared(self, numbers: dict[str, int]) -> None:
        self._show_one_of(numbers, [numbers[each] for each in CONSTRAINTS if each in numbers])

    def _show_one_of(self, numbers: dict[str, int], comparison: Sequence[int] = ()) -> None:
        """Show the record under the current constraint, or else any of those given by constraint."""
        if numbers:
            shown = numbers.get(self.settings.constraint) or next(iter(numbers.values()))
            self._show(shown, comparison)
        else:
            self.notice.emit("Stopped before there was a result.")

    def _take_tuning(self, tuning: Tuning) -> None:
        # What the user left automatic stays so.
        settings = self.settings if tuning.settings == tuning.given else tuning.settings
        given = self.settings if self.advice is None else self.advice.given
        self.advice = Advice(settings, descriptions.format_advice(tuning), given)
        self._show_settings(settings)
        self.restore()

    # Looking at results

    def set_view(self, view: ViewState) -> None:
        """Change the view mode, the tool or the brush."""
        if view != self.view:
            self.view = view
            self.view_changed.emit()

    def _leave_comparison(self) -> None:
        """Go back to another view mode if the current result is not part of a comparison."""
        if self.view.mode.is_comparison and not self.results.history.compared:
            self.set_view(self.view.with_mode(self.view.mode_before_comparison))

    def go_back(self, number: int) -> None:
        """Show a restoration of the history again, with its parameters and its mask.

        A run in progress continues with its own parameters, and shows its result when it ends.
        """
        record = self.results.history.find(number)
        if record is None:
            return
        is_busy = self.runner.is_busy
        if not is_busy:
            self.cancel()
            self._show_settings(record.requested)
            self._show_mask_of(record)
        if record.image is None:
            way = "go back to it after the run in progress" if is_busy else "F5 restores them again"
            self.notice.emit(f"The pixels of run {number} were released to save memory; {way}.")
            return
        if is_busy:
            self.runner.hide_intermediate()
        self._show(number)

    def compare_runs(self, numbers: Sequence[int]) -> None:
        """Show restorations of the history side by side; parameters and mask stay as they are."""
        if any(self.results.history.find(number) is None for number in numbers):
            return
        if self.runner.is_busy:
            self.runner.hide_intermediate()
        current = self.results.history.current_number
        self._show(numbers[-1] if current is None or current not in numbers else current, numbers)
        if not self.view.mode.is_comparison:
            self.set_view(self.view.with_mode(COMPARISON))

    def has_inputs_of(self, record: RunRecord) -> bool:
        """Return whether parameters and mask are those of a restoration."""
        return record.requested == self.settings and self._has_mask_of(record)

    def _has_mask_of(self, record: RunRecord) -> bool:
        return self.mask is not None and PackedMask.pack(self.mask.mask).same_pixels(record.packed_mask)

    def _show_mask_of(self, record: RunRecord) -> None:
        if self._has_mask_of(record):
            return
        self._set_mask(record.mask, record.packed_mask.origin)
        self._missing_fraction = None
        self.mask_changed.emit(None)
        self.mask_edited.emit()
        self._measure_damage()
        self.notice.emit(f"Run {record.number} is shown with its own mask; Undo brings yours back.")

    def _set_mask(self, mask: Mask, origin: MaskOrigin | None = None) -> None:
        """Use another mask; one of the same shape can be undone."""
        if self.mask is not None and self.mask.mask.shape == mask.shape:
            self.mask.replace(mask, origin)
        else:
            self.mask = MaskHistory(mask)
            self.healer.restart()
            self.finder.restart()

    def _show(self, number: int, comparison: Sequence[int] = ()) -> None:
        self.runner.clear_preview()
        self.results.show(number, comparison)

    def _measure_damage(self) -> None:
        if self.source is not None and self.mask is not None and self.source.reference is not None:
            self.results.measure_damage(self.mask.snapshot())

    # Saving

    @property
    def has_unsaved_work(self) -> bool:
        """Whether the current result or a painted mask has not been saved."""
        return self.has_unsaved_result or self.has_unsaved_mask

    @property
    def has_unsaved_result(self) -> bool:
        """Whether the current result has not been saved; that of a sample need not be."""
        return self.results.history.has_unsaved and not self._is_sample

    @property
    def has_unsaved_mask(self) -> bool:
        """Whether a painted mask was saved neither itself nor with a picture restored with it."""
        return self.mask is not None and not self.mask.is_saved and not self._is_sample

    @property
    def seconds_at_risk(self) -> float:
        """How long the run in progress has taken, whose work would be lost; 0 for a sample."""
        return 0.0 if self._is_sample else self.runner.seconds

    @property
    def _is_sample(self) -> bool:
        return self.source is not None and self.source.is_sample

    def discard(self) -> None:
        """Treat the work as saved."""
        if self.mask is not None:
            self.mask.mark_saved()
        if self.results.current is not None:
            self.results.mark_saved(self.results.current)

    def mark_saved(self, record: RunRecord) -> None:
        """Remember that a result was saved, and the mask if it was restored with that."""
        if self.results.mark_saved(record):
            self.mark_mask_saved(record.mask)

    def mark_mask_saved(self, mask: Mask) -> None:
        """Remember that a mask was saved, if it is still in use."""
        if self.mask is not None and np.array_equal(self.mask.mask, mask):
            self.mask.mark_saved()
            self.mask_edited.emit()
