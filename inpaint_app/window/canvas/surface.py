"""A picture, its missing pixels and other marks, drawn through a viewport; parts answer to the user."""

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QContextMenuEvent,
    QEnterEvent,
    QFocusEvent,
    QHideEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QRegion,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QWidget

from inpaint_app.model.picture import Rect
from inpaint_app.window.canvas.layers import (
    Content,
    Geometry,
    draw_dimming,
    draw_hatching,
    draw_outlines,
    draw_pyramid,
    draw_scale,
    striped,
)
from inpaint_app.window.canvas.mask_pyramid import MaskPyramid
from inpaint_app.window.canvas.part import CanvasPart
from inpaint_app.window.canvas.viewport import Viewport
from inpaint_app.window.theme.colors import (
    DIMMING,
    MARKS,
    OUTLINE,
    Colors,
    Looks,
    colors_of,
    contrasting,
    stripes,
)

_STRIPE = 10
_MARKER = 9
#: A window that comes to the front, or a menu that closes, leaves the focus where it was.
_GIVEN_BACK = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)


class Surface(QWidget):
    """Shows a picture through a viewport that other canvases may share.

    It only draws; its parts answer to what the user does.

    Parameters
    ----------
    viewport : Viewport
        What is seen; the canvas tells it its size while it is visible.
    """

    hovered = Signal(int, int)
    """Row and column of the pixel under the pointer."""
    hover_left = Signal()
    """The pointer has left the picture."""
    menu_wanted = Signal(QPoint)
    """The context menu is wanted at a position on the screen."""
    panels_wanted = Signal()
    """The panels around are to be hidden, or shown again."""

    def __init__(self, viewport: Viewport) -> None:
        super().__init__()
        self.viewport = viewport
        self.parts: tuple[CanvasPart, ...] = ()
        self.content = Content()  #: What is drawn.
        self._marker: tuple[int, int] | None = None
        self._looks, self._mark_color = Looks(), MARKS["magenta"]
        self._brush: tuple[int, QBrush] | None = None
        self._is_under_mouse = False
        viewport.changed.connect(self.update)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(96, 96)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def set_parts(self, *parts: CanvasPart) -> None:
        """Let parts answer to what the user does, in this order; they are drawn in the other."""
        self.parts = parts
        for part in reversed(parts):  # Qt asks the last one first
            self.installEventFilter(part)

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

    def set_looks(self, looks: Looks, mark_color: str) -> None:
        """Change the gray around the picture, and the marks, whose color is for users who chose none."""
        if (looks, mark_color) != (self._looks, self._mark_color):
            self._looks, self._mark_color, self._brush = looks, mark_color, None
            self.update()

    def _surround(self, colors: Colors) -> QColor:
        gray = self._looks.gray
        return colors.surround if gray is None else QColor(gray, gray, gray)

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
            painter.fillRect(event.rect(), self._surround(colors))
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
        painter.fillRect(area, self._surround(colors))
        painter.setClipRect(area)
        self.draw_pictures(painter, geometry, area)
        self._draw_marks(painter, geometry, self.marked_area(area))
        for part in reversed(self.parts):
            part.draw(painter, geometry)
        painter.resetTransform()
        if self.content.scale is not None:
            draw_scale(painter, self.content.scale, self.height())
        self._draw_focus(painter, colors)

    def draw_pictures(self, painter: QPainter, geometry: Geometry, area: QRect) -> None:
        """Draw the pixels."""
        if self.content.pyramid is not None:
            draw_pyramid(painter, self.content.pyramid, geometry, area)

    def marked_area(self, area: QRect) -> QRect:
        """Return the part of an area where marks are drawn on the pixels."""
        return area

    def _draw_marks(self, painter: QPainter, geometry: Geometry, area: QRect) -> None:
        """Draw what lies on the pixels."""
        mask, highlight, inset = self.content.mask, self.content.highlight, self.content.inset
        if self.content.detail is not None:
            pyramid, rect = self.content.detail
            frame, zoom = geometry.rect(rect), geometry.zoom * rect.width / pyramid.width
            inner = Geometry(frame.x(), frame.y(), zoom, pyramid.width, pyramid.height)
            draw_pyramid(painter, pyramid, inner, self.marked_area(area))
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

    # What the user does

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the context menu, by key or by the right button."""
        is_by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        if is_by_key or not any(part.uses_right_button for part in self.parts):
            self.menu_wanted.emit(event.globalPos())
        event.accept()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Take the keyboard focus, unless text is being typed."""
        writing = isinstance(QApplication.focusWidget(), QLineEdit | QAbstractSpinBox)
        if not writing and self.window().isActiveWindow():
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            self._is_under_mouse = True
        super().enterEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Remember whether the mouse led here."""
        if event.reason() not in _GIVEN_BACK:
            self._is_under_mouse = event.reason() == Qt.FocusReason.MouseFocusReason
        super().focusInEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Let Tab hide the panels under the hand of a mouse; whoever comes by Tab goes on by it."""
        if self._is_under_mouse and forward:
            self.panels_wanted.emit()
            return True
        return super().focusNextPrevChild(forward)

    def update_cursor(self) -> None:
        """Show what a press of the left button would do."""
        cursors = (part.cursor for part in (self.parts[-1], *self.parts))
        self.setCursor(next((each for each in cursors if each is not None), Qt.CursorShape.ArrowCursor))

    def event(self, event: QEvent) -> bool:
        """Tell the viewport of a display of another pixel density."""
        if event.type() == QEvent.Type.DevicePixelRatioChange and self.isVisible():
            self.viewport.set_pane_size(id(self), *self.device_size())
        return super().event(event)

    # The viewport

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
            color = self._looks.marks or self._mark_color
            self._brush = period, striped(stripes(color, self._looks.opacity), period)
        return self._brush[1]

    def _fits(self, mask: MaskPyramid) -> bool:
        width, height = self.viewport.picture_size
        return mask.shape == (height, width)

    def _draw_placeholder(self, painter: QPainter, colors: Colors) -> None:
        ground = self._surround(colors)
        painter.setPen(colors.soft_text if ground == colors.surround else contrasting(ground))
        area = self.rect().adjusted(24, 12, -24, -12)
        centered = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(area, centered, self.content.placeholder)

    def _draw_focus(self, painter: QPainter, colors: Colors) -> None:
        """Draw a frame while the canvas has the keyboard focus, set off from the picture by a line."""
        if self.hasFocus() and self.window().testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for color, width in ((self._surround(colors), 4), (colors.focus, 2)):
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
