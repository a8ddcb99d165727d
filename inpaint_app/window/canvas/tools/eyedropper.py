"""Mark all pixels of the color under the pointer as missing."""

from math import floor

from inpaint_app.window.canvas.tools.tool import Place, Tool


class Eyedropper(Tool):
    """Takes the marking color from the picture; pixels that are nearly of that color are missing too."""

    name = "eyedropper"
    text, tip = "Marking C&olor", "Click a color: all pixels like it are missing."
    icon, key = "eyedropper", "O"

    def press(self, place: Place) -> None:
        """Take the color of a pixel."""
        self.session.opening.mark_color_of(floor(place.row), floor(place.column))
