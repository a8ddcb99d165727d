"""Mark pixels by a click on one of them."""

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


class Eyedropper(Tool):
    """Takes the marking color from the picture; pixels that are nearly of that color are missing too."""

    name = "eyedropper"
    text, tip = "Marking C&olor", "Click a color: all pixels like it are missing."
    icon, key = "eyedropper", "O"

    def press(self, place: Place) -> None:
        """Take the color of a pixel."""
        self.session.opening.mark_color_of(floor(place.row), floor(place.column))
