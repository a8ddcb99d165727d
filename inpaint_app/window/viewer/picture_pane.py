"""A picture with a title above and a caption below."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontDatabase, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from inpaint_app.window.canvas.painting_canvas import PaintingCanvas
from inpaint_app.window.canvas.picture_canvas import PictureCanvas
from inpaint_app.window.canvas.viewport import Viewport
from inpaint_app.window.theme.colors import colors_of
from inpaint_app.window.widgets.elided_label import ElidedLabel
from inpaint_app.window.widgets.secondary_label import SecondaryLabel


class Badge(QLabel):
    """A word in a rounded frame, such as "preview"; nothing while it is empty."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setContentsMargins(8, 1, 8, 1)
        self.hide()

    def set_text(self, text: str) -> None:
        """Change the word."""
        self.setText(text)
        self.setAccessibleName(text)
        self.setVisible(bool(text))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame behind the word."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors_of(self.palette()).notice)
        frame = QRectF(self.rect())
        painter.drawRoundedRect(frame, frame.height() / 2, frame.height() / 2)
        painter.end()
        super().paintEvent(event)


class FramedPane(QWidget):
    """A canvas between a line with title and badge and a line with caption and readout.

    Parameters
    ----------
    canvas : PictureCanvas
        What is framed.
    title : str
        A word or two above it.
    parent : QWidget, optional
    """

    def __init__(self, canvas: PictureCanvas, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._badge = ElidedLabel(), Badge()
        self._caption, self._readout = ElidedLabel(), SecondaryLabel()
        self._canvas = canvas
        font = self._title.font()
        font.setBold(True)
        self._title.setFont(font)
        self._title.setMinimumHeight(self._badge.sizeHint().height())
        self._readout.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(_line(self._title, self._badge))
        layout.addWidget(canvas, 1)
        layout.addLayout(_line(self._caption, self._readout))
        self.set_title(title)

    @property
    def canvas(self) -> PictureCanvas:
        """The picture itself."""
        return self._canvas

    def set_title(self, title: str) -> None:
        """Change the words above the picture."""
        self._title.set_text(title)
        self._canvas.setAccessibleName(title)

    def set_badge(self, text: str) -> None:
        """Mark the picture with a word, such as "preview"; an empty one takes the mark away."""
        self._badge.set_text(text)

    def set_caption(self, text: str, *shorter: str) -> None:
        """Change the words below the picture, such as its PSNR; shorter ones are for narrow panes."""
        self._caption.set_text(text, *shorter)
        self._canvas.setAccessibleDescription(text)

    def set_readout(self, text: str) -> None:
        """Change the values of the pixel under the pointer, at the right below the picture."""
        self._readout.setText(text)


class PicturePane(FramedPane):
    """A picture that can be painted on, framed.

    Its signals and setters are those of `PaintingCanvas`, which `canvas` is.

    Parameters
    ----------
    viewport : Viewport
        What is seen, shared with the panes that show the same place.
    title : str
        A word or two above it.
    parent : QWidget, optional
    """

    def __init__(self, viewport: Viewport, title: str, parent: QWidget | None = None) -> None:
        canvas = PaintingCanvas(viewport)
        super().__init__(canvas, title, parent)
        self._painting = canvas
        self.set_image, self.set_levels = canvas.set_image, canvas.set_levels
        self.set_mask, self.set_coverage = canvas.set_mask, canvas.set_coverage
        self.show_mask, self.update_pixels = canvas.show_mask, canvas.update_pixels
        self.set_highlights, self.set_marker = canvas.set_highlights, canvas.set_marker
        self.set_placeholder = canvas.set_placeholder
        self.set_tool, self.set_brush_diameter = canvas.set_tool, canvas.set_brush_diameter
        self.hovered, self.hover_left = canvas.hovered, canvas.hover_left
        self.stroke_began, self.stroke_moved = canvas.stroke_began, canvas.stroke_moved
        self.stroke_ended, self.stroke_canceled = canvas.stroke_ended, canvas.stroke_canceled
        self.rectangle_drawn = canvas.rectangle_drawn
        self.setFocusProxy(canvas)

    @property
    def canvas(self) -> PaintingCanvas:
        """The picture itself."""
        return self._painting


def _line(left: QWidget, right: QWidget) -> QHBoxLayout:
    line = QHBoxLayout()
    line.setContentsMargins(2, 0, 2, 0)
    line.setSpacing(8)
    left.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    line.addWidget(left, 1)
    line.addWidget(right, 0)
    return line
