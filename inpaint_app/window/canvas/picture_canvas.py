"""A picture, its missing pixels and other marks, drawn through a viewport."""

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QHideEvent, QPainter, QPaintEvent, QPen, QRegion, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from inpaint_app.model.rect import Rect
from inpaint_app.window.canvas.content import Content
from inpaint_app.window.canvas.layers import (
    Geometry,
    draw_dimming,
    draw_hatching,
    draw_outlines,
    draw_pyramid,
    striped,
)
from inpaint_app.window.canvas.mask_pyramid import MaskPyramid
from inpaint_app.window.canvas.viewport import Viewport
from inpaint_app.window.theme.colors import DIMMING, OUTLINE, STRIPES, Colors, colors_of

_STRIPE = 10
_MARKER = 9


class PictureCanvas(QWidget):
    """Shows a picture through a viewport that other canvases may share.

    It only draws; `NavigableCanvas` follows the mouse and the keyboard.

    Parameters
    ----------
    viewport : Viewport
        What is seen; the canvas tells it its size while it is visible.
    """

    def __init__(self, viewport: Viewport) -> None:
        super().__init__()
        self.viewport = viewport
        self.content = Content()  #: What is drawn.
        self._marker: tuple[int, int] | None = None
        self._brush: tuple[int, QBrush] | None = None
        viewport.changed.connect(self.update)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(96, 96)

    @property
    def has_picture(self) -> bool:
        """Whether there is a picture to show."""
        return self.content.pyramid is not None

    def set_content(self, content: Content) -> None:
        """Change what is drawn."""
        if content == self.content:
            return
        self.content = content
        if content.pyramid is not None:
            self.viewport.set_picture_size(content.pyramid.width, content.pyramid.height)
        self.update()

    def set_marker(self, pixel: tuple[int, int] | None) -> None:
        """Mark a pixel (row, column), such as the one under the pointer in another canvas."""
        if pixel != self._marker:
            self._update_marker()
            self._marker = pixel
            self._update_marker()

    def update_pixels(self, rect: Rect) -> None:
        """Draw some pixels again."""
        self.update(self.logical(self.geometry_of_picture().rect(rect)))

    def geometry_of_picture(self) -> Geometry:
        """Return where the picture is, in screen pixels."""
        left, top = self.viewport.origin(self.device_size())
        width, height = self.viewport.picture_size
        return Geometry(left, top, self.viewport.zoom, int(width), int(height))

    def device_size(self) -> tuple[float, float]:
        """Return width and height in screen pixels."""
        ratio = self.devicePixelRatioF()
        return self.width() * ratio, self.height() * ratio

    def logical(self, rect: QRectF) -> QRect:
        """Return the part of the widget that holds a rectangle of screen pixels, and a little more."""
        ratio = self.devicePixelRatioF()
        scaled = QRectF(rect.x() / ratio, rect.y() / ratio, rect.width() / ratio, rect.height() / ratio)
        return scaled.toAlignedRect().adjusted(-2, -2, 2, 2).intersected(self.rect())

    def place_at(self, position: QPointF) -> tuple[float, float]:
        """Return the place (x, y) of the picture at a position of the widget."""
        ratio = self.devicePixelRatioF()
        return self.viewport.to_picture(position.x() * ratio, position.y() * ratio, self.device_size())

    def pixel_at(self, position: QPointF) -> tuple[int, int] | None:
        """Return row and column of the pixel at a position of the widget; None beside the picture."""
        x, y = self.place_at(position)
        width, height = self.viewport.picture_size
        if self.content.pyramid is None or not (0 <= x < width and 0 <= y < height):
            return None
        return int(y), int(x)

    def sizeHint(self) -> QSize:
        """Return a size at which pictures are recognizable."""
        return QSize(480, 360)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what is exposed."""
        painter = QPainter(self)
        colors = colors_of(self.palette())
        if self.content.pyramid is None:
            painter.fillRect(event.rect(), colors.surround)
            self._draw_placeholder(painter, colors)
            self._draw_focus(painter, colors)
            return
        ratio = self.devicePixelRatioF()
        exposed = event.rect()
        area = QRectF(
            exposed.x() * ratio, exposed.y() * ratio, exposed.width() * ratio, exposed.height() * ratio
        ).toAlignedRect()
        painter.scale(1 / ratio, 1 / ratio)
        geometry = self.geometry_of_picture()
        painter.setClipRegion(QRegion(area).subtracted(QRegion(geometry.exposed(area))))
        painter.fillRect(area, colors.surround)
        painter.setClipRect(area)
        self.draw_pictures(painter, geometry, area)
        self.draw_marks(painter, geometry, area, colors)
        painter.resetTransform()
        self._draw_focus(painter, colors)

    def draw_pictures(self, painter: QPainter, geometry: Geometry, area: QRect) -> None:
        """Draw the pixels."""
        if self.content.pyramid is not None:
            draw_pyramid(painter, self.content.pyramid, geometry, area)

    def draw_marks(self, painter: QPainter, geometry: Geometry, area: QRect, colors: Colors) -> None:
        """Draw what lies on the pixels."""
        mask, highlight, inset = self.content.mask, self.content.highlight, self.content.inset
        if mask is not None and highlight is None and self._fits(mask):
            draw_hatching(painter, mask, geometry, area, self._stripes())
        if inset is not None:
            pyramid, rect = inset
            frame = geometry.rect(rect)
            inner = Geometry(frame.x(), frame.y(), geometry.zoom, rect.width, rect.height)
            draw_pyramid(painter, pyramid, inner, area)
            self._draw_frame(painter, frame)
        if highlight is not None and self._fits(highlight):
            draw_dimming(painter, highlight, geometry, area, DIMMING)
            draw_outlines(painter, highlight, geometry, area, OUTLINE)
        if self._marker is not None:
            self._draw_marker(painter, geometry)

    def event(self, event: QEvent) -> bool:
        """Tell the viewport when the window has moved to a display of another pixel density."""
        if event.type() == QEvent.Type.DevicePixelRatioChange and self.isVisible():
            self.viewport.set_pane_size(id(self), *self.device_size())
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tell the viewport the new size."""
        if self.isVisible():
            self.viewport.set_pane_size(id(self), *self.device_size())
        super().resizeEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Count among the panes of the viewport."""
        self.viewport.set_pane_size(id(self), *self.device_size())
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop counting among the panes of the viewport."""
        self.viewport.remove_pane(id(self))
        super().hideEvent(event)

    def _stripes(self) -> QBrush:
        period = 2 * round(_STRIPE * self.devicePixelRatioF() / 2)
        if self._brush is None or self._brush[0] != period:
            self._brush = period, striped(STRIPES, period)
        return self._brush[1]

    def _fits(self, mask: MaskPyramid) -> bool:
        width, height = self.viewport.picture_size
        return mask.shape == (height, width)

    def _draw_placeholder(self, painter: QPainter, colors: Colors) -> None:
        painter.setPen(colors.soft_text)
        area = self.rect().adjusted(24, 12, -24, -12)
        centered = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(area, centered, self.content.placeholder)

    def _draw_focus(self, painter: QPainter, colors: Colors) -> None:
        """Draw a frame while the canvas has the keyboard focus, set off from the picture by a line."""
        if self.hasFocus() and self.window().testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for color, width in ((colors.surround, 4), (colors.focus, 2)):
                painter.setPen(QPen(color, width))
                inset = width / 2
                painter.drawRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset))

    def _draw_frame(self, painter: QPainter, frame: QRectF) -> None:
        """Draw a dashed frame in black and white, visible on every picture."""
        ratio = self.devicePixelRatioF()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(Qt.GlobalColor.black, 2 * ratio))
        painter.drawRect(frame)
        painter.setPen(QPen(Qt.GlobalColor.white, 2 * ratio, Qt.PenStyle.DashLine))
        painter.drawRect(frame)

    def _marker_center(self, geometry: Geometry, pixel: tuple[int, int]) -> QPointF:
        return geometry.rect(Rect(*pixel, 1, 1)).center()

    def _draw_marker(self, painter: QPainter, geometry: Geometry) -> None:
        assert self._marker is not None
        center = self._marker_center(geometry, self._marker)
        ratio = self.devicePixelRatioF()
        near, far = 3 * ratio, _MARKER * ratio
        for color, width in ((Qt.GlobalColor.black, 3), (Qt.GlobalColor.white, 1)):
            painter.setPen(QPen(color, width * ratio))
            for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                painter.drawLine(center + QPointF(x, y) * near, center + QPointF(x, y) * far)

    def _update_marker(self) -> None:
        if self._marker is not None:
            center = self._marker_center(self.geometry_of_picture(), self._marker)
            reach = (_MARKER + 3) * self.devicePixelRatioF()
            corner = QPointF(reach, reach)
            self.update(self.logical(QRectF(center - corner, center + corner)))
