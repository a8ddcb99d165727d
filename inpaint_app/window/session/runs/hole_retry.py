"""Another fill of wide holes, beside those that there are."""

from dataclasses import replace
from typing import TYPE_CHECKING

from dictsel_core.restoration import has_wide_hole
from inpaint_app.window.background.exclusive_task import ExclusiveTask
from inpaint_app.window.session.opener import NO_PICTURE

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session

_SMOOTH = "Wide holes are filled smoothly, which is always the same; let them be filled with texture."
_NARROW = (
    "No hole is wider than 16 pixels, and no spot wider than 10; narrower ones are restored in one way only."
)
_DONE = "Filled with other pieces; the earlier result is in the history."


class HoleRetry:
    """Restores with the next seed, so that wide holes are filled with other pieces of the picture."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._task = ExclusiveTask(session.workers, session)

    def start(self) -> None:
        """Fill wide holes another way, as a result of its own; a sentence says why if there is none."""
        session = self._session
        if session.source is None or session.mask is None:
            session.problem.emit(NO_PICTURE)
        elif not session.settings.fills_texture(session.source.picture.pixels.dtype):
            session.problem.emit(_SMOOTH)
        else:
            mask = session.mask.snapshot()
            self._task.start(lambda _control: has_wide_hole(mask.unpack()), done=self._restore)

    def _restore(self, is_wide: bool) -> None:
        session = self._session
        if not is_wide:
            session.problem.emit(_NARROW)
            return
        session.show_settings(replace(session.settings, seed=session.settings.seed + 1))
        session.undo_redo.record()
        session.run_starter.restore(then=lambda _result: session.notice.emit(_DONE))
