"""The strokes of the healing brush: restored one after the other, undone and redone."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import floor
from typing import Literal

import numpy as np

from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.engine.copying import Offset
from inpaint_app.engine.heal import HealedStroke, HealRequest, heal, surroundings
from inpaint_app.engine.measure import QualityMetrics
from inpaint_app.engine.painted import HealedPicture, hand_painted, put_rect
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.picture import Rect
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.background.work import Activity, ExclusiveTask, WorkerPool, release_later
from inpaint_app.window.document.document import Document
from inpaint_app.window.document.runs import RunRecord, without_pixels
from inpaint_app.window.document.state import ChosenSource
from inpaint_app.window.undo import Heal, Healed, UndoHistory

_NO_PIXELS = np.zeros((1, 1), np.uint8)


@dataclass(frozen=True, eq=False)
class _Wanted:
    """A stroke to heal, or a healed one to take back, to put in again or to put in with another opacity."""

    step: Heal
    move: Literal["on", "back", "fade"] = "on"


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
        assert state.mask is not None, "a picture is open"
        pixels, nothing = state.source.picture.pixels, PackedMask.empty(state.source.missing.mask.shape)
        before = HealedPicture(pixels, nothing)  # until it is its turn
        step.stroke = HealRequest(
            pixels, before, missing, step.rect, state.settings, state.hole_fill, state.mask, step.paint
        )
        self._waiting.append(_Wanted(step))
        self._start_next()

    def follow(self, step: Heal, *, is_back: bool) -> bool:
        """Undo the stroke of a step in the result, or redo it; return whether the result follows."""
        waiting = next((each for each in self._waiting if each.step is step and each.move == "on"), None)
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
            self._waiting.append(_Wanted(step, "back" if is_back else "on"))
            follows = follows or self._belongs_to_current(step.healed, is_back=is_back)
        self._start_next()
        return follows

    def _belongs_to_current(self, healed: Healed, *, is_back: bool) -> bool:
        """Return whether a healed stroke is part of the result that is shown, or begins one when redone."""
        current = self._record
        if current is None:
            return healed.beginning is not None and not is_back
        return current.number == healed.number or healed.stroke.is_by_hand

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

    # The opacity of the last stroke

    @property
    def last_strength(self) -> float | None:
        """The opacity, 0 to 1, of the last stroke; None where it cannot be changed."""
        healed = self._last_healed
        return None if healed is None else healed.stroke.strength

    @property
    def _last_healed(self) -> Healed | None:
        step, record = self._history.last, self._record
        if not isinstance(step, Heal) or step.healed is None or step.stroke is not None or record is None:
            return None
        return step.healed if step.healed.number == record.number else None

    def fade(self, strength: float) -> None:
        """Give the last stroke another opacity, 0 to 1, as part of its step."""
        step, healed = self._history.last, self._last_healed
        if healed is None or not isinstance(step, Heal) or healed.stroke.strength == strength:
            return
        step.healed = replace(healed, stroke=replace(healed.stroke, strength=strength))
        waits = list(self._waiting)[1:] if self.task.is_active else self._waiting
        if not any(each.step is step and each.move == "fade" for each in waits):
            self._waiting.append(_Wanted(step, "fade"))
        self._start_next()
        self._history.stroke_changed.emit()

    # Where strokes copy from

    def choose_source(self, row: float, column: float) -> None:
        """Let strokes copy from a place, until another one is chosen."""
        source = self._document.state.source
        if source is not None and Rect(0, 0, *source.shape).contains((floor(row), floor(column))):
            self._document.apply(copy_source=ChosenSource(row, column))

    def forget_source(self) -> None:
        """Let the healing brush find its own pixels again."""
        self._document.apply(copy_source=None)

    def copy_offset(self, row: float, column: float) -> Offset | None:
        """Return how far from a stroke that begins at a place its source is; None if none was chosen.

        Aligned strokes all have the offset of the first one.
        """
        chosen, is_aligned = self._document.state.copy_source, self._document.state.view.is_aligned
        if chosen is None:
            return None
        if chosen.offset is None or not is_aligned:
            offset = Offset(floor(chosen.row) - floor(row), floor(chosen.column) - floor(column))
            self._document.apply(copy_source=replace(chosen, offset=offset))
            return offset
        return chosen.offset

    def _start_next(self) -> None:
        while self._waiting and not self.task.is_active:
            wanted = self._waiting[0]
            if wanted.step.stroke is not None and wanted.move == "on":
                self._start_healing(wanted.step, wanted.step.stroke)
            elif wanted.step.healed is None or not self._start_move(wanted.step.healed, wanted.move):
                self._waiting.popleft()

    def _start_healing(self, step: Heal, wanted: HealRequest) -> None:
        record, pixels, nothing = self._record, wanted.pixels, wanted.before.filled
        number = self._document.state.runs.next_number if record is None else record.number
        start = time.perf_counter()

        def work(control: JobControl) -> HealedStroke:
            known = wanted if record is None else replace(wanted, before=_picture_of(record))
            return heal(known, control)

        def on_stroke(stroke: HealedStroke) -> None:
            base, beginning = record, None
            if base is None:
                assert stroke.picture.restoration is not None, "at least of this stroke"
                seconds, slim = time.perf_counter() - start, without_pixels(stroke.picture.restoration)
                base = beginning = RunRecord(number, wanted.settings, nothing, seconds, pixels, slim)
            step.healed = Healed(
                number, replace(stroke, picture=HealedPicture(_NO_PIXELS, nothing)), beginning
            )
            self._show(base, stroke.picture, n_more=1)

        def on_done(stroke: HealedStroke) -> None:
            on_stroke(stroke)
            step.stroke = None
            self._history.trim()
            again = key_hint("restore")  # the user may give it another key at any time
            self._document.notice.emit(f"Repaired locally; Restore{again} recomputes the whole picture.")
            self._history.stroke_changed.emit()  # it can be faded now

        self._start(work, on_done, on_stroke)

    def _start_move(self, healed: Healed, move: Literal["on", "back", "fade"]) -> bool:
        record, is_back, stroke = self._record, move == "back", healed.stroke
        n_more = {"on": 1, "back": -1, "fade": 0}[move]
        base = record or (healed.beginning if move == "on" else None)
        is_own = base is not None and base.number == healed.number
        if base is None or not (is_own or stroke.is_by_hand):
            return False  # it is part of another result
        if not is_own:
            n_more = 0
        if is_own and is_back and healed.beginning is not None and base.n_strokes == 1:
            self._document.remove_run(base.number)
            return False

        def work(_control: JobControl) -> HealedPicture:
            old, new = (stroke.after, stroke.before) if is_back else (stroke.before, stroke.after)
            picture = _picture_of(base)
            return put_rect(picture, new if is_own else hand_painted(picture, old, new))

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
            touched=picture.touched,
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
    return HealedPicture(record.image, record.packed_mask, record.restoration, record.touched)
