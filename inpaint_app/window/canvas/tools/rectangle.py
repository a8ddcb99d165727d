"""Mark a rectangle as missing."""

from math import ceil, floor

from PySide6.QtGui import QPainterPath

from inpaint_app.model.rect import Rect
from inpaint_app.window.canvas.tools.tool import Place, Tool


class Rectangle(Tool):
    """Fills the rectangle between two corners, with all pixels that it touches."""

    name = "rectangle"
    is_smooth = False
    _corners = Place(0, 0), Place(0, 0)

    def press(self, place: Place) -> None:
        """Set the first corner."""
        self.is_active, self._corners = True, (place, place)

    def move(self, place: Place) -> None:
        """Move the second corner."""
        self._corners = self._corners[0], place

    def release(self) -> None:
        """Fill the rectangle."""
        self.is_active = False
        rect = self._rect()
        if not rect.is_empty:
            self.session.masking.fill(rect)

    def outline(self, pointer: Place | None) -> QPainterPath | None:
        """Return the rectangle."""
        if not self.is_active:
            return None
        path, rect = QPainterPath(), self._rect()
        path.addRect(rect.column, rect.row, rect.width, rect.height)
        return path

    def _rect(self) -> Rect:
        assert self.session.state.source is not None, "there is a picture to draw on"
        top, bottom = sorted(corner.row for corner in self._corners)
        left, right = sorted(corner.column for corner in self._corners)
        row, column = floor(top), floor(left)
        rect = Rect(row, column, ceil(bottom) - row, ceil(right) - column)
        return rect.clipped(self.session.state.source.shape)
