"""Find damage and restore it, in one step that can be undone."""

from collections.abc import Callable

from dictsel_core.damage_kinds import USUAL_KINDS, DamageKind
from inpaint_app.engine.restore import RunResult
from inpaint_app.text.formatting import format_percent
from inpaint_app.window.document.document import Document
from inpaint_app.window.undo.history import UndoHistory

_NOTHING = "No damage was found; raise the sensitivity of Find Damage, or paint over it."
Find = Callable[[tuple[DamageKind, ...], Callable[[], None]], None]


class Repairing:
    """Repairs the picture of a document; undo takes the result away with the marks, redo brings both back.

    Parameters
    ----------
    document, history
        What it changes, and the step that it becomes a part of.
    find : callable
        Finds kinds of damage, and then calls what it is given.
    restore : callable
        Restores with grain, and then calls what it is given with the result.
    describe : callable
        Returns what was found, in words.
    """

    def __init__(
        self,
        document: Document,
        history: UndoHistory,
        find: Find,
        restore: Callable[[Callable[[RunResult], None]], None],
        describe: Callable[[], str],
    ) -> None:
        self._document, self._history = document, history
        self._find, self._restore, self._describe = find, restore, describe

    def repair(self) -> None:
        """Find the usual damage, mark it, and restore it with grain."""
        self._find(USUAL_KINDS, self._restore_found)

    def _restore_found(self) -> None:
        document, state = self._document, self._document.state
        if state.missing_fraction == 0:
            document.notice.emit(_NOTHING)
            return
        part = format_percent(state.missing_fraction)
        notice = f"Repaired {self._describe() or 'what was missing'} ({part} of the picture)."
        step, before = self._history.last_edit, state.runs.current_number

        def keep(result: RunResult) -> None:
            if step is not None:
                step.runs = before, document.state.runs.current_number
            if not result.is_stopped:
                document.notice.emit(notice)

        self._restore(keep)
