"""Mark what straight lines surround as missing."""

from PySide6.QtGui import QPainterPath

from inpaint_app.window.canvas.tools.lasso import Lasso
from inpaint_app.window.canvas.tools.tool import Place


class Polygon(Lasso):
    """Marks what lies between corners that are clicked; with the right button, unmarks it."""

    name = "polygon"
    text, tip = "Pol&ygon", "Click corners; a double-click or Return marks what they surround."
    icon, key = "polygon", "G"
    joins_clicks = True

    def press(self, place: Place) -> None:
        """Begin with a corner, or add one."""
        if self.is_active:
            super().move(place)
        else:
            super().press(place)

    def move(self, place: Place) -> None:
        """Leave the corners alone."""

    def release(self) -> None:
        """Wait for the next corner."""

    def finish(self) -> None:
        """Join the last corner with the first, and fill."""
        super().release()

    def outline(self, pointer: Place | None) -> QPainterPath | None:
        """Return the corners with the pointer as the next one."""
        if not self.is_active:
            return None
        path = QPainterPath(self._path)
        if pointer is not None:
            path.lineTo(pointer.column, pointer.row)
        path.closeSubpath()
        return path
