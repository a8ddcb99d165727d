"""Steps that can be undone: each keeps the old and the new values of what it changes."""

from dataclasses import dataclass, fields, replace
from time import monotonic
from typing import Any

from PySide6.QtGui import QUndoCommand

from dictsel_core import RestoreSettings
from inpaint_app.engine.heal import HealedStroke, HealRequest, Paint
from inpaint_app.model.mask_painter import MaskDelta
from inpaint_app.model.missing import Mask
from inpaint_app.model.packed_mask import MaskOrigin, PackedMask
from inpaint_app.model.rect import Rect
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
        self,
        document: Document,
        subject: str,
        delta: MaskDelta | None = None,
        **changes: Any,  # noqa: ANN401  (each of its kind)
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

    def amend(self, **changes: Any) -> None:  # noqa: ANN401  (each of its kind)
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

    def __init__(self, document: Document, **changes: Any) -> None:  # noqa: ANN401  (each of its kind)
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

    def __init__(self, document: Document, **changes: Any) -> None:  # noqa: ANN401  (each of its kind)
        super().__init__(document, "Fill of Holes", **changes)


class EditMask(Step):
    """Another mask, perhaps with other parameters."""

    def __init__(
        self,
        document: Document,
        delta: MaskDelta | None,
        origin: MaskOrigin,
        **changes: Any,  # noqa: ANN401  (each of its kind)
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
        self,
        document: Document,
        mask: Mask | None,
        origin: MaskOrigin | None = None,
        **changes: Any,  # noqa: ANN401  (each of its kind)
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
        self.new |= other.new
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
