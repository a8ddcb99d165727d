"""Damage that is looked for, and how much of it goes into the mask."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QObject, Signal

import dictsel_core  # detection is imported when it is first used, and is slow to import
from dictsel_core.damage_kinds import DamageKind
from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.engine.detect import (
    DamageChoice,
    FoundDamage,
    MarkedMask,
    first_look,
    mark_damage,
)
from inpaint_app.engine.source import analyze_picture
from inpaint_app.model.masks import PackedMask
from inpaint_app.text import DAMAGE_WORDS, describe_damage
from inpaint_app.window.background.work import Activity, ExclusiveTask, WorkerPool
from inpaint_app.window.document.document import NO_PICTURE, Document
from inpaint_app.window.document.state import DocumentState, MarkedDamage
from inpaint_app.window.undo import ChooseDamage, UndoHistory

Then = Callable[[], None]


class Finding(QObject):
    """Analyzes the picture once, and keeps the mask in step with what is chosen of the damage."""

    mark_shown = Signal(int, int, int, int)
    """The mark to look at: the top row, the left column, height and width of its rectangle."""

    def __init__(
        self, document: Document, history: UndoHistory, workers: WorkerPool, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._document, self._history = document, history
        self.task, self._update_task = ExclusiveTask(workers, self), ExclusiveTask(workers, self)
        self.task.activity_changed.connect(self._end_first_look)
        document.watch(self._follow, "marked", "found", "choice")

    def cancel(self) -> None:
        """Stop looking, and leave the mask as it is."""
        self.task.cancel()
        self._update_task.cancel()

    def find(self, kinds: tuple[DamageKind, ...], then: Then | None = None) -> None:
        """Look for kinds of damage that were not looked for yet, and put all of these kinds into the mask.

        Of a large picture, the part that is visible is looked at first. Something may follow once all is
        in the mask.
        """
        state = self._document.state
        source, mask, marked, visible = state.source, state.mask, state.marked, state.visible
        if source is None or mask is None:
            self._document.problem.emit(NO_PICTURE)
            return
        choice = replace(state.choice, kinds=kinds)
        self._document.apply(choice=choice)
        known = {} if state.found is None else dict(state.found.analysis.candidates)
        unknown = tuple(kind for kind in kinds if kind not in known)
        if not unknown:
            self._update(then)
            return

        def work(control: JobControl) -> FoundDamage:
            others = mask.unpack()
            if marked is not None:
                others &= ~marked.added.unpack()
            flat = others if others.ndim == 2 else np.asarray(others.all(axis=2))
            seen = first_look(source.picture, flat, visible, unknown, choice.sensitivity)
            if seen is not None:
                control.report(seen)
            found = analyze_picture(source.picture, flat, unknown, control)
            analysis = dictsel_core.detection.DamageAnalysis(found.shape, known | dict(found.candidates))
            contrasts = dictsel_core.detection.region_contrasts(source.picture.pixels, analysis, missing=flat)
            return FoundDamage(analysis, contrasts)

        def on_done(found: FoundDamage) -> None:
            self._document.apply(found=found)
            self._update(then)

        activity = Activity("detect", Progress("detecting damage", 0.0))
        self.task.start(
            work,
            done=on_done,
            progress=lambda seen: self._document.apply(first_look=seen),
            activity=activity,
        )

    def choose(self, choice: DamageChoice) -> None:
        """Put another choice of the damage into the mask; kinds that are new are looked for."""
        self._document.apply(choice=choice)
        if self._document.state.found is not None:
            self.find(choice.kinds)

    def region_near(self, row: int, column: int, reach: int = 4) -> int | None:
        """Return the found region nearest to a pixel, chosen or removed; None if there is none near."""
        state = self._document.state
        if state.found is None or state.marked is None:
            return None
        return state.found.region_near(state.choice, row, column, reach)

    def toggle(self, row: int, column: int, reach: int = 4) -> bool:
        """Remove the found region at a pixel, or bring it back; return whether there is one."""
        number, choice = self.region_near(row, column, reach), self._document.state.choice
        if number is None:
            return False
        self.choose(replace(choice, removed=choice.removed ^ {number}))
        return True

    def describe(self) -> str:
        """Return how much of each kind is chosen, in words; empty for nothing."""
        found, choice = self._document.state.found, self._document.state.choice
        return "" if found is None else describe_damage(found.count(choice))

    def _update(self, then: Then | None = None) -> None:
        """Put the chosen damage into the mask, computed in another thread; the latest choice wins."""
        state, document = self._document.state, self._document
        mask, found, choice, marked = state.mask, state.found, state.choice, state.marked
        if mask is None or found is None:
            return

        def work(_control: JobControl) -> tuple[MarkedMask, PackedMask]:
            added = None if marked is None else marked.added.unpack()
            made = mark_damage(mask.unpack(), added, found, choice)
            return made, PackedMask.pack(made.added)

        def on_done(made: tuple[MarkedMask, PackedMask]) -> None:
            self._history.end_stroke()
            if document.state.mask is not mask:  # it was painted on meanwhile
                self._update(then)
                return
            step = ChooseDamage(document, made[0].mask, MarkedDamage(choice, made[1]))
            if step.delta is None:
                self._history.amend(**step.new)
            else:
                self._history.push(step)
            if then is not None:
                then()

        self._update_task.start(work, done=on_done)

    def _end_first_look(self) -> None:
        if self.task.activity is None:
            self._document.apply(first_look=None)

    def _follow(self, old: DocumentState, new: DocumentState) -> None:
        """Go back to what was chosen for the mask as it is now, and leave a mark that is no longer there."""
        if new.marked is not old.marked:
            self._update_task.cancel()
            if new.marked is not None:
                self._document.apply(choice=new.marked.choice)
        state = self._document.state
        if state.mark is not None and (
            state.found is None or state.marked is None or not state.found.chosen(state.choice)[state.mark]
        ):
            self._document.apply(mark=None)

    # One mark after the other, from top to bottom

    def step(self, by: int) -> None:
        """Go to the mark `by` places further on; past the last one comes the first."""
        state = self._document.state
        marks = state.found.in_reading_order(state.choice) if state.found and state.marked else []
        if not marks or state.found is None:
            self._document.apply(mark=None)
            return
        if state.mark in marks:
            place = (marks.index(state.mark) + by) % len(marks)
        else:
            place = 0 if by > 0 else len(marks) - 1
        self._document.apply(mark=marks[place])
        self.mark_shown.emit(*state.found.box(marks[place]))

    def remove(self) -> None:
        """Remove the mark that is looked at, and go to the next one."""
        removed, choice = self._document.state.mark, self._document.state.choice
        if removed is not None:
            self.step(1)
            self.choose(replace(choice, removed=choice.removed | {removed}))

    @property
    def place(self) -> str:
        """Which of how many marks is looked at, and what it is; empty for none."""
        state = self._document.state
        if state.mark is None or state.found is None:
            return ""
        marks = state.found.in_reading_order(state.choice)
        return f"{marks.index(state.mark) + 1} of {len(marks)}: {self._words(state.mark)}"

    def describe_at(self, row: int, column: int) -> str:
        """Return what was found at a pixel, followed by a comma; empty for nothing."""
        number = self.region_near(row, column)
        return "" if number is None else f"{self._words(number)}, "

    def _words(self, number: int) -> str:
        state = self._document.state
        assert state.found is not None
        analysis = state.found.analysis
        words = f"{DAMAGE_WORDS[analysis.kind_of(number)][0]} {analysis.confidences[number]:.2f}"
        return f"{words} (removed)" if number in state.choice.removed else words
