"""Mark all pixels of the colour under the pointer as missing."""

from __future__ import annotations

from math import floor

from inpaint_app.image.mask_spec import MaskSpec
from inpaint_app.image.missing import color_at
from inpaint_app.window.canvas.tools.tool import Place, Tool


class Eyedropper(Tool):
    """Takes the marking colour from the picture; pixels that are nearly of that colour are missing too."""

    name = "eyedropper"
    text, tip = "Marking C&olour", "Click a colour: all pixels like it are missing."
    icon, key = "eyedropper", "O"

    def press(self, place: Place) -> None:
        """Take the colour of a pixel."""
        source, row, column = self.session.source, floor(place.row), floor(place.column)
        if source is not None and 0 <= row < source.shape[0] and 0 <= column < source.shape[1]:
            key, tolerance = color_at(source.picture, row, column)
            self.session.set_mask_spec(MaskSpec(key=key, tolerance=tolerance))
