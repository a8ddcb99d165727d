"""Mark all pixels of the colour under the pointer as missing."""

from __future__ import annotations

from math import floor

from inpaint_app.window.canvas.tools.tool import Place, Tool


class Eyedropper(Tool):
    """Takes the marking colour from the picture; pixels that are nearly of that colour are missing too."""

    name = "eyedropper"
    text, tip = "Marking C&olour", "Click a colour: all pixels like it are missing."
    icon, key = "eyedropper", "O"

    def press(self, place: Place) -> None:
        """Take the colour of a pixel."""
        self.session.mask_edits.mark_color_of(floor(place.row), floor(place.column))
