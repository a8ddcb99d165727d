"""Paint missing pixels, or unmark them."""

from typing import ClassVar

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath

from inpaint_app.window.canvas.tools.tool import Place, Tool


class Brush(Tool):
    """Paints strokes into the mask; one stroke is one step of undo.

    The right button erases. With Shift, a stroke begins where the last one ended: a straight line. It is as
    wide as a pen is pressed hard.
    """

    name = "brush"
    marks_missing: ClassVar[bool] = True
    uses_right_button = True
    #: Where the last stroke ended.
    _last: Place | None = None

    def press(self, place: Place) -> None:
        """Put the brush down."""
        self.is_active = True
        diameter, missing = self._diameter, self.marks_missing != self.is_reversed
        start = self._last if self.is_straight and self._last is not None else place
        self.session.masking.begin_stroke(*start, diameter=diameter, missing=missing)
        if start != place:
            self.session.masking.extend_stroke(*place)
        self._last = place

    def move(self, place: Place) -> None:
        """Draw a straight line to a place."""
        self._last = place
        self.session.masking.extend_stroke(*place, diameter=self._diameter)

    @property
    def _diameter(self) -> int:
        """As wide as the brush, or narrower where a pen is pressed less."""
        return max(1, round(self.session.state.view.brush_diameter * self.pressure))

    def release(self) -> None:
        """Lift the brush."""
        self.is_active = False
        self.session.masking.end_stroke()

    def cancel(self) -> None:
        """Undo the stroke."""
        super().cancel()
        self.session.masking.cancel_stroke()

    def outline(self, pointer: Place | None) -> QPainterPath | None:
        """Return a ring as wide as the brush."""
        if pointer is None:
            return None
        path, radius = QPainterPath(), self.session.state.view.brush_diameter / 2
        path.addEllipse(QPointF(pointer.column, pointer.row), radius, radius)
        return path


class Eraser(Brush):
    """A brush that takes pixels out of the mask."""

    name = "eraser"
    marks_missing = False
