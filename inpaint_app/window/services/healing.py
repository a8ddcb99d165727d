"""The strokes of the healing brush: restored one after the other, undone and redone."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.engine.heal import (
    HealedPicture,
    HealedStroke,
    HealRequest,
    heal,
    put_rect,
    surroundings,
)
from inpaint_app.engine.measure import QualityMetrics
from inpaint_app.model.packed_mask import PackedMask
from inpaint_app.window.action_table import key_of
from inpaint_app.window.background.exclusive_task import Activity, ExclusiveTask
from inpaint_app.window.background.release import release_later
from inpaint_app.window.background.worker_pool import WorkerPool
from inpaint_app.window.document.document import Document
from inpaint_app.window.document.runs import RunRecord, without_pixels
from inpaint_app.window.undo.history import UndoHistory
from inpaint_app.window.undo.steps import Heal, Healed, Stroke

HEALED = f"Repaired locally; Restore ({key_of('restore')}) recomputes the whole picture."


@dataclass(frozen=True, eq=False)
class _Wanted:
    """A stroke to heal, or a healed one to take back or put in again."""

    step: Heal
    is_back: bool = False


class Healing:
    """Heals strokes in the current result, or in a new one, in the order in which they were painted."""

    def __init__(self, document: Document, history: UndoHistory, workers: WorkerPool) -> None:
        self._document, self._history, self._workers = document, history, workers
        self.task = ExclusiveTask(workers)
        self._waiting: deque[_Wanted] = deque()

    def heal(self, step: Heal) -> None:
        """Heal the stroke of a step, which is the last one."""
        state, painter = self._document.state, self._document.painter
        assert state.source is not None and painter is not None, "a stroke is painted on a picture"
        outer = surroundings(step.rect, state.settings, painter.mask.shape)[1]
        missing = painter.mask[outer.slices].copy()
        packed = None if state.hole_fill is None else state.mask
        step.stroke = Stroke(state.source, missing, step.rect, state.settings, state.hole_fill, packed)
        self._waiting.append(_Wanted(step))
        self._start_next()

    def follow(self, step: Heal, *, is_back: bool) -> bool:
        """Undo the stroke of a step in the result, or redo it; return whether the result follows."""
        waiting = next((each for each in self._waiting if each.step is step and not each.is_back), None)
        follows = False
        if is_back and waiting is not None and step.stroke is not None:
            is_running = self._waiting[0] is waiting
            self._waiting.remove(waiting)
            if is_running:
                self.task.cancel()
            follows = True
        elif not is_back and step.stroke is not None:
            self._waiting.append(_Wanted(step))
            follows = True
        if step.healed is not None and (is_back or not follows):
            self._waiting.append(_Wanted(step, is_back))
            follows = follows or self._belongs_to_current(step.healed, is_back=is_back)
        self._start_next()
        return follows

    def _belongs_to_current(self, healed: Healed, *, is_back: bool) -> bool:
        """Return whether a healed stroke is part of the result that is shown, or begins one when redone."""
        current = self._record
        if current is None:
            return healed.beginning is not None and not is_back
        return current.number == healed.number

    def cancel(self) -> None:
        """Heal none of the strokes that wait; they stay in the mask."""
        for wanted in self._waiting:
            wanted.step.stroke = None
        self._waiting.clear()
        self.task.cancel()

    def forget_run(self, number: int) -> None:
        """Forget the strokes of a run that is deleted."""
        if self._record is not None and self._record.number == number:
            self.cancel()
        for step in self._history.steps:
            if isinstance(step, Heal) and step.healed is not None and step.healed.number == number:
                step.healed = None

    def _start_next(self) -> None:
        while self._waiting and not self.task.is_active:
            wanted = self._waiting[0]
            if wanted.step.stroke is not None and not wanted.is_back:
                self._start_healing(wanted.step, wanted.step.stroke)
            elif wanted.step.healed is None or not self._start_move(wanted.step.healed, wanted.is_back):
                self._waiting.popleft()

    def _start_healing(self, step: Heal, wanted: Stroke) -> None:
        record, pixels = self._record, wanted.source.picture.pixels
        number = self._document.state.runs.next_number if record is None else record.number
        nothing, start = PackedMask.empty(wanted.source.missing.mask.shape), time.perf_counter()

        def work(control: JobControl) -> HealedStroke:
            before = HealedPicture(pixels, nothing) if record is None else _picture_of(record)
            request = HealRequest(
                pixels,
                before,
                wanted.missing,
                wanted.rect,
                wanted.settings,
                wanted.hole_fill,
                wanted.packed_mask,
            )
            return heal(request, control)

        def on_stroke(stroke: HealedStroke) -> None:
            base, beginning = record, None
            if base is None:
                assert stroke.picture.restoration is not None, "at least of this stroke"
                seconds, slim = time.perf_counter() - start, without_pixels(stroke.picture.restoration)
                base = beginning = RunRecord(number, wanted.settings, nothing, seconds, pixels, slim)
            step.healed = Healed(number, stroke.before, stroke.after, beginning)
            self._show(base, stroke.picture, n_more=1)

        def on_done(stroke: HealedStroke) -> None:
            on_stroke(stroke)
            step.stroke = None
            self._history.trim()
            self._document.notice.emit(HEALED)

        self._start(work, on_done, on_stroke)

    def _start_move(self, healed: Healed, is_back: bool) -> bool:
        record = self._record
        n_more, part = (-1, healed.before) if is_back else (1, healed.after)
        base = record or (None if is_back else healed.beginning)
        if base is None or base.number != healed.number:
            return False  # it is part of another result
        if is_back and healed.beginning is not None and base.n_strokes == 1:
            self._document.remove_run(base.number)
            return False

        def work(_control: JobControl) -> HealedPicture:
            return put_rect(_picture_of(base), part)

        def on_done(moved: HealedPicture) -> None:
            self._show(base, moved, n_more=n_more)

        self._start(work, on_done, lambda _report: None)
        return True

    def _start(
        self,
        work: Callable[[JobControl], object],
        done: Callable[..., None],
        progress: Callable[..., None],
    ) -> None:
        def on_done(result: object) -> None:
            self._waiting.popleft()
            done(result)
            self._start_next()

        def on_error(sentence: str) -> None:
            self._waiting.popleft().step.stroke = None
            self._workers.failed.emit(sentence)
            self._start_next()

        activity = Activity("heal", Progress("healing"))
        self.task.start(work, done=on_done, failed=on_error, progress=progress, activity=activity)

    @property
    def _record(self) -> RunRecord | None:
        """The result that strokes are healed in; None if there is none with its pixels."""
        current = self._document.state.runs.current
        return None if current is None or current.image is None else current

    def _show(self, base: RunRecord, picture: HealedPicture, *, n_more: int) -> None:
        """Show a record with another picture, and more or fewer strokes."""
        assert picture.restoration is not None, "at least of this stroke"
        state = self._document.state
        now = state.runs.find(base.number)
        record = replace(
            base,
            name=(now or base).name,  # it may have been renamed since
            packed_mask=picture.filled,
            image=picture.image,
            restoration=replace(picture.restoration, image=picture.image),
            n_strokes=base.n_strokes + n_more,
            figures=None if state.has_reference else QualityMetrics(),
        )
        release_later(now)
        runs = state.runs.added(record) if now is None else state.runs
        self._document.apply(runs=runs.replaced(record), atom=None, atom_use=None)


def _picture_of(record: RunRecord) -> HealedPicture:
    assert record.image is not None, "only such records are healed"
    return HealedPicture(record.image, record.packed_mask, record.restoration)
