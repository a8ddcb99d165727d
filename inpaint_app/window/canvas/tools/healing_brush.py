"""Paint over damage, and have it restored at once."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QPainterPath, QPainterPathStroker, QPolygonF

from inpaint_app.window.canvas.tools.brush import Brush
from inpaint_app.window.canvas.tools.lasso import pixels_inside
from inpaint_app.window.canvas.tools.tool import Place

if TYPE_CHECKING:
    from inpaint_app.window.session import Session

#: Part of the picture that a stroke surrounds at most; one around more of it follows damage along the border.
_MAX_SURROUNDED = 0.25
#: Places of a stroke that its outline is drawn from, at most: Qt takes 2 ms for so many, but 2 s for 1,500.
_MAX_PLACES = 120


class HealingBrush(Brush):
    """A brush whose stroke is restored when the button is released; works on the result too.

    A stroke that ends where it began also covers what it surrounds.
    """

    name = "heal"
    panes = ("damaged", "restored", "split")

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        #: Where the stroke led, while it is painted and until it is healed.
        self._places: list[QPointF] = []
        #: Its outline for so many places and that brush: it is asked for several times with each.
        self._outline: tuple[tuple[int, int], QPainterPath] | None = None

    def press(self, place: Place) -> None:
        """Put the brush down."""
        start = self._last if self.is_straight and self._last is not None else place
        super().press(place)
        self._outline = None
        # A dot has no length, and no outline.
        self._places = [QPointF(start.column, start.row), QPointF(place.column + 0.01, place.row)]

    def move(self, place: Place) -> None:
        """Draw a straight line to a place."""
        super().move(place)
        self._places.append(QPointF(place.column, place.row))

    def release(self) -> None:
        """Lift the brush, and heal."""
        self.is_active = False
        if self._places and self._is_loop():
            assert self.session.state.source is not None, "there is a picture to draw on"
            rect, inside = pixels_inside(_path(self._places), self.session.state.source.shape)
            if not rect.is_empty:
                self.session.masking.fill_stroke(rect, inside)
        self.session.masking.heal_stroke()

    def outline(self, pointer: Place | None) -> QPainterPath | None:
        """Return the stroke while it is painted or healed, and else a ring as wide as the brush."""
        if not self.is_active and (not self.session.healing.task.is_active or not self._places):
            self._places = []
            return super().outline(pointer)
        key = len(self._places), self.session.state.view.brush_diameter
        if self._outline is None or self._outline[0] != key:
            self._outline = key, self._stroke_outline(key[1])
        return self._outline[1]

    def _stroke_outline(self, diameter: int) -> QPainterPath:
        stroker = QPainterPathStroker()
        stroker.setWidth(diameter)
        stroker.setCapStyle(Qt.PenCapStyle.RoundCap)
        stroker.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        path = _path([*self._places[:: 1 + len(self._places) // _MAX_PLACES], self._places[-1]])
        stroke = stroker.createStroke(path).simplified()
        return stroke.united(path) if self._is_loop() else stroke

    def _is_loop(self) -> bool:
        """Return whether the stroke ends where it began, with something between."""
        source, diameter = self.session.state.source, self.session.state.view.brush_diameter
        bounds = QPolygonF(self._places).boundingRect()
        gap = QLineF(self._places[0], self._places[-1]).length()
        if source is None or gap > diameter or min(bounds.width(), bounds.height()) <= diameter:
            return False
        height, width = source.shape[:2]
        return bounds.width() * bounds.height() <= _MAX_SURROUNDED * height * width


def _path(places: list[QPointF]) -> QPainterPath:
    path = QPainterPath()
    path.addPolygon(QPolygonF(places))
    return path
