"""Panes beside or above each other, whichever shows their picture larger."""

from PySide6.QtCore import QRect, QSize
from PySide6.QtWidgets import QBoxLayout, QWidget

from inpaint_app.window.viewer.picture_pane import PicturePane

_BESIDE, _ABOVE = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom


class PaneLayout(QBoxLayout):
    """Shares its room equally among the panes that are visible."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(_BESIDE, parent)
        self._panes: list[PicturePane] = []
        self._picture = (1, 1)

    def add_pane(self, pane: PicturePane) -> None:
        """Add a pane after the others."""
        self._panes.append(pane)
        self.addWidget(pane, 1)

    def set_picture_shape(self, shape: tuple[int, int]) -> None:
        """Set height and width of the picture."""
        if shape != self._picture:
            self._picture = shape
            self.invalidate()

    def set_bare(self, is_bare: bool) -> None:
        """Leave no room around the panes, or some."""
        self.setContentsMargins(*((0, 0, 0, 0) if is_bare else (8, 8, 8, 4)))
        self.setSpacing(8)

    def setGeometry(self, rect: QRect) -> None:
        """Choose the direction, and lay the panes out."""
        direction = _ABOVE if self._is_stack_better(rect.size()) else _BESIDE
        if direction is not self.direction():
            self.setDirection(direction)
        super().setGeometry(rect)

    def minimumSize(self) -> QSize:
        """Return a size for one pane in height: without room for more, they are laid side by side."""
        size = super().minimumSize()
        heights = [pane.minimumSizeHint().height() for pane in self._visible()]
        if heights and self.direction() is _ABOVE:
            margins = self.contentsMargins()
            size.setHeight(max(heights) + margins.top() + margins.bottom())
        return size

    def _visible(self) -> list[PicturePane]:
        return [pane for pane in self._panes if not pane.isHidden()]

    def _is_stack_better(self, room: QSize) -> bool:
        panes = self._visible()
        if len(panes) < 2:
            return False
        room = room.shrunkBy(self.contentsMargins())
        gaps, minimum = self.spacing() * (len(panes) - 1), panes[0].canvas.minimumHeight()
        chrome = panes[0].minimumSizeHint().height() - minimum
        beside = (room.width() - gaps) / len(panes), room.height() - chrome
        above = room.width(), (room.height() - gaps) / len(panes) - chrome
        return above[1] >= minimum and self._zoom(*above) > self._zoom(*beside)

    def _zoom(self, width: float, height: float) -> float:
        return min(width / self._picture[1], height / self._picture[0])
