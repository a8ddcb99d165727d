"""Damage that somebody has marked, by a color or a mask: offered to be restored when a picture is opened."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inpaint_app.engine.source import Source
from inpaint_app.errors import printable_path
from inpaint_app.io.batch_files import mask_beside
from inpaint_app.model.marking_color import find_marking_color
from inpaint_app.model.mask_spec import MaskSpec
from inpaint_app.window.background.exclusive_task import ExclusiveTask
from inpaint_app.window.session.hints.hint import Hint

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session


class MarkedDamage(Hint):
    """Looks for a mask beside a picture that misses nothing, and for a marking color in it."""

    offer = "Restore Them"

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._task = ExclusiveTask(session.workers, self)
        self._marks: _Marks | None = None
        session.picture_opened.connect(self._look)
        session.mask_edited.connect(self._show)

    def accept(self) -> None:
        """Take what is marked for missing, and restore."""
        if self._marks is not None:
            self._session.opener.set_mask_spec(self._marks.spec, then=self._session.run_starter.restore)

    def dismiss(self) -> None:
        """Leave the marks as they are."""
        self._marks = None
        self._show()

    def _look(self) -> None:
        session = self._session
        self._task.cancel()
        self._marks = None
        source = session.source
        if source is not None and session.missing_fraction == 0 and source.reference is None:
            self._task.start(lambda _control: _find_marks(source), done=self._take)

    def _take(self, marks: "_Marks | None") -> None:
        self._marks = marks
        self._show()

    def _show(self) -> None:
        marks, session = self._marks, self._session
        is_wanted = session.source is not None and session.missing_fraction == 0
        self.set_sentence(marks.sentence if marks and is_wanted else "")


@dataclass(frozen=True)
class _Marks:
    """How damage is marked, and the sentence that says so."""

    spec: MaskSpec
    sentence: str


def _find_marks(source: Source) -> _Marks | None:
    mask = None if source.path is None else mask_beside(source.path)
    if mask is not None:
        name = printable_path(mask.name)
        return _Marks(MaskSpec(mask=mask), f"{name}, beside the picture, may mark its missing pixels.")
    color = find_marking_color(source.picture)
    if color is None:
        return None
    return _Marks(color.spec, f"There are {color.name} marks in the picture. Are they damage?")
