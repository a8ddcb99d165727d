"""What the user changed, step by step on Qt's undo stack: each step keeps the old and the new values."""

from dataclasses import dataclass, fields, replace
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from dictsel_core import RestoreSettings
from inpaint_app.engine.heal import HealedStroke, HealRequest, Paint
from inpaint_app.model.masks import MaskDelta, MaskOrigin, PackedMask
from inpaint_app.model.picture import Mask, Rect
from inpaint_app.window.document.document import Document
from inpaint_app.window.document.runs import RunRecord
from inpaint_app.window.document.state import DocumentState, MarkedDamage

#: Changes of the same parameter that follow each other faster are one step, such as those of a slider.
MERGE_SECONDS = 1.0


class Step(QUndoCommand):
    """Changes fields of a document.

    Two of them are parts of a field: `origin` of the mask, and `marks`, how the source marks missing pixels
    and which these are.

    Parameters
    ----------
    document : Document
        As it is before the step, but for pixels of the mask that are painted already.
    subject : str
        What is changed, for the menu.
    delta : MaskDelta, optional
        What was flipped in the mask.
    **changes
        New values of fields.
    """

    def __init__(
        self, document: Document, subject: str, delta: MaskDelta | None = None, **changes: Any
    ) -> None:
        super().__init__(subject)
        self._document, self.delta = document, delta
        before = {name: _value(document.state, name) for name in changes}
        self.new = {name: value for name, value in changes.items() if value != before[name]}
        self.old = {name: before[name] for name in self.new}
        self._is_painted = delta is not None
        self.at = monotonic()  #: When it was made, in seconds.
        self.may_merge = True  #: Whether it may become a part of the step before it.
        #: The runs that were shown before and after it, if it also made one.
        self.runs: tuple[int | None, int | None] | None = None

    @property
    def changes_anything(self) -> bool:
        """Whether there is something to undo."""
        return bool(self.new) or self.delta is not None

    @property
    def n_bytes(self) -> int:
        """Memory that it takes."""
        return 0 if self.delta is None else int(self.delta.flipped.nbytes)

    def amend(self, **changes: Any) -> None:
        """Let it change more fields, which are about to change."""
        for name, value in changes.items():
            self.old.setdefault(name, _value(self._document.state, name))
            self.new[name] = value

    def forget(self) -> None:
        """Let go of its memory: it will not be undone any more."""
        self.delta, self.old, self.new = None, {}, {}

    def redo(self) -> None:
        """Make the change."""
        self._put(self.new, None if self._is_painted else self.delta)
        self._is_painted = False

    def undo(self) -> None:
        """Take it back."""
        self._put(self.old, self.delta)

    def _put(self, values: dict[str, Any], delta: MaskDelta | None) -> None:
        document, painter, changes = self._document, self._document.painter, dict(values)
        mask, marks = document.state.mask, changes.pop("marks", None)
        if painter is not None and mask is not None:
            origin = changes.pop("origin", mask.origin)
            if delta is not None:
                painter.flip(delta)
                document.painted.emit(delta.rect)
            if self.delta is not None:
                changes["mask"] = PackedMask.pack(painter.mask, origin)
            elif origin != mask.origin:
                changes["mask"] = replace(mask, origin=origin)
        if "mask" in changes:
            changes["doubt"] = None  # the question was about another mask
        if marks is not None and document.state.source is not None:
            changes["source"] = replace(document.state.source, mask_spec=marks[0], missing=marks[1])
        document.apply(**changes)


def _value(state: DocumentState, name: str) -> Any:  # noqa: ANN401  (each of its kind)
    if name == "origin":
        return None if state.mask is None else state.mask.origin
    if name == "marks":
        return None if state.source is None else (state.source.mask_spec, state.source.missing)
    return getattr(state, name)


class ChangeSettings(Step):
    """Other parameters; those of one slider that is dragged are one step."""

    def __init__(self, document: Document, **changes: Any) -> None:
        super().__init__(document, "Parameter Change", **changes)

    @property
    def _names(self) -> set[str]:
        """What is changed: fields, and parameters of the settings."""
        return _unequal(self.old, self.new)

    def id(self) -> int:
        """Return what steps that may be one have in common."""
        return 1

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Take over a later step, if it changes the same soon; a slider that comes back leaves none."""
        if (
            not isinstance(other, ChangeSettings)
            or not other.may_merge
            or other.at - self.at >= MERGE_SECONDS
            or other._names != self._names
        ):
            return False
        self.new, self.at = other.new, other.at
        self.setObsolete(self.new == self.old)
        return True


def _unequal(old: dict[str, Any], new: dict[str, Any]) -> set[str]:
    names = {name for name in new if not isinstance(new[name], RestoreSettings)}
    if "settings" in new:
        one, other = old["settings"], new["settings"]
        names |= {e.name for e in fields(RestoreSettings) if getattr(one, e.name) != getattr(other, e.name)}
    return names


class FillHoles(Step):
    """Another fill of wide holes; a run with the earlier one is shown again when it is undone."""

    def __init__(self, document: Document, **changes: Any) -> None:
        super().__init__(document, "Fill of Holes", **changes)


class EditMask(Step):
    """Another mask, perhaps with other parameters."""

    def __init__(
        self, document: Document, delta: MaskDelta | None, origin: MaskOrigin, **changes: Any
    ) -> None:
        super().__init__(document, "Mask Edit", delta, origin=origin, **changes)


class PaintMask(EditMask):
    """A stroke, or some pixels that were filled."""

    def __init__(self, document: Document, delta: MaskDelta | None) -> None:
        super().__init__(document, delta, replace(_origin(document), is_painted=True))


class ReplaceMask(EditMask):
    """Another mask of the same shape, known from elsewhere unless an origin is given.

    Nothing that was found as damage is in it.
    """

    def __init__(
        self, document: Document, mask: Mask | None, origin: MaskOrigin | None = None, **changes: Any
    ) -> None:
        assert document.painter is not None, "a picture is open"
        super().__init__(
            document, document.painter.replace(mask), origin or MaskOrigin(), marked=None, **changes
        )
        if self.delta is not None:
            document.painted.emit(self.delta.rect)


class ChooseDamage(EditMask):
    """Found damage in the mask; choices that follow each other are one step."""

    def __init__(self, document: Document, mask: Mask, marked: MarkedDamage) -> None:
        assert document.painter is not None, "a picture is open"
        delta = document.painter.replace(mask)
        origin = _origin(document) if delta is None else replace(_origin(document), is_detected=True)
        super().__init__(document, delta, origin, marked=marked)
        self.setText("Found Damage")
        if delta is not None:
            document.painted.emit(delta.rect)

    @property
    def n_bytes(self) -> int:
        """Memory that it takes."""
        marked = self.new.get("marked")
        return super().n_bytes + (0 if marked is None else int(marked.added.bits.nbytes))

    def id(self) -> int:
        """Return what steps that may be one have in common."""
        return 2

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Take over a later choice, with what it flips."""
        assert isinstance(other, ChooseDamage) and self._document.painter is not None
        if not other.may_merge or self.runs is not None:
            return False
        deltas = [delta for delta in (self.delta, other.delta) if delta is not None]
        self.delta = deltas[0] if len(deltas) == 1 else None
        if len(deltas) == 2:
            self.delta = deltas[0].joined(deltas[1], self._document.painter.depth)
        self.old, self.new = other.old | self.old, self.new | other.new
        return True


@dataclass(frozen=True, eq=False)
class Healed:
    """A healed stroke: the record it is part of, what it changed, and that record before it began with it."""

    number: int
    stroke: HealedStroke  #: Without its picture, which others have changed since.
    beginning: RunRecord | None


class Heal(PaintMask):
    """A stroke that is healed, as soon as that is its turn, and taken back in the result too."""

    def __init__(self, document: Document, rect: Rect, paint: Paint) -> None:
        super().__init__(document, paint.delta)
        self.setText("Healing" if paint.copy is None or paint.copy.keeps_tones else "Cloning")
        self.rect, self.paint = rect, paint  #: What the stroke covers, and how.
        self.is_new = True  #: Whether it has never been followed by anything.
        self.stroke: HealRequest | None = None  #: Until it is healed, unless that was cancelled.
        self.healed: Healed | None = None

    @property
    def changes_anything(self) -> bool:
        """Whether there is something to undo: what is missing already is healed again."""
        return True

    def forget(self) -> None:
        """Let go of its memory, pixels included."""
        super().forget()
        self.stroke = self.healed = None

    @property
    def n_bytes(self) -> int:
        """Memory that it takes."""
        done = self.healed
        parts = (
            () if done is None else (done.stroke.before.pixels, done.stroke.full.pixels, done.stroke.fades)
        )
        return super().n_bytes + int(self.paint.covered.nbytes) + sum(int(part.nbytes) for part in parts)


def _origin(document: Document) -> MaskOrigin:
    assert document.state.mask is not None, "a picture is open"
    return document.state.mask.origin


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
