"""Unmark missing pixels."""

from inpaint_app.window.canvas.tools.brush import Brush


class Eraser(Brush):
    """A brush that takes pixels out of the mask."""

    name = "eraser"
    text, tip = "&Eraser", "Unmark missing pixels."
    icon, key = "eraser", "E"
    marks_missing = False
