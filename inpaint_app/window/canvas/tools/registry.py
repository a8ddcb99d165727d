"""The tools that there are."""

from inpaint_app.window.canvas.tools.areas import (
    CopyArea,
    Eyedropper,
    Lasso,
    MeasuredRegion,
    ObjectOutline,
    Polygon,
    Rectangle,
    Wand,
)
from inpaint_app.window.canvas.tools.brushes import Brush, CloneStamp, Eraser, HealingBrush
from inpaint_app.window.canvas.tools.found_damage_picker import FoundDamagePicker
from inpaint_app.window.canvas.tools.tool import Pan, Tool

_ALL = (
    HealingBrush,
    CloneStamp,
    Pan,
    Brush,
    Eraser,
    Rectangle,
    Lasso,
    Polygon,
    ObjectOutline,
    Wand,
    Eyedropper,
    FoundDamagePicker,
    CopyArea,
    MeasuredRegion,
)
#: All tools by name, in the order of the toolbar; menu, toolbar, shortcuts and canvas follow.
TOOLS: dict[str, type[Tool]] = {tool.name: tool for tool in _ALL}
