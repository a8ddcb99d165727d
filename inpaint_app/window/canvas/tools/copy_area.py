"""Draw around what may be copied into wide holes."""

from PySide6.QtGui import QPainterPath

from inpaint_app.window.canvas.tools.lasso import Lasso, pixels_inside
from inpaint_app.window.canvas.tools.tool import Place


class CopyArea(Lasso):
    """Fills wide holes from what lies inside lines drawn by hand; the right button keeps them from it."""

    name = "copy_area"
    text = "Clo&ne from Here"
    tip = "Draw around what may fill wide holes; with the right button, what may not. A click forgets both."
    icon, key = "copy", "C"
    panes = ("damaged", "restored", "split")

    def release(self) -> None:
        """Close the line; one without an area forgets all lines."""
        self.is_active = False
        source, sources = self.session.state.source, self.session.filling
        assert source is not None, "there is a picture to draw on"
        rect, inside = pixels_inside(self._path, source.shape)
        if rect.is_empty or not inside.any():
            sources.clear()
        else:
            sources.add(rect, inside, may_be_copied=not self.is_reversed)

    def outline(self, pointer: Place | None) -> QPainterPath | None:
        """Return the line, closed; the last one until there is another."""
        path = QPainterPath(self._path)
        path.closeSubpath()
        return path if self.is_active or self.session.state.hole_fill is not None else None
