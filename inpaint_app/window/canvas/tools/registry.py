"""The tools that there are."""

from inpaint_app.window.canvas.tools.brush import Brush
from inpaint_app.window.canvas.tools.copy_area import CopyArea
from inpaint_app.window.canvas.tools.eraser import Eraser
from inpaint_app.window.canvas.tools.eyedropper import Eyedropper
from inpaint_app.window.canvas.tools.found_damage_picker import FoundDamagePicker
from inpaint_app.window.canvas.tools.healing_brush import HealingBrush
from inpaint_app.window.canvas.tools.lasso import Lasso
from inpaint_app.window.canvas.tools.pan import Pan
from inpaint_app.window.canvas.tools.polygon import Polygon
from inpaint_app.window.canvas.tools.rectangle import Rectangle
from inpaint_app.window.canvas.tools.tool import Tool
from inpaint_app.window.canvas.tools.wand import Wand

_ALL = (
    HealingBrush,
    Pan,
    Brush,
    Eraser,
    Rectangle,
    Lasso,
    Polygon,
    Wand,
    Eyedropper,
    FoundDamagePicker,
    CopyArea,
)
#: All tools by name, in the order of the toolbar; menu, toolbar, shortcuts and canvas follow.
TOOLS: dict[str, type[Tool]] = {tool.name: tool for tool in _ALL}
