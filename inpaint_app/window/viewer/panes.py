"""Pictures with a title above and a caption below, beside or above each other."""

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from inpaint_app.window.canvas.canvas import Canvas
from inpaint_app.window.widgets.fields import fill
from inpaint_app.window.widgets.labels import Badge, ElidedLabel, SecondaryLabel

_GAP = 4


class PicturePane(QWidget):
    """A canvas between a line with title and badge and a line with caption and readout."""

    def __init__(self, canvas: Canvas) -> None:
        super().__init__()
        self.canvas = canvas
        self._words: tuple[str, str, tuple[str, ...]] | None = None
        #: What the picture is, a word such as "preview", its figures, and the pixel under the pointer.
        self.title, self.badge = ElidedLabel(), Badge()
        self.caption, self.readout = ElidedLabel(), SecondaryLabel()
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.title.setMinimumHeight(self.badge.sizeHint().height())
        self.readout.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._above, self._below = _line(self.title, self.badge), _line(self.caption, self.readout)
        fill(QVBoxLayout(self), self._above, (canvas, 1), self._below, spacing=_GAP)
        self.setFocusProxy(canvas)

    def set_bare(self, is_bare: bool) -> None:
        """Show the picture alone, or with what is said about it."""
        for line in (self._above, self._below):
            line.setVisible(not is_bare)

    @property
    def top(self) -> int:
        """How much is above the picture."""
        return 0 if self._above.isHidden() else self._above.sizeHint().height() + _GAP

    def set_labels(self, title: str, badge: str, caption: tuple[str, ...]) -> None:
        """Change what is said about the picture; shorter captions are for narrow panes."""
        if self._words == (title, badge, caption):
            return  # screen readers would say it again
        self._words = title, badge, caption
        self.title.set_text(title)
        self.badge.set_text(badge)
        self.caption.set_text(*caption)
        self.canvas.setAccessibleName(title)
        self.canvas.setAccessibleDescription(caption[0])


def _line(left: QWidget, right: QWidget) -> QWidget:
    line = QWidget()
    left.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    fill(QHBoxLayout(line), (left, 1), right, margins=(2, 0, 2, 0), spacing=8)
    return line


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
