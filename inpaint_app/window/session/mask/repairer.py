"""Find damage and restore it, in one step that can be undone."""

from typing import TYPE_CHECKING

from dictsel_core.damage_kinds import USUAL_KINDS
from inpaint_app.engine.restore import RunResult
from inpaint_app.text.formatting import format_percent
from inpaint_app.window.session.opener import NO_PICTURE

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session


class Repairer:
    """Repairs the picture of a session; undo takes the result away with the marks, redo brings both back."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        #: The results shown before and after a repair, by the state of the mask that was repaired.
        self._repairs: dict[int, tuple[int | None, int | None]] = {}

    def restart(self) -> None:
        """Forget all repairs, for another picture."""
        self._repairs.clear()

    def repair(self) -> None:
        """Find the usual damage, mark it, and restore it with grain."""
        session = self._session
        if session.source is None or session.mask is None:
            session.problem.emit(NO_PICTURE)
            return
        visible = session.runner.visible
        session.finder.find(session.source, session.mask, USUAL_KINDS, self._restore_found, visible)

    def _restore_found(self) -> None:
        session = self._session
        assert session.mask is not None, "damage was found in a picture"
        if session.missing_fraction == 0:
            session.notice.emit(
                "No damage was found; raise the sensitivity of Find Damage, or paint over it."
            )
            return
        found, part = session.finder.describe(), format_percent(session.missing_fraction)
        notice = (
            f"Repaired {found or 'what was missing'} ({part} of the picture). For more or less of it, "
            "change the sensitivity of Find Damage and repair again."
        )
        state, before = session.mask.state, session.results.history.current_number

        def keep(result: RunResult) -> None:
            self._repairs[state] = before, session.results.history.current_number
            if not result.is_stopped:
                session.notice.emit(notice)

        session.run_starter.restore(grain=True, then=keep)

    def move(self, state: int, *, is_back: bool) -> bool:
        """Undo or redo the repair of a state of the mask; return whether there was one."""
        if state not in self._repairs:
            return False
        before, after = self._repairs[state]
        results = self._session.results
        left, shown = (after, before) if is_back else (before, after)
        if results.history.current_number == left and (shown is None or results.history.find(shown)):
            self._session.show_run(shown)
            return True
        return False
