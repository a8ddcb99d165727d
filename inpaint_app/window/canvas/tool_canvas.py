"""A picture that a tool works on."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QTabletEvent,
    QTransform,
)

from inpaint_app.window.canvas.layers import Geometry
from inpaint_app.window.canvas.navigable_canvas import NavigableCanvas
from inpaint_app.window.canvas.tools.tool import Place, Tool
from inpaint_app.window.canvas.viewport import Viewport
from inpaint_app.window.theme.colors import Colors
from inpaint_app.window.widgets.keys import overrides_shortcut

#: Outlines of fewer screen pixels would hide what they surround.
_MIN_OUTLINE = 5.0
#: How far the pointer may miss a thing, in screen pixels, and in pixels of the picture at least.
_REACH, _MIN_REACH = 8.0, 4


class ToolCanvas(NavigableCanvas):
    """Hands the left button to a tool; without one, it moves the picture."""

    menu_wanted = Signal(QPoint)
    """The context menu is wanted at a position on the screen."""

    def __init__(self, viewport: Viewport) -> None:
        super().__init__(viewport)
        self._tool: Tool | None = None
        self._pointer: Place | None = None

    def set_tool(self, tool: Tool | None) -> None:
        """Choose what the left button does; what is being drawn ends."""
        self._interrupt()
        self._tool = tool
        self.update_cursor()
        self.update()

    def idle_cursor(self) -> Qt.CursorShape:
        """Return the cursor of the tool."""
        return super().idle_cursor() if self._tool is None else self._tool.cursor

    def draw_marks(self, painter: QPainter, geometry: Geometry, area: QRect, colors: Colors) -> None:
        """Draw the outline of the tool on top, in black and white: visible on every picture."""
        super().draw_marks(painter, geometry, area, colors)
        outline = self._outline()
        if self._tool is None or outline is None:
            return
        ratio = self.devicePixelRatioF()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, self._tool.is_smooth)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for color, width in ((Qt.GlobalColor.black, 3 * ratio), (Qt.GlobalColor.white, ratio)):
            pen = QPen(color, width)
            pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
            painter.setPen(pen)
            painter.drawPath(outline)
        painter.restore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to draw, or to move the picture."""
        if self._tool is None or not self._is_for_tool(event) or not self.has_picture:
            super().mousePressEvent(event)
            return
        if self._tool.is_active and not self._tool.joins_clicks:
            return
        if not self._tool.is_active:
            self._tool.is_reversed = event.button() == Qt.MouseButton.RightButton
            self._tool.is_straight = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        with self._redrawing_outline():
            self._pointer = self._place(event.position())
            self._tool.press(self._pointer)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Continue to draw."""
        self._follow(self._place(event.position()))
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Finish drawing."""
        if self._tool is not None and self._tool.is_active and self._is_for_tool(event, while_active=True):
            self._follow(self._place(event.position()))
            with self._redrawing_outline():
                self._tool.release()
        else:
            super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Press again or finish, rather than fit the picture, where there is a tool."""
        if self._tool is None or self.is_space_held:
            super().mouseDoubleClickEvent(event)
        elif self._tool.is_active and self._tool.joins_clicks:
            self._finish(self._tool)
        else:
            self.mousePressEvent(event)

    def tabletEvent(self, event: QTabletEvent) -> None:
        """Take the pressure of a pen; the mouse events that Qt makes of it follow."""
        if self._tool is not None:
            is_over = event.type() == QEvent.Type.TabletRelease
            self._tool.pressure = 1.0 if is_over else event.pressure()
        event.ignore()

    @property
    def uses_right_button(self) -> bool:
        """Whether the right button does something else than open a menu."""
        return self._tool is not None and self._tool.uses_right_button

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the context menu, by key or by the right button."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard or not self.uses_right_button:
            self.menu_wanted.emit(event.globalPos())
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Keep Escape from the shortcuts of the window while something is drawn."""
        return overrides_shortcut(event, self._is_canceled_by) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Cancel what is being drawn on Escape; finish it on Return."""
        if self._tool is not None and self._is_canceled_by(event):
            with self._redrawing_outline():
                self._tool.cancel()
        elif self._tool is not None and self._is_finished_by(event):
            self._finish(self._tool)
        else:
            super().keyPressEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Remove the outline that follows the pointer."""
        self._follow(None)
        super().leaveEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Finish drawing: the release of the button would not be seen."""
        self._interrupt()
        super().hideEvent(event)

    def _is_for_tool(self, event: QMouseEvent, *, while_active: bool = False) -> bool:
        """Return whether a button is one of the tool; while it is active, only that which it began with."""
        assert self._tool is not None
        is_right = event.button() == Qt.MouseButton.RightButton
        if while_active:
            return is_right == self._tool.is_reversed and (
                is_right or event.button() == Qt.MouseButton.LeftButton
            )
        if is_right:
            return self._tool.uses_right_button
        return event.button() == Qt.MouseButton.LeftButton and not self.is_space_held

    def _is_finished_by(self, event: QKeyEvent) -> bool:
        is_return = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        return is_return and self._tool is not None and self._tool.joins_clicks and self._tool.is_active

    def _finish(self, tool: Tool) -> None:
        with self._redrawing_outline():
            tool.finish()

    def _is_canceled_by(self, event: QKeyEvent) -> bool:
        return event.key() == Qt.Key.Key_Escape and self._tool is not None and self._tool.is_active

    def _interrupt(self) -> None:
        """Finish drawing if the tool can do so halfway, or else cancel."""
        if self._tool is not None and self._tool.is_active:
            self._tool.release()
            if self._tool.is_active:
                self._tool.cancel()
            self.update()

    def _follow(self, pointer: Place | None) -> None:
        with self._redrawing_outline():
            self._pointer = pointer
            if self._tool is not None and self._tool.is_active and pointer is not None:
                self._tool.move(pointer)

    def _place(self, position: QPointF) -> Place:
        x, y = self.place_at(position)
        if self._tool is not None:
            self._tool.reach = max(_MIN_REACH, round(_REACH / self.geometry_of_picture().zoom))
        return Place(y, x)

    def _outline(self) -> QPainterPath | None:
        """Return the outline of the tool in screen pixels; None where there is none to draw."""
        path = None if self._tool is None else self._tool.outline(self._pointer)
        if path is None:
            return None
        picture = self.geometry_of_picture()
        to_screen = QTransform.fromTranslate(picture.left, picture.top).scale(picture.zoom, picture.zoom)
        path = to_screen.map(path)
        bounds = path.boundingRect()
        return None if max(bounds.width(), bounds.height()) < _MIN_OUTLINE else path

    @contextmanager
    def _redrawing_outline(self) -> Iterator[None]:
        """Draw again what the outline covers before and after something."""
        self._update_outline()
        yield
        self._update_outline()

    def _update_outline(self) -> None:
        outline = self._outline()
        if outline is not None:
            self.update(self.logical(outline.boundingRect()))
