"""Damage that somebody has marked with a color: offered to be restored when a picture is opened."""

from typing import TYPE_CHECKING

from inpaint_app.image.marking_color import MarkingColor, find_marking_color
from inpaint_app.window.background.exclusive_task import ExclusiveTask
from inpaint_app.window.session.hints.hint import Hint

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session


class MarkedDamage(Hint):
    """Looks for a marking color in a picture that misses nothing."""

    offer = "Restore Them"

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._task = ExclusiveTask(session.workers, self)
        self._color: MarkingColor | None = None
        session.picture_opened.connect(self._look)
        session.mask_edited.connect(self._show)

    def accept(self) -> None:
        """Mark the pixels of the color as missing, and restore."""
        if self._color is not None:
            self._session.opener.set_mask_spec(self._color.spec, then=self._session.run_starter.restore)

    def dismiss(self) -> None:
        """Take the color for one of the picture."""
        self._color = None
        self._show()

    def _look(self) -> None:
        session = self._session
        self._task.cancel()
        self._color = None
        if session.source is not None and session.missing_fraction == 0 and session.source.reference is None:
            picture = session.source.picture
            self._task.start(lambda _control: find_marking_color(picture), done=self._take)

    def _take(self, color: MarkingColor | None) -> None:
        self._color = color
        self._show()

    def _show(self) -> None:
        color, session = self._color, self._session
        is_wanted = color is not None and session.source is not None and session.missing_fraction == 0
        self.set_sentence(
            f"There are {color.name} marks in the picture. Are they damage?" if color and is_wanted else ""
        )
