"""One list of steps to undo and redo, for the mask and the parameters alike; no Qt."""

import time
from collections.abc import Collection
from dataclasses import dataclass, fields

from dictsel_core import RestoreSettings
from inpaint_app.engine.hole_fill import HoleFill
from inpaint_app.model.mask_spec import MaskSpec
from inpaint_app.model.missing import MissingPixels

#: Changes of the same parameter that follow each other faster are one step, such as those of a slider.
MERGE_SECONDS = 1.0
#: What a step changes that does nothing but fill wide holes another way.
FILL_CHANGES = frozenset({"hole_fill", "seed"})


@dataclass(frozen=True)
class UndoState:
    """What a restoration is made from, as far as the user changes it."""

    settings: RestoreSettings  #: The parameters.
    is_automatic: bool = False  #: Whether a run follows every change.
    mask_spec: MaskSpec | None = None  #: How missing pixels are marked; None without a picture.
    missing: MissingPixels | None = None  #: Those that are marked so.
    mask_state: int = 0  #: Number of the state of the mask, see `MaskHistory.state`.
    hole_fill: HoleFill | None = None  #: How wide holes are filled; None for what is usual.

    def differences(self, other: "UndoState") -> frozenset[str]:
        """Return the names of all that is not the same: attributes, and parameters of the settings."""
        names = _unequal(self, other) - {"settings"}
        return frozenset(names | _unequal(self.settings, other.settings))


def _unequal(one: UndoState | RestoreSettings, other: UndoState | RestoreSettings) -> set[str]:
    return {each.name for each in fields(one) if getattr(one, each.name) != getattr(other, each.name)}


@dataclass(frozen=True)
class _Step:
    state: UndoState
    """What the step led to."""
    changed: frozenset[str] = frozenset()
    at: float = 0.0


class UndoStack:
    """Remembers states in the order in which they were made."""

    def __init__(self, state: UndoState) -> None:
        self._done, self._undone = [_Step(state)], list[_Step]()

    def restart(self, state: UndoState) -> None:
        """Forget all steps, for another picture."""
        self._done, self._undone = [_Step(state)], []

    def record(self, state: UndoState, mask_states: Collection[int], now: float | None = None) -> None:
        """Remember a state that has changed.

        Parameters
        ----------
        state : UndoState
            As it is now.
        mask_states : collection of int
            States of the mask that it can be brought back to; what led to others is forgotten.
        now : float, optional
            The time in seconds.
        """
        now = time.monotonic() if now is None else now
        while len(self._done) > 1 and self._done[-1].state.mask_state not in mask_states:
            self._done.pop()
        while len(self._done) > 1 and self._done[0].state.mask_state not in mask_states:
            self._done.pop(0)
        changed = state.differences(self._done[-1].state)
        if not changed:
            return
        last = self._done[-1]
        is_same = last.changed == changed and not changed & {"mask_state", "hole_fill"}
        if is_same and not self._undone and now - last.at < MERGE_SECONDS:
            self._done.pop()
        self._undone.clear()
        if state != self._done[-1].state:
            self._done.append(_Step(state, changed, now))

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return len(self._done) > 1

    @property
    def can_redo(self) -> bool:
        """Whether there is a step to redo."""
        return bool(self._undone)

    @property
    def undo_subject(self) -> str:
        """What the next undo brings back: "mask", "fill" or "parameters"; empty if nothing."""
        return _subject(self._done[-1]) if self.can_undo else ""

    @property
    def redo_subject(self) -> str:
        """What the next redo changes again; empty if nothing."""
        return _subject(self._undone[-1]) if self._undone else ""

    def undo(self) -> UndoState:
        """Go a step back, and return what was there before it."""
        self._undone.append(self._done.pop())
        return self._done[-1].state

    def redo(self) -> UndoState:
        """Go a step forth again, and return what is there after it."""
        self._done.append(self._undone.pop())
        return self._done[-1].state


def _subject(step: _Step) -> str:
    if step.changed & {"mask_state", "mask_spec", "missing"}:
        return "mask"
    return "fill" if step.changed <= FILL_CHANGES else "parameters"
