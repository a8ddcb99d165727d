"""A picture, its missing pixels and other marks, drawn through a viewport."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QHideEvent, QPainter, QPaintEvent, QPen, QRegion, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from inpaint_app.image.missing import Mask
from inpaint_app.image.picture import Array
from inpaint_app.image.rect import Rect
from inpaint_app.window.canvas.image_pyramid import ImagePyramid, Range, build_pyramid
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
from inpaint_app.window.theme.colors import Colors, colors_of

_STRIPE = 10
_MARKER = 9


class PictureCanvas(QWidget):
    """Shows a picture through a viewport that other canvases may share.

    It only draws; `NavigableCanvas` follows the mouse and the keyboard.

    Parameters
    ----------
    viewport : Viewport
        What is seen; the canvas tells it its size while it is visible.
    parent : QWidget, optional
    """

    def __init__(self, viewport: Viewport, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._viewport = viewport
        self._levels: ImagePyramid | None = None
        self._coverage: MaskPyramid | None = None
        self._mask_shown = True
        self._highlight: MaskPyramid | None = None
        self._marker: tuple[int, int] | None = None
        self._inset: tuple[ImagePyramid, Rect] | None = None
        self._placeholder = ""
        self._brush: tuple[tuple[Colors, int], QBrush] | None = None
        viewport.changed.connect(self._on_viewport_changed)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(96, 96)

    @property
    def viewport(self) -> Viewport:
        """What is seen."""
        return self._viewport

    @property
    def has_picture(self) -> bool:
        """Whether there is something to show."""
        return self._levels is not None

    def set_image(self, pixels: Array | None, value_range: Range | None = None) -> None:
        """Show an array of pixels, (H, W) or (H, W, 3); for large ones prefer `set_levels`."""
        self.set_levels(None if pixels is None else build_pyramid(pixels, value_range))

    def set_levels(self, levels: ImagePyramid | None) -> None:
        """Show a picture that `build_pyramid` has made ready, perhaps in another thread; None for none."""
        self._levels = levels
        if levels is not None:
            self._viewport.set_picture_size(levels.width, levels.height)
        self.update()

    def set_inset(self, levels: ImagePyramid | None, rect: Rect | None = None) -> None:
        """Show other pixels within a rectangle, framed; None for none.

        Parameters
        ----------
        levels : ImagePyramid or None
            As large as the rectangle.
        rect : Rect, optional
            Where they belong.
        """
        self._inset = None if levels is None or rect is None else (levels, rect)
        self.update()

    def set_placeholder(self, text: str) -> None:
        """Say in words why there is no picture, while there is none."""
        if text != self._placeholder:
            self._placeholder = text
            self.update()

    def set_mask(self, mask: Mask | None, dirty: Rect | None = None) -> None:
        """Hatch the missing pixels.

        Parameters
        ----------
        mask : ndarray of bool, (H, W) or (H, W, C), or None
            True = missing.
        dirty : Rect, optional
            Nothing outside of it has changed since the last call. Without it everything may have, which
            takes a while in large pictures.
        """
        coverage = self._coverage
        if mask is not None and dirty is not None and coverage and coverage.shape == mask.shape[:2]:
            was_dense = coverage.is_dense
            coverage.update(mask, dirty)
            if coverage.is_dense == was_dense:
                self.update_pixels(dirty)
            else:
                self.update()
        else:
            self.set_coverage(None if mask is None else MaskPyramid(mask))

    def set_coverage(self, coverage: MaskPyramid | None) -> None:
        """Hatch the missing pixels of a mask made ready, perhaps in another thread; None for none.

        Several canvases may share one; after its `update`, call `update_pixels` on each.
        """
        self._coverage = coverage
        self.update()

    def show_mask(self, shown: bool) -> None:
        """Draw the hatching, or do not."""
        self._mask_shown = shown
        self.update()

    def set_highlights(self, lit: MaskPyramid | None) -> None:
        """Light up a part of the picture by darkening everything else; None ends it.

        Missing pixels are not hatched meanwhile: both would hide what is lit.
        """
        self._highlight = lit
        self.update()

    def set_marker(self, pixel: tuple[int, int] | None) -> None:
        """Mark a pixel (row, column), such as the one under the pointer in another canvas."""
        if pixel != self._marker:
            self._update_marker()
            self._marker = pixel
            self._update_marker()

    def update_pixels(self, rect: Rect) -> None:
        """Draw some pixels anew."""
        self.update(self.logical(self.geometry_of_picture().rect(rect)))

    def geometry_of_picture(self) -> Geometry:
        """Return where the picture is, in screen pixels."""
        left, top = self._viewport.origin(self.device_size())
        width, height = self._viewport.picture_size
        return Geometry(left, top, self._viewport.zoom, int(width), int(height))

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
        return self._viewport.to_picture(position.x() * ratio, position.y() * ratio, self.device_size())

    def position_of(self, x: float, y: float) -> QPointF:
        """Return the position of the widget at a place (x, y) of the picture."""
        ratio = self.devicePixelRatioF()
        across, down = self._viewport.to_pane(x, y, self.device_size())
        return QPointF(across / ratio, down / ratio)

    def pixel_at(self, position: QPointF) -> tuple[int, int] | None:
        """Return row and column of the pixel at a position of the widget; None beside the picture."""
        x, y = self.place_at(position)
        width, height = self._viewport.picture_size
        if self._levels is None or not (0 <= x < width and 0 <= y < height):
            return None
        return int(y), int(x)

    def sizeHint(self) -> QSize:
        """Return a size that shows something."""
        return QSize(480, 360)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what is exposed."""
        painter = QPainter(self)
        colors = colors_of(self.palette())
        if self._levels is None:
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
        if self._levels is not None:
            draw_pyramid(painter, self._levels, geometry, area)

    def draw_marks(self, painter: QPainter, geometry: Geometry, area: QRect, colors: Colors) -> None:
        """Draw what lies on the pixels."""
        is_hatched = self._mask_shown and self._highlight is None
        if self._coverage is not None and is_hatched and self._fits(self._coverage):
            draw_hatching(painter, self._coverage, geometry, area, self._stripes(colors))
        if self._inset is not None:
            levels, rect = self._inset
            frame = geometry.rect(rect)
            inner = Geometry(frame.x(), frame.y(), geometry.zoom, rect.width, rect.height)
            draw_pyramid(painter, levels, inner, area)
            self._draw_frame(painter, frame)
        if self._highlight is not None and self._fits(self._highlight):
            draw_dimming(painter, self._highlight, geometry, area, colors.veil)
            draw_outlines(painter, self._highlight, geometry, area, colors.outline)
        if self._marker is not None:
            self._draw_marker(painter, geometry)

    def event(self, event: QEvent) -> bool:
        """Tell the viewport also when the window has moved to a display with other dots."""
        if event.type() == QEvent.Type.DevicePixelRatioChange and self.isVisible():
            self._viewport.set_pane_size(id(self), *self.device_size())
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tell the viewport."""
        if self.isVisible():
            self._viewport.set_pane_size(id(self), *self.device_size())
        super().resizeEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Count among the panes of the viewport."""
        self._viewport.set_pane_size(id(self), *self.device_size())
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Count no more."""
        self._viewport.remove_pane(id(self))
        super().hideEvent(event)

    def _on_viewport_changed(self) -> None:
        self.update()

    def _stripes(self, colors: Colors) -> QBrush:
        period = 2 * round(_STRIPE * self.devicePixelRatioF() / 2)
        if self._brush is None or self._brush[0] != (colors, period):
            self._brush = (colors, period), striped(colors.stripes, period)
        return self._brush[1]

    def _fits(self, coverage: MaskPyramid) -> bool:
        width, height = self._viewport.picture_size
        return coverage.shape == (height, width)

    def _draw_placeholder(self, painter: QPainter, colors: Colors) -> None:
        painter.setPen(colors.soft_text)
        area = self.rect().adjusted(24, 12, -24, -12)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._placeholder)

    def _draw_focus(self, painter: QPainter, colors: Colors) -> None:
        """Draw a frame while the keys go here, set off from the picture by a line of the surround."""
        if self.hasFocus() and self.window().testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for color, width in ((colors.surround, 4), (colors.focus, 2)):
                painter.setPen(QPen(color, width))
                inset = width / 2
                painter.drawRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset))

    def _draw_frame(self, painter: QPainter, frame: QRectF) -> None:
        """Draw a dashed frame in black and white, so that it is seen on every picture."""
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
