"""What the user changed: undone and redone, mask and parameters alike."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inpaint_app.window.session.undo_stack import FILL_CHANGES, UndoStack, UndoState

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session


class UndoRedo(QObject):
    """Takes the session back to earlier states, and forth again."""

    changed = Signal()
    """There is something else to undo or redo."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self.stack = UndoStack(self._state)  #: The steps.

    def record(self) -> None:
        """Make what has changed a step that can be undone."""
        mask = self._session.mask
        self.stack.record(self._state, {0} if mask is None else mask.states)
        self.changed.emit()

    def restart(self) -> None:
        """Forget all steps, for another picture."""
        self.stack.restart(self._state)
        self.changed.emit()

    def undo(self) -> None:
        """Undo the last change of mask or parameters, and what was healed with it; a stroke begun, if any."""
        mask = self._session.mask
        if mask is not None and mask.is_painting:
            self._session.edit_mask(lambda mask: mask.cancel_stroke(), ends=False)
        elif self.stack.can_undo:
            self._go_to(self.stack.undo(), is_back=True)

    def redo(self) -> None:
        """Redo the last undone change, and what was healed with it; nothing within a stroke."""
        mask = self._session.mask
        if self.stack.can_redo and not (mask is not None and mask.is_painting):
            self._go_to(self.stack.redo(), is_back=False)

    @property
    def _state(self) -> UndoState:
        session = self._session
        source, mask = session.source, session.mask
        if source is None or mask is None:
            return UndoState(session.settings, session.is_automatic)
        marked = source.mask_spec, source.missing, mask.state
        return UndoState(session.settings, session.is_automatic, *marked, session.hole_sources.fill)

    def _go_to(self, state: UndoState, *, is_back: bool) -> None:
        session, changed = self._session, state.differences(self._state)
        session.is_automatic = state.is_automatic
        session.hole_sources.fill = state.hole_fill
        session.show_settings(state.settings)
        mask_state = None if session.mask is None else session.mask.state
        is_healed = self._move_mask(state.mask_state, is_back=is_back)
        source = session.source
        if source is not None and state.mask_spec is not None and state.missing is not None:
            marked = replace(source, missing=state.missing, mask_spec=state.mask_spec)
            if marked.missing is not source.missing or marked.mask_spec != source.mask_spec:
                session.source = marked
                session.source_changed.emit()
        if session.mask is not None and session.mask.state != mask_state:
            session.finder.follow_mask()
            session.end_edit(is_healed=is_healed)
        elif not (changed <= FILL_CHANGES and self._show_fill()):
            session.schedule()
        self.changed.emit()

    def _show_fill(self) -> bool:
        """Show the result that is filled as the state says; return whether there is one."""
        session = self._session
        assert session.mask is not None, "holes of a picture are filled"
        record = session.results.history.find_run(
            session.settings, session.mask.snapshot(), session.hole_sources.fill
        )
        if record is not None:
            session.runner.cancel()
            session.show_run(record.number)
        return record is not None

    def _move_mask(self, target: int, *, is_back: bool) -> bool:
        """Bring the mask to a state; return whether what was healed with it follows."""
        session, is_healed = self._session, False
        mask = session.mask
        while mask is not None and mask.state != target and (mask.can_undo if is_back else mask.can_redo):
            state = mask.state
            session.edit_mask(lambda mask: mask.undo() if is_back else mask.redo(), ends=False)
            left = state if is_back else mask.state
            is_healed = session.healer.move(left, is_back=is_back)
            is_healed = session.repairer.move(left, is_back=is_back) or is_healed
        return is_healed
