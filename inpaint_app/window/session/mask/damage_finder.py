"""Damage that is looked for, and how much of it goes into the mask."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

import dictsel_core  # detection is imported when it is first used, and is slow to import
from dictsel_core import DamageKind
from inpaint_app.explanations import describe_damage
from inpaint_app.image.mask_history import MaskHistory
from inpaint_app.image.packed_mask import PackedMask
from inpaint_app.image.rect import Rect
from inpaint_app.jobs.control import JobControl, Progress
from inpaint_app.jobs.damage_choice import DamageChoice, MarkedMask, count_chosen, mark_damage, region_near
from inpaint_app.jobs.detect import analyze_picture
from inpaint_app.jobs.source import Source
from inpaint_app.window.background.activity import Activity
from inpaint_app.window.background.exclusive_task import ExclusiveTask
from inpaint_app.window.background.worker_pool import WorkerPool

if TYPE_CHECKING:
    from dictsel_core import DamageAnalysis


@dataclass(frozen=True, eq=False)
class _Applied:
    """A choice that is in the mask, and the pixels that are missing only because of it."""

    choice: DamageChoice
    added: PackedMask


EditMask = Callable[[Callable[[MaskHistory], Rect | None]], None]


class DamageFinder(QObject):
    """Analyzes the picture once, and keeps the mask in step with what is chosen of the damage."""

    changed = Signal()
    """The analysis or the choice has changed."""

    def __init__(self, workers: WorkerPool, edit: EditMask, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._edit = edit
        self.task, self._update_task = ExclusiveTask(workers, self), ExclusiveTask(workers, self)
        self._source: Source | None = None
        self._mask: MaskHistory | None = None
        #: What is in the mask, by the state of the mask that it led to; None where nothing of it is left.
        self._applied: dict[int, _Applied | None] = {}
        self.analysis: DamageAnalysis | None = None  #: All that may be damage; None before it was looked for.
        self.choice = DamageChoice()  #: What of it is in the mask.

    @property
    def is_in_mask(self) -> bool:
        """Whether a choice of what was found is in the mask as it is now."""
        return self._current is not None

    @property
    def _current(self) -> _Applied | None:
        if self._mask is None:
            return None
        states = self._applied.keys() & self._mask.states
        return self._applied[max(states)] if states else None

    def restart(self) -> None:
        """Forget what was found, for another picture or mask."""
        self.task.cancel()
        self._update_task.cancel()
        self._source = self._mask = self.analysis = None
        self._applied = {}
        self.choice = replace(self.choice, removed=frozenset())
        self.changed.emit()

    def follow_mask(self) -> None:
        """Go back to what was chosen for the mask as it is now, after undo or redo."""
        self._update_task.cancel()
        if self._current is not None:
            self.choice = self._current.choice
        self.changed.emit()

    def leave_mask(self) -> None:
        """Take note that the mask was replaced, and with it what was found."""
        self._update_task.cancel()
        if self._mask is not None:
            self._applied[self._mask.state] = None
        self.changed.emit()

    def find(
        self,
        source: Source,
        mask: MaskHistory,
        kinds: tuple[DamageKind, ...],
        then: Callable[[], None] | None = None,
    ) -> None:
        """Look for kinds of damage that were not looked for yet, and put all of these kinds into the mask.

        Something may follow once they are there.
        """
        if mask is not self._mask:
            self.restart()
        self._source, self._mask = source, mask
        self.choice = replace(self.choice, kinds=kinds)
        known = {} if self.analysis is None else dict(self.analysis.candidates)
        unknown = tuple(kind for kind in kinds if kind not in known)
        if not unknown:
            self._update(then)
            return
        missing, applied = mask.snapshot(), self._current

        def work(control: JobControl) -> "DamageAnalysis":
            others = missing.unpack()
            if applied is not None:
                others &= ~applied.added.unpack()
            flat = others if others.ndim == 2 else np.asarray(others.all(axis=2))
            found = analyze_picture(source.picture, flat, unknown, control)
            return dictsel_core.DamageAnalysis(found.shape, known | dict(found.candidates))

        activity = Activity("detect", Progress("detecting damage", 0.0))
        self.task.start(work, done=lambda analysis: self._take(analysis, then), activity=activity)

    def choose(self, choice: DamageChoice) -> None:
        """Put another choice of the damage into the mask; kinds that are new are looked for."""
        self.choice = choice
        if self._source is not None and self._mask is not None:
            self.find(self._source, self._mask, choice.kinds)

    def toggle(self, row: int, column: int) -> bool:
        """Remove the found region at a pixel, or bring it back; return whether there is one."""
        if self.analysis is None or not self.is_in_mask:
            return False
        number = region_near(self.analysis, self.choice, row, column)
        if number is None:
            return False
        self.choice = replace(self.choice, removed=self.choice.removed ^ {number})
        self._update()
        return True

    def describe(self) -> str:
        """Return how much of each kind is chosen, in words; empty for nothing."""
        if self.analysis is None:
            return ""
        known = tuple(kind for kind in self.analysis.kinds if kind in self.choice.kinds)
        return describe_damage(count_chosen(self.analysis, replace(self.choice, kinds=known)))

    def _take(self, analysis: "DamageAnalysis", then: Callable[[], None] | None) -> None:
        self.analysis = analysis
        self._update(then)

    def _update(self, then: Callable[[], None] | None = None) -> None:
        """Put the chosen damage into the mask, computed in another thread; the latest choice wins."""
        self.changed.emit()
        mask, analysis, choice, applied = self._mask, self.analysis, self.choice, self._current
        if mask is None or analysis is None:
            return
        before, state = mask.snapshot(), mask.state

        def work(_control: JobControl) -> tuple[MarkedMask, PackedMask]:
            added = None if applied is None else applied.added.unpack()
            marked = mark_damage(before.unpack(), added, analysis, choice)
            return marked, PackedMask.pack(marked.added)

        def on_done(made: tuple[MarkedMask, PackedMask]) -> None:
            if mask.state != state:  # it was painted on meanwhile
                self._update(then)
                return
            marked, added = made
            self._edit(lambda history: history.mark_detected(marked.mask))
            known = {state: each for state, each in self._applied.items() if state in mask.states}
            self._applied = {**known, mask.state: _Applied(choice, added)}
            self.changed.emit()
            if then is not None:
                then()

        self._update_task.start(work, done=on_done)
