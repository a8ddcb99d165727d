"""Mark connected pixels of one color."""

from math import floor

from inpaint_app.window.canvas.tools.tool import Place, Tool


class Wand(Tool):
    """A click marks the pixels around it that look alike; the right button unmarks them."""

    name = "wand"
    text, tip = "Magic &Wand", "Mark the connected pixels of a color as missing."
    icon, key = "wand", "W"
    uses_right_button = True

    def press(self, place: Place) -> None:
        """Mark what looks like the pixel under the pointer."""
        row, column = floor(place.row), floor(place.column)
        self.session.masking.mark_similar(row, column, missing=not self.is_reversed)
