"""A tool works on a picture."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPen, QTabletEvent, QTransform

from inpaint_app.window.canvas.layers import Geometry
from inpaint_app.window.canvas.navigation import Navigation
from inpaint_app.window.canvas.part import CanvasPart
from inpaint_app.window.canvas.surface import Surface
from inpaint_app.window.canvas.tools.tool import Place, Tool

#: Outlines of fewer screen pixels would hide what they surround.
_MIN_OUTLINE = 5.0
#: Some desktops keep Alt+click to themselves.
_PICKING = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ControlModifier
#: How far the pointer may miss a thing, in screen pixels, and in pixels of the picture at least.
_REACH, _MIN_REACH = 8.0, 4


class ToolUse(CanvasPart):
    """Hands the left button to a tool, unless Space is held; without a tool, it is left to other parts.

    `begins` is called before a tool does something.
    """

    def __init__(self, surface: Surface, navigation: Navigation, begins: Callable[[], None]) -> None:
        super().__init__(surface)
        self._surface, self._navigation, self._begins = surface, navigation, begins
        self._tool: Tool | None = None
        self._pointer: Place | None = None

    def set_tool(self, tool: Tool | None) -> None:
        """Choose what the left button does; what is being drawn ends."""
        self.hide()
        self._tool = tool
        self._surface.update_cursor()
        self._surface.update()

    @property
    def cursor(self) -> Qt.CursorShape | None:
        """The cursor of the tool."""
        return None if self._tool is None else self._tool.cursor

    @property
    def uses_right_button(self) -> bool:  # type: ignore[override]
        """Whether the right button is the tool's."""
        return self._tool is not None and self._tool.uses_right_button

    def draw(self, painter: QPainter, geometry: Geometry) -> None:
        """Draw the outline of the tool in black and white: visible on every picture."""
        outline = self._outline()
        if self._tool is None or outline is None:
            return
        ratio = self._surface.devicePixelRatioF()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, self._tool.is_smooth)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for color, width in ((Qt.GlobalColor.black, 3 * ratio), (Qt.GlobalColor.white, ratio)):
            pen = QPen(color, width)
            pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
            painter.setPen(pen)
            painter.drawPath(outline)
        painter.restore()

    def press(self, event: QMouseEvent) -> bool:
        """Begin to draw."""
        tool = self._tool
        if tool is None or not self._is_for(tool, event) or not self._surface.has_picture:
            return False
        if tool.is_active and not tool.joins_clicks:
            return True
        if tool.picks_source and event.modifiers() & _PICKING:
            with self._redrawing_outline():
                tool.pick_source(self._place(event.position()))
            return True
        if not tool.is_active:
            tool.is_reversed = event.button() == Qt.MouseButton.RightButton
            tool.is_straight = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._begins()
        with self._redrawing_outline():
            self._pointer = self._place(event.position())
            tool.press(self._pointer)
        return True

    def move(self, event: QMouseEvent) -> None:
        """Continue to draw."""
        self._follow(self._place(event.position()))

    def release(self, event: QMouseEvent) -> bool:
        """Finish drawing, if the button is the one that it began with."""
        tool = self._tool
        if tool is None or not tool.is_active:
            return False
        button = Qt.MouseButton.RightButton if tool.is_reversed else Qt.MouseButton.LeftButton
        if event.button() != button:
            return False
        self._follow(self._place(event.position()))
        with self._redrawing_outline():
            tool.release()
        return True

    def double_click(self, event: QMouseEvent) -> bool:
        """Press again or finish, rather than fit the picture, where there is a tool."""
        if self._tool is None or self._navigation.is_space_held:
            return False
        if self._tool.is_active and self._tool.joins_clicks:
            self._finish(self._tool)
            return True
        return self.press(event) or self._navigation.press(event)

    def press_pen(self, event: QTabletEvent) -> None:
        """Note how a pen is pressed; the mouse events that Qt makes of it follow."""
        if self._tool is not None:
            is_over = event.type() == QEvent.Type.TabletRelease
            self._tool.pressure = 1.0 if is_over else event.pressure()

    def override(self, event: QKeyEvent) -> bool:
        """Keep Escape from the shortcuts of the window while something is drawn."""
        return self._is_canceled_by(event)

    def press_key(self, event: QKeyEvent) -> bool:
        """Cancel what is being drawn on Escape; finish it on Return."""
        tool = self._tool
        if tool is not None and self._is_canceled_by(event):
            with self._redrawing_outline():
                tool.cancel()
        elif tool is not None and _is_return(event) and tool.joins_clicks and tool.is_active:
            self._finish(tool)
        else:
            return False
        return True

    def leave(self, _event: QEvent) -> None:
        """Remove the outline that follows the pointer."""
        self._follow(None)

    def hide(self, _event: QEvent | None = None) -> None:
        """Finish drawing if the tool can do so halfway, or else cancel: no release would be seen."""
        if self._tool is not None and self._tool.is_active:
            self._tool.release()
            if self._tool.is_active:
                self._tool.cancel()
            self._surface.update()

    def _is_for(self, tool: Tool, event: QMouseEvent) -> bool:
        """Return whether a button begins something with a tool."""
        if event.button() == Qt.MouseButton.RightButton:
            return tool.uses_right_button
        return event.button() == Qt.MouseButton.LeftButton and not self._navigation.is_space_held

    def _finish(self, tool: Tool) -> None:
        with self._redrawing_outline():
            tool.finish()

    def _is_canceled_by(self, event: QKeyEvent) -> bool:
        return event.key() == Qt.Key.Key_Escape and self._tool is not None and self._tool.is_active

    def _follow(self, pointer: Place | None) -> None:
        with self._redrawing_outline():
            self._pointer = pointer
            if self._tool is not None and self._tool.is_active and pointer is not None:
                self._tool.move(pointer)

    def _place(self, position: QPointF) -> Place:
        x, y = self._surface.place_at(position)
        if self._tool is not None:
            self._tool.reach = max(_MIN_REACH, round(_REACH / self._surface.geometry_of_picture().zoom))
        return Place(y, x)

    def _outline(self) -> QPainterPath | None:
        """Return the outline of the tool in screen pixels; None where there is none to draw."""
        path = None if self._tool is None else self._tool.outline(self._pointer)
        if path is None:
            return None
        picture = self._surface.geometry_of_picture()
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
            self._surface.update(self._surface.logical(outline.boundingRect()))


def _is_return(event: QKeyEvent) -> bool:
    return event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
