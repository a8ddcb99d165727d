"""Whether a hole is too wide for the chosen fill, and the fill that suits it."""

from dataclasses import replace
from typing import TYPE_CHECKING

from dictsel_core.restoration import has_wide_hole
from inpaint_app.model.mask_history import MaskHistory
from inpaint_app.window.background.exclusive_task import ExclusiveTask
from inpaint_app.window.session.hints.hint import Hint

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session

_WIDE_HOLE = "A hole is too wide for a smooth fill, which leaves it blurred. Copy texture from around it?"


class WideHoles(Hint):
    """Looks for wide holes after every edit of the mask, as long as they would be filled smoothly."""

    offer = "Fill with Texture"

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._task = ExclusiveTask(session.workers, self)
        self._known: tuple[MaskHistory, int, bool] | None = None
        self._is_dismissed = False
        session.mask_edited.connect(self._check)
        session.settings_changed.connect(self._check)
        session.picture_opened.connect(self._restart)

    def dismiss(self) -> None:
        """Give no more hints about this picture."""
        self._is_dismissed = True
        self._set_wanted(False)

    def accept(self) -> None:
        """Restore again, with wide holes filled with texture."""
        self._session.set_settings(replace(self._session.settings, fill="texture"))
        self._session.run_starter.restore()

    def _restart(self) -> None:
        self._is_dismissed = False

    def _check(self) -> None:
        session = self._session
        self._task.cancel()
        if (
            session.source is None
            or session.mask is None
            or self._is_dismissed
            or session.settings.fills_texture(session.source.picture.pixels.dtype)
        ):
            self._set_wanted(False)
            return
        history, state, known = session.mask, session.mask.state, self._known
        if known is not None and known[0] is history and known[1] == state:
            self._set_wanted(known[2])
            return
        mask = session.mask.snapshot()

        def on_done(is_wide: bool) -> None:
            self._known = history, state, is_wide
            self._set_wanted(is_wide)

        self._task.start(lambda _control: has_wide_hole(mask.unpack()), done=on_done)

    def _set_wanted(self, is_wanted: bool) -> None:
        self.set_sentence(_WIDE_HOLE if is_wanted else "")
