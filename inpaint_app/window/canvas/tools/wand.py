"""Mark pixels by a click on one of them."""

from math import floor

from inpaint_app.window.canvas.tools.tool import Place, Tool


class Wand(Tool):
    """A click marks the pixels around it that look alike; the right button unmarks them."""

    name = "wand"
    uses_right_button = True

    def press(self, place: Place) -> None:
        """Mark what looks like the pixel under the pointer."""
        row, column = floor(place.row), floor(place.column)
        self.session.masking.mark_similar(row, column, missing=not self.is_reversed)


class Eyedropper(Tool):
    """Takes the marking color from the picture; pixels that are nearly of that color are missing too."""

    name = "eyedropper"

    def press(self, place: Place) -> None:
        """Take the color of a pixel."""
        self.session.opening.mark_color_of(floor(place.row), floor(place.column))
