"""The tools that there are."""

from inpaint_app.window.canvas.tools.brush import Brush, Eraser
from inpaint_app.window.canvas.tools.found_damage_picker import FoundDamagePicker
from inpaint_app.window.canvas.tools.healing_brush import CloneStamp, HealingBrush
from inpaint_app.window.canvas.tools.lasso import CopyArea, Lasso, MeasuredRegion, ObjectOutline, Polygon
from inpaint_app.window.canvas.tools.rectangle import Rectangle
from inpaint_app.window.canvas.tools.tool import Pan, Tool
from inpaint_app.window.canvas.tools.wand import Eyedropper, Wand

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
