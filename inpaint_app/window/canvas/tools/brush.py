"""Paint missing pixels."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath

from inpaint_app.window.canvas.tools.tool import Place, Tool


class Brush(Tool):
    """Paints strokes into the mask; one stroke is one step of undo."""

    name = "brush"
    text, tip = "&Brush", "Paint missing pixels."
    icon, key = "brush", "P"
    marks_missing: ClassVar[bool] = True

    def press(self, place: Place) -> None:
        """Put the brush down."""
        self.is_active = True
        diameter = self.session.view.brush_diameter
        self.session.edit_mask(
            lambda mask: mask.begin_stroke(*place, diameter=diameter, missing=self.marks_missing), ends=False
        )

    def move(self, place: Place) -> None:
        """Draw a straight line to a place."""
        self.session.edit_mask(lambda mask: mask.extend_stroke(*place), ends=False)

    def release(self) -> None:
        """Lift the brush."""
        self.is_active = False
        self.session.edit_mask(lambda mask: mask.end_stroke())

    def cancel(self) -> None:
        """Undo the stroke."""
        self.is_active = False
        self.session.edit_mask(lambda mask: mask.cancel_stroke(), ends=False)

    def outline(self, pointer: Place | None) -> QPainterPath | None:
        """Return a ring as wide as the brush."""
        if pointer is None:
            return None
        path, radius = QPainterPath(), self.session.view.brush_diameter / 2
        path.addEllipse(QPointF(pointer.column, pointer.row), radius, radius)
        return path
