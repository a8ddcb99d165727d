"""A picture that is looked at, worked on with a tool, and perhaps compared with another one."""

from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter

from inpaint_app.window.canvas.divider import Divider
from inpaint_app.window.canvas.layers import Geometry, draw_pyramid
from inpaint_app.window.canvas.navigation import Navigation
from inpaint_app.window.canvas.surface import Surface
from inpaint_app.window.canvas.tool_use import ToolUse
from inpaint_app.window.canvas.tools.tool import Tool
from inpaint_app.window.canvas.viewport import Viewport


class Canvas(Surface):
    """Shows a picture, or two with a divider between them."""

    def __init__(self, viewport: Viewport, *, is_split: bool = False) -> None:
        super().__init__(viewport)
        navigation = Navigation(self)
        self._tool_use = ToolUse(self, navigation, self._step_aside)
        self.divider = Divider(self) if is_split else None  #: None for one picture.
        self.set_parts(*filter(None, (self.divider, self._tool_use, navigation)))

    def set_tool(self, tool: Tool | None) -> None:
        """Choose what the left button does; what is being drawn ends."""
        self._tool_use.set_tool(tool)

    def marked_area(self, area: QRect) -> QRect:
        """Return the part of an area where missing pixels are hatched: the first of two pictures."""
        return area if self.divider is None or self.divider.is_aside else self.divider.sides(area)[0]

    def draw_pictures(self, painter: QPainter, geometry: Geometry, area: QRect) -> None:
        """Draw each picture on its side."""
        first, second = (area, QRect()) if self.divider is None else self.divider.sides(area)
        super().draw_pictures(painter, geometry, first)
        if self.content.after is not None:
            draw_pyramid(painter, self.content.after, geometry, second)

    def _step_aside(self) -> None:
        if self.divider is not None:
            self.divider.step_aside()
