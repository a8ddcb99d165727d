"""A picture with a title above and a caption below."""

from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from inpaint_app.window.canvas.canvas import Canvas
from inpaint_app.window.widgets.labels import Badge, ElidedLabel, SecondaryLabel
from inpaint_app.window.widgets.layouts import fill

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
