"""Goes back to restorations of the history, and compares them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inpaint_app.text.actions import key_of
from inpaint_app.window.session.state import RunRecord
from inpaint_app.window.session.view_modes import COMPARISON

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session


class RunBrowser:
    """Shows earlier restorations of a session."""

    def __init__(self, session: "Session") -> None:
        self._session = session

    def go_back(self, number: int) -> None:
        """Show a restoration of the history again, with its parameters and its mask.

        A run in progress continues with its own parameters, and shows its result when it ends.
        """
        session = self._session
        record = session.results.history.find(number)
        if record is None:
            return
        is_busy = session.runner.is_busy
        if not is_busy:
            session.cancel()
            if session.set_inputs_of(record):
                session.notice.emit(f"Run {number} is shown with its own mask; Undo brings yours back.")
        if record.image is None:
            way = (
                "go back to it after the run in progress"
                if is_busy
                else f"{key_of('restore')} restores them again"
            )
            session.notice.emit(f"The pixels of run {number} were released to save memory; {way}.")
            return
        self._show(number)

    def compare(self, numbers: Sequence[int]) -> None:
        """Show restorations of the history side by side; parameters and mask stay as they are."""
        session = self._session
        if any(session.results.history.find(number) is None for number in numbers):
            return
        current = session.results.history.current_number
        self._show(numbers[-1] if current is None or current not in numbers else current, numbers)
        if not session.view.mode.is_comparison:
            session.set_view(session.view.with_mode(COMPARISON))

    def has_inputs_of(self, record: RunRecord) -> bool:
        """Return whether parameters and mask are those of a restoration."""
        return record.requested == self._session.settings and self._session.has_mask_of(record)

    def _show(self, number: int, comparison: Sequence[int] = ()) -> None:
        if self._session.runner.is_busy:
            self._session.runner.hide_intermediate()
        self._session.show_run(number, comparison)
