"""What the user lets wide holes be filled from."""

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject

from inpaint_app.image.missing import Mask
from inpaint_app.image.rect import Rect
from inpaint_app.jobs.hole_fill import HoleFill

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session

_LIMITED = "Wide holes are filled from there only; a click with this tool lets everything be copied again."
_FREE = "Everything may be copied into wide holes again."


class HoleSources(QObject):
    """Areas that may be copied into wide holes, and areas that may not; at first everything may."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        #: Pixels that may be copied: those of the first areas, or everything; and those that may not.
        self._wanted: Mask | None = None
        self._unwanted: Mask | None = None
        session.picture_opened.connect(self._forget)

    @property
    def fill(self) -> HoleFill | None:
        """How wide holes are filled; None if everything may be copied."""
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
        if may_be_copied:
            self._wanted = area
        else:
            self._unwanted = area
        self._restore(_LIMITED)

    def clear(self) -> None:
        """Let everything be copied again, and restore again if that makes a difference."""
        if self.fill is not None:
            self._forget()
            self._restore(_FREE)

    def _forget(self) -> None:
        self._wanted = self._unwanted = None

    def _restore(self, notice: str) -> None:
        self._session.notice.emit(notice)
        if self._session.missing_fraction > 0:
            self._session.run_starter.restore()
