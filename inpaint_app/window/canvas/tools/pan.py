"""Move the picture."""

from inpaint_app.window.canvas.tools.tool import Tool


class Pan(Tool):
    """Leaves the left button to the canvas, which moves the picture wherever no tool works."""

    name = "pan"
    text, tip = "&Pan", "Drag to move the picture."
    icon, key = "hand", "V"
    panes = ()
