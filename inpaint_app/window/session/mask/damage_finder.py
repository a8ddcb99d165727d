"""Damage that is looked for, and how much of it goes into the mask."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

import dictsel_core  # detection is imported when it is first used, and is slow to import
from dictsel_core.damage_kinds import DamageKind
from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.engine.damage_choice import DamageChoice, FoundDamage, MarkedMask, mark_damage
from inpaint_app.engine.first_look import FirstLook, first_look
from inpaint_app.engine.source import Source, analyze_picture
from inpaint_app.model.mask_history import MaskHistory
from inpaint_app.model.packed_mask import PackedMask
from inpaint_app.model.rect import Rect
from inpaint_app.text.explanations import describe_damage
from inpaint_app.window.background.activity import Activity
from inpaint_app.window.background.exclusive_task import ExclusiveTask
from inpaint_app.window.background.worker_pool import WorkerPool

if TYPE_CHECKING:
    from dictsel_core.detection import DamageAnalysis


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
    first_look_changed = Signal()

    def __init__(self, workers: WorkerPool, edit: EditMask, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._edit = edit
        self.task, self._update_task = ExclusiveTask(workers, self), ExclusiveTask(workers, self)
        self._source: Source | None = None
        self._mask: MaskHistory | None = None
        #: What is in the mask, by the state of the mask that it led to; None where nothing of it is left.
        self._applied: dict[int, _Applied | None] = {}
        self.found: FoundDamage | None = None  #: All that may be damage; None before it was looked for.
        self.first_look: FirstLook | None = None  #: What is seen at once, until all is found.
        self.choice = DamageChoice()  #: What of it is in the mask.
        self.task.activity_changed.connect(self._end_first_look)

    @property
    def analysis(self) -> "DamageAnalysis | None":
        """The regions of all that may be damage; None before it was looked for."""
        return None if self.found is None else self.found.analysis

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
        self._source = self._mask = self.found = None
        self._applied = {}
        self.choice = replace(self.choice, removed=frozenset(), within=None)
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
        visible: Rect | None = None,
    ) -> None:
        """Look for kinds of damage that were not looked for yet, and put all of these kinds into the mask.

        Of a large picture, the part that is visible is looked at first. Something may follow once all is
        in the mask.
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

        def work(control: JobControl) -> FoundDamage:
            others = missing.unpack()
            if applied is not None:
                others &= ~applied.added.unpack()
            flat = others if others.ndim == 2 else np.asarray(others.all(axis=2))
            seen = first_look(source.picture, flat, visible, unknown, self.choice.sensitivity)
            if seen is not None:
                control.report(seen)
            found = analyze_picture(source.picture, flat, unknown, control)
            analysis = dictsel_core.detection.DamageAnalysis(found.shape, known | dict(found.candidates))
            contrasts = dictsel_core.detection.region_contrasts(source.picture.pixels, analysis, missing=flat)
            return FoundDamage(analysis, contrasts)

        activity = Activity("detect", Progress("detecting damage", 0.0))
        self.task.start(
            work, done=lambda found: self._take(found, then), progress=self._show_first, activity=activity
        )

    def _show_first(self, seen: FirstLook) -> None:
        self.first_look = seen
        self.first_look_changed.emit()

    def _end_first_look(self) -> None:
        if self.first_look is not None and self.task.activity is None:
            self.first_look = None
            self.first_look_changed.emit()

    def choose(self, choice: DamageChoice) -> None:
        """Put another choice of the damage into the mask; kinds that are new are looked for."""
        self.choice = choice
        if self._source is not None and self._mask is not None:
            self.find(self._source, self._mask, choice.kinds)

    def region_near(self, row: int, column: int, reach: int = 4) -> int | None:
        """Return the found region nearest to a pixel, chosen or removed; None if there is none near."""
        if self.found is None or not self.is_in_mask:
            return None
        return self.found.region_near(self.choice, row, column, reach)

    def toggle(self, row: int, column: int, reach: int = 4) -> bool:
        """Remove the found region at a pixel, or bring it back; return whether there is one."""
        number = self.region_near(row, column, reach)
        if number is None:
            return False
        self.choose(replace(self.choice, removed=self.choice.removed ^ {number}))
        return True

    def describe(self) -> str:
        """Return how much of each kind is chosen, in words; empty for nothing."""
        return "" if self.found is None else describe_damage(self.found.count(self.choice))

    def _take(self, found: FoundDamage, then: Callable[[], None] | None) -> None:
        self.found = found
        self._update(then)

    def _update(self, then: Callable[[], None] | None = None) -> None:
        """Put the chosen damage into the mask, computed in another thread; the latest choice wins."""
        self.changed.emit()
        mask, found, choice, applied = self._mask, self.found, self.choice, self._current
        if mask is None or found is None:
            return
        before, state = mask.snapshot(), mask.state

        def work(_control: JobControl) -> tuple[MarkedMask, PackedMask]:
            added = None if applied is None else applied.added.unpack()
            marked = mark_damage(before.unpack(), added, found, choice)
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
