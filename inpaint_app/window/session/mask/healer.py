"""The strokes of the healing brush: restored one after the other, undone and redone."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from dictsel_core import RestoreSettings
from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.engine.heal import (
    HealedPicture,
    HealedRect,
    HealedStroke,
    HealRequest,
    heal,
    put_rect,
    surroundings,
)
from inpaint_app.engine.hole_fill import HoleFill
from inpaint_app.engine.source import Source
from inpaint_app.model.mask_history import MaskHistory
from inpaint_app.model.missing import Mask
from inpaint_app.model.packed_mask import PackedMask
from inpaint_app.model.rect import Rect
from inpaint_app.text.actions import key_of
from inpaint_app.window.background.activity import Activity
from inpaint_app.window.background.exclusive_task import ExclusiveTask
from inpaint_app.window.background.worker_pool import WorkerPool
from inpaint_app.window.session.runs.results import Results
from inpaint_app.window.session.state import RunRecord, without_pixels

HEALED = f"Repaired locally; Restore ({key_of('restore')}) recomputes the whole picture."
#: Memory for strokes that can be undone.
_MAX_BYTES = 256 * 2**20


@dataclass(frozen=True, eq=False)
class _Healing:
    """A stroke that waits: the state of the mask that it led to, and how to heal it."""

    state: int
    source: Source
    missing: Mask
    rect: Rect
    settings: RestoreSettings
    hole_fill: HoleFill | None
    packed_mask: PackedMask | None


@dataclass(frozen=True, eq=False)
class _Move:
    """A healed stroke to undo or redo."""

    state: int
    is_back: bool


@dataclass(frozen=True, eq=False)
class _Step:
    """A healed stroke: the record it is part of, what it changed, and that record before it began with it."""

    number: int
    before: HealedRect
    after: HealedRect
    beginning: RunRecord | None

    @property
    def n_bytes(self) -> int:
        return self.before.pixels.nbytes + self.after.pixels.nbytes


class Healer(QObject):
    """Heals strokes in the current result, or in a new one, in the order in which they were painted."""

    healed = Signal()
    """A stroke was healed."""

    def __init__(self, workers: WorkerPool, results: Results, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workers, self._results = workers, results
        self.task = ExclusiveTask(workers, self)
        self._waiting: deque[_Healing | _Move] = deque()
        self._steps: dict[int, _Step] = {}
        #: Strokes that were undone before they were healed.
        self._unhealed: dict[int, _Healing] = {}

    def heal(
        self,
        source: Source,
        mask: MaskHistory,
        rect: Rect,
        settings: RestoreSettings,
        hole_fill: HoleFill | None = None,
    ) -> None:
        """Heal the last stroke of a mask, which lies in a rectangle; wide holes perhaps as the user says."""
        outer = surroundings(rect, settings, mask.mask.shape)[1]
        missing = mask.mask[outer.slices].copy()
        packed = None if hole_fill is None else mask.snapshot()
        self._waiting.append(_Healing(mask.state, source, missing, rect, settings, hole_fill, packed))
        self._start_next()

    def move(self, state: int, *, is_back: bool) -> bool:
        """Undo the stroke that led to a state of the mask, or redo it; return whether the result follows."""
        waiting = next((each for each in self._waiting if _is_healing(each, state)), None)
        if is_back and isinstance(waiting, _Healing):
            is_running = self._waiting[0] is waiting
            self._waiting.remove(waiting)
            self._unhealed[state] = waiting
            if is_running:
                self.task.cancel()
        elif not is_back and state in self._unhealed:
            waiting = self._unhealed.pop(state)
            self._waiting.append(waiting)
        follows = waiting is not None
        if state in self._steps and (waiting is None or is_back):
            self._waiting.append(_Move(state, is_back))
            follows = follows or self._belongs_to_current(self._steps[state], is_back=is_back)
        self._start_next()
        return follows

    def _belongs_to_current(self, step: _Step, *, is_back: bool) -> bool:
        """Return whether a healed stroke is part of the result that is shown, or begins one when redone."""
        current = self._record
        if current is None:
            return step.beginning is not None and not is_back
        return current.number == step.number

    def cancel(self) -> None:
        """Heal none of the strokes that wait; they stay in the mask."""
        self._waiting.clear()
        self.task.cancel()

    def restart(self) -> None:
        """Forget all strokes, for another picture or another mask."""
        self.cancel()
        self._steps.clear()
        self._unhealed.clear()

    def forget_run(self, number: int) -> None:
        """Forget the strokes of a run that is deleted."""
        if self._record is not None and self._record.number == number:
            self.cancel()
        self._steps = {state: step for state, step in self._steps.items() if step.number != number}
        self._waiting = deque(
            each for each in self._waiting if not isinstance(each, _Move) or each.state in self._steps
        )

    def _start_next(self) -> None:
        while self._waiting and not self.task.is_active:
            wanted = self._waiting[0]
            if isinstance(wanted, _Healing):
                self._start_healing(wanted)
            elif not self._start_move(wanted):
                self._waiting.popleft()

    def _start_healing(self, wanted: _Healing) -> None:
        record, pixels = self._record, wanted.source.picture.pixels
        number = self._results.history.next_number if record is None else record.number
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
            self._steps[wanted.state] = _Step(number, stroke.before, stroke.after, beginning)
            self._show(base, stroke.picture, n_more=1)

        def on_done(stroke: HealedStroke) -> None:
            on_stroke(stroke)
            while len(self._steps) > 1 and sum(step.n_bytes for step in self._steps.values()) > _MAX_BYTES:
                del self._steps[next(iter(self._steps))]
            self.healed.emit()

        self._start(work, on_done, on_stroke)

    def _start_move(self, wanted: _Move) -> bool:
        step, record = self._steps[wanted.state], self._record
        n_more, part = (-1, step.before) if wanted.is_back else (1, step.after)
        base = record or (None if wanted.is_back else step.beginning)
        if base is None or base.number != step.number:
            return False  # it is part of another result
        if wanted.is_back and step.beginning is not None and base.n_strokes == 1:
            self._results.remove(base.number)
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
            self._waiting.popleft()
            self._workers.failed.emit(sentence)
            self._start_next()

        activity = Activity("heal", Progress("healing"))
        self.task.start(work, done=on_done, failed=on_error, progress=progress, activity=activity)

    @property
    def _record(self) -> RunRecord | None:
        """The result that strokes are healed in; None if there is none with its pixels."""
        current = self._results.current
        return None if current is None or current.image is None else current

    def _show(self, base: RunRecord, picture: HealedPicture, *, n_more: int) -> None:
        """Show a record with another picture, and more or fewer strokes."""
        assert picture.restoration is not None, "at least of this stroke"
        now = self._results.history.find(base.number) or base  # it may have been renamed since
        record = replace(
            base,
            name=now.name,
            packed_mask=picture.filled,
            image=picture.image,
            restoration=replace(picture.restoration, image=picture.image),
            n_strokes=base.n_strokes + n_more,
        )
        self._results.put(record)


def _is_healing(waiting: _Healing | _Move, state: int) -> bool:
    return isinstance(waiting, _Healing) and waiting.state == state


def _picture_of(record: RunRecord) -> HealedPicture:
    assert record.image is not None, "only such records are healed"
    return HealedPicture(record.image, record.packed_mask, record.restoration)
