"""What the user lets wide holes be filled from: areas of the picture, or a network."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inpaint_app.engine.hole_fill import HoleFill
from inpaint_app.engine.network import Network
from inpaint_app.model.missing import Mask
from inpaint_app.model.rect import Rect
from inpaint_app.window.background.exclusive_task import ExclusiveTask

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session

_LIMITED = "Wide holes are filled from there only; a click with this tool lets everything be copied again."
_FREE = "Wide holes are filled with pieces of the whole picture again."
_NETWORK = "Wide holes are filled by the network; a click with Clone from Here ends that."


class HoleSources(QObject):
    """Areas that may be copied into wide holes, and areas that may not, or a network that fills them.

    At first everything may be copied. An area ends the use of a network. Each change is a step that can be
    undone, and its result a run of its own.
    """

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self.fill: HoleFill | None = None  #: How wide holes are filled; None if everything may be copied.
        self._task = ExclusiveTask(session.workers, self)

    def add(self, rect: Rect, inside: Mask, *, may_be_copied: bool) -> None:
        """Let some pixels of a rectangle be copied, or not, and restore again."""
        source = self._session.source
        assert source is not None, "an area is drawn on a picture"
        known = self.fill or HoleFill()
        self._use(known.with_area(rect, inside, source.shape, may_be_copied=may_be_copied), _LIMITED)

    def use_network(self, path: Path) -> None:
        """Fill wide holes by the network of an ONNX file, and restore again; a sentence says if it fails."""
        self._task.start(
            lambda _control: Network.load(path),
            done=lambda network: self._use(HoleFill(network=network), _NETWORK),
        )

    def clear(self) -> None:
        """Let everything be copied again, and restore again if that makes a difference."""
        if self.fill is not None:
            self._use(None, _FREE)

    def _use(self, fill: HoleFill | None, notice: str) -> None:
        """Fill wide holes another way, and restore again."""
        session = self._session
        self.fill = fill
        session.undo_redo.record()
        session.notice.emit(notice)
        if session.missing_fraction > 0:
            session.run_starter.restore()
