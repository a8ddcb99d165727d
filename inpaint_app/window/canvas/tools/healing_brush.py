"""Paint over damage, and have it restored at once."""

from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QPainterPath, QPainterPathStroker

from inpaint_app.window.canvas.tools.brush import Brush
from inpaint_app.window.canvas.tools.lasso import pixels_inside
from inpaint_app.window.canvas.tools.tool import Place

#: Part of the picture that a stroke surrounds at most; one around more of it follows damage along the border.
_MAX_SURROUNDED = 0.25


class HealingBrush(Brush):
    """A brush whose stroke is restored when the button is released; works on the result too.

    A stroke that ends where it began also covers what it surrounds.
    """

    name = "heal"
    text, tip = "&Healing Brush", "Paint over damage, or once around it: it is restored when you let go."
    icon, key = "heal", "H"
    panes = ("damaged", "restored", "split")
    #: The stroke as it is painted, and until it is healed.
    _path = QPainterPath()

    def press(self, place: Place) -> None:
        """Put the brush down."""
        start = self._last if self.is_straight and self._last is not None else place
        super().press(place)
        self._path = QPainterPath(QPointF(start.column, start.row))
        self._path.lineTo(place.column + 0.01, place.row)  # a dot has no length, and no outline

    def move(self, place: Place) -> None:
        """Draw a straight line to a place."""
        super().move(place)
        self._path.lineTo(place.column, place.row)

    def release(self) -> None:
        """Lift the brush, and heal."""
        self.is_active = False
        if self._is_loop():
            assert self.session.source is not None, "there is a picture to draw on"
            rect, inside = pixels_inside(self._path, self.session.source.shape)
            if not rect.is_empty:
                self.session.edit_mask(lambda mask: mask.fill_stroke(rect, inside), ends=False)
        self.session.heal_stroke()

    def outline(self, pointer: Place | None) -> QPainterPath | None:
        """Return the stroke while it is painted or healed, and else a ring as wide as the brush."""
        if not self.is_active and (not self.session.healer.task.is_active or self._path.isEmpty()):
            self._path = QPainterPath()
            return super().outline(pointer)
        stroker = QPainterPathStroker()
        stroker.setWidth(self.session.view.brush_diameter)
        stroker.setCapStyle(Qt.PenCapStyle.RoundCap)
        stroker.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        stroke = stroker.createStroke(self._path).simplified()
        return stroke.united(self._path) if self._is_loop() else stroke

    def _is_loop(self) -> bool:
        """Return whether the stroke ends where it began, with something between."""
        source, diameter = self.session.source, self.session.view.brush_diameter
        bounds, start = self._path.boundingRect(), self._path.pointAtPercent(0)
        gap = QLineF(start, self._path.currentPosition()).length()
        if source is None or gap > diameter or min(bounds.width(), bounds.height()) <= diameter:
            return False
        height, width = source.shape[:2]
        return bounds.width() * bounds.height() <= _MAX_SURROUNDED * height * width
