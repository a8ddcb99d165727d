"""The steps of a document in their order, on Qt's undo stack."""

from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from inpaint_app.window.document.document import Document
from inpaint_app.window.undo.steps import EditMask, Heal, PaintMask, Step

#: Memory for all steps; the oldest are forgotten first, the last one is always kept.
MAX_BYTES = 256 * 2**20


class UndoHistory(QObject):
    """Does steps, and takes them back."""

    changed = Signal()
    """There is something else to undo or redo."""
    stroke_changed = Signal()
    """Another stroke of the healing brush is the last step, or none is, or it was painted otherwise."""
    stepped = Signal(object, bool)
    """A step that something is to follow, and whether it was undone; None for a part of the last one."""

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._stack = QUndoStack(self)
        self._stroke: Heal | None = None
        self._n_forgotten = 0

    def push(self, step: Step, *, follows: bool = True) -> None:
        """Do a step, if it changes anything; something is to follow it, unless its maker sees to that."""
        if not step.changes_anything:
            return
        step.may_merge = not self._stack.canRedo()
        self._stack.push(step)
        self.trim()
        self._note_change()
        if follows:
            # Qt has deleted a step that became a part of the one before.
            self.stepped.emit(step if self.last is step else None, False)

    def amend(self, **changes: Any) -> None:
        """Change fields as a part of the last step, so that they are undone with it."""
        if self.last is not None:
            self.last.amend(**changes)
        self._document.apply(**changes)

    def end_stroke(self) -> None:
        """Make a step of the stroke in progress, if it changed something."""
        painter = self._document.painter
        ended = None if painter is None else painter.end_stroke()
        if ended is not None and ended[1] is not None:
            self.push(PaintMask(self._document, ended[1]))

    def undo(self) -> None:
        """Undo the last step; a stroke that has begun, if there is one."""
        painter = self._document.painter
        if painter is not None and painter.is_painting:
            rect = painter.cancel_stroke()
            if rect is not None:
                self._document.painted.emit(rect)
        elif self.can_undo:
            step = self.last
            self._stack.undo()
            self._tell(step, is_back=True)

    def redo(self) -> None:
        """Redo the last step that was undone; nothing within a stroke."""
        painter = self._document.painter
        if self.can_redo and not (painter is not None and painter.is_painting):
            self._stack.redo()
            self._tell(self.last, is_back=False)

    def _tell(self, step: Step | None, *, is_back: bool) -> None:
        self._document.notice.emit("")  # what was told of the last step holds no more
        self._note_change()
        self.stepped.emit(step, is_back)

    def _note_change(self) -> None:
        self.changed.emit()
        stroke = self.last if isinstance(self.last, Heal) else None
        if stroke is not self._stroke:
            self._stroke = stroke
            self.stroke_changed.emit()

    def clear(self) -> None:
        """Forget all steps, for another picture."""
        self._stack.clear()
        self._n_forgotten = 0
        self._note_change()

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return self._stack.index() > self._n_forgotten

    @property
    def can_redo(self) -> bool:
        """Whether there is a step to redo."""
        return self._stack.canRedo()

    @property
    def undo_text(self) -> str:
        """What the next undo brings back; empty if nothing."""
        return self._stack.undoText() if self.can_undo else ""

    @property
    def redo_text(self) -> str:
        """What the next redo changes again; empty if nothing."""
        return self._stack.redoText()

    @property
    def last(self) -> Step | None:
        """The step that undo takes back."""
        return self._step(self._stack.index() - 1) if self.can_undo else None

    @property
    def last_edit(self) -> EditMask | None:
        """The last step that changed the mask."""
        done = self.steps[: self._stack.index() - self._n_forgotten]
        return next((step for step in reversed(done) if isinstance(step, EditMask)), None)

    @property
    def steps(self) -> list[Step]:
        """All steps that can be undone or redone, the oldest first."""
        return [self._step(place) for place in range(self._n_forgotten, self._stack.count())]

    def trim(self) -> None:
        """Forget the oldest steps if they take too much memory."""
        n_bytes = sum(step.n_bytes for step in self.steps)
        while n_bytes > MAX_BYTES and self._n_forgotten < self._stack.index() - 1:
            step = self._step(self._n_forgotten)
            n_bytes -= step.n_bytes
            step.forget()
            self._n_forgotten += 1

    def _step(self, place: int) -> Step:
        step = self._stack.command(place)
        assert isinstance(step, Step)
        return step
