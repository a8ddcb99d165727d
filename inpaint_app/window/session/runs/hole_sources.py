"""What the user lets wide holes be filled from: areas of the picture, or a network."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject

from inpaint_app.image.missing import Mask
from inpaint_app.image.rect import Rect
from inpaint_app.jobs.hole_fill import HoleFill
from inpaint_app.jobs.network import Network
from inpaint_app.window.background.exclusive_task import ExclusiveTask

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session

_LIMITED = "Wide holes are filled from there only; a click with this tool lets everything be copied again."
_FREE = "Wide holes are filled with pieces of the whole picture again."
_NETWORK = "Wide holes are filled by the network; a click with Clone from Here ends that."


class HoleSources(QObject):
    """Areas that may be copied into wide holes, and areas that may not, or a network that fills them.

    At first everything may be copied. An area ends the use of a network.
    """

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        #: Pixels that may be copied: those of the first areas, or everything; and those that may not.
        self._wanted: Mask | None = None
        self._unwanted: Mask | None = None
        self._network: Network | None = None
        self._task = ExclusiveTask(session.workers, self)
        session.picture_opened.connect(self._forget)

    @property
    def fill(self) -> HoleFill | None:
        """How wide holes are filled; None if everything may be copied."""
        if self._network is not None:
            return HoleFill(network=self._network)
        if self._wanted is None and self._unwanted is None:
            return None
        allowed = ~self._unwanted if self._wanted is None else self._wanted  # type: ignore[operator]
        return HoleFill(allowed if self._unwanted is None else allowed & ~self._unwanted)

    def add(self, rect: Rect, inside: Mask, *, may_be_copied: bool) -> None:
        """Let some pixels of a rectangle be copied, or not, and restore again."""
        source = self._session.source
        assert source is not None, "an area is drawn on a picture"
        known = self._wanted if may_be_copied else self._unwanted
        area = np.zeros(source.shape, np.bool_) if known is None else known.copy()
        area[rect.slices] |= inside
        self._network = None
        if may_be_copied:
            self._wanted = area
        else:
            self._unwanted = area
        self._restore(_LIMITED)

    def use_network(self, path: Path) -> None:
        """Fill wide holes by the network of an ONNX file, and restore again; a sentence says if it fails."""

        def use(network: Network) -> None:
            self._network = network
            self._restore(_NETWORK)

        self._task.start(lambda _control: Network.load(path), done=use)

    def clear(self) -> None:
        """Let everything be copied again, and restore again if that makes a difference."""
        if self.fill is not None:
            self._forget()
            self._restore(_FREE)

    def _forget(self) -> None:
        self._wanted = self._unwanted = self._network = None

    def _restore(self, notice: str) -> None:
        self._session.notice.emit(notice)
        if self._session.missing_fraction > 0:
            self._session.run_starter.restore()
