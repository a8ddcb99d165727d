"""Brushes: paint missing pixels or unmark them, heal at once, copy."""

from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QPainterPath, QPainterPathStroker, QPolygonF

from inpaint_app.engine.copying import CopySource, Offset
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.canvas.tools.tool import Place, Tool, pixels_inside


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


if TYPE_CHECKING:
    from inpaint_app.window.session import Session

#: Part of the picture that a stroke surrounds at most; one around more of it follows damage along the border.
_MAX_SURROUNDED = 0.25
#: Places of a stroke that its outline is drawn from, at most: Qt takes 2 ms for so many, but 2 s for 1,500.
_MAX_PLACES = 120
#: Places of a stroke that are nearer to each other, in diameters of the brush, count as one.
_NEAR = 0.1


class HealingBrush(Brush):
    """A brush whose stroke is restored when the button is released; works on the result too.

    A stroke that ends where it began also covers what it surrounds. If a source was chosen, the texture is
    copied from there, with the tones around the stroke.
    """

    name = "heal"
    panes = ("damaged", "restored", "split")
    picks_source = True
    keeps_tones: ClassVar[bool] = True  #: Whether what it copies gets the tones of where it goes.
    needs_source: ClassVar[bool] = False

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        #: Where the stroke led, while it is painted and until it is healed.
        self._places: list[QPointF] = []
        #: Its outline to that place and with that brush: it is asked for several times with each.
        self._outline: tuple[tuple[QPointF, int], QPainterPath] | None = None
        self._offset: Offset | None = None

    def pick_source(self, place: Place) -> None:
        """Copy from a place."""
        self.session.healing.choose_source(*place)

    def press(self, place: Place) -> None:
        """Put the brush down."""
        session = self.session
        if session.state.copy_source is not None and session.running.is_busy and not self.is_reversed:
            stop = key_hint("stop")
            session.document.notice.emit(f"A run is in progress; let it end, or stop it{stop}, to copy.")
            return
        if self.needs_source and session.state.copy_source is None and not self.is_reversed:
            session.document.notice.emit("Alt+click the place to copy from first.")
            return
        start = self._last if self.is_straight and self._last is not None else place
        self._offset = None if self.is_reversed else session.healing.copy_offset(*start)
        super().press(place)
        self._outline = None
        # A dot has no length, and no outline.
        self._places = [QPointF(start.column, start.row), QPointF(place.column + 0.01, place.row)]

    def move(self, place: Place) -> None:
        """Draw a straight line to a place."""
        super().move(place)
        there = QPointF(place.column, place.row)
        # What lies between is under the brush anyway.
        is_near = QLineF(self._places[-2], there).length() < _NEAR * self.session.state.view.brush_diameter
        self._places[-1:] = [there] if is_near else [self._places[-1], there]

    def release(self) -> None:
        """Lift the brush, and heal."""
        self.is_active = False
        if self._places and self._offset is None and self._is_loop():
            assert self.session.state.source is not None, "there is a picture to draw on"
            rect, inside = pixels_inside(_path(self._places), self.session.state.source.shape)
            if not rect.is_empty:
                self.session.masking.fill_stroke(rect, inside)
        copy = None if self._offset is None else CopySource(self._offset, self.keeps_tones)
        self.session.masking.heal_stroke(copy)

    def outline(self, pointer: Place | None) -> QPainterPath | None:
        """Return the stroke while it is painted or healed, and else a ring; and where it copies from."""
        if not self.is_active and (not self.session.healing.task.is_active or not self._places):
            self._places = []
            path = super().outline(pointer)
        else:
            key = self._places[-1], self.session.state.view.brush_diameter
            if self._outline is None or self._outline[0] != key:
                self._outline = key, self._stroke_outline(key[1])
            path = self._outline[1]
        source = self._source_outline(pointer)
        if source is None or path is None:
            return source or path
        both = QPainterPath(path)
        both.addPath(source)
        return both

    def _source_outline(self, pointer: Place | None) -> QPainterPath | None:
        """Return a ring with a cross where the brush copies from, or will if a stroke begins now."""
        view, chosen = self.session.state.view, self.session.state.copy_source
        if chosen is None:
            return None
        center = QPointF(chosen.column, chosen.row)
        offset = self._offset if self.is_active else chosen.offset if view.is_aligned else None
        if offset is not None and pointer is not None:
            center = QPointF(pointer.column + offset.columns, pointer.row + offset.rows)
        path, radius, arm = QPainterPath(), view.brush_diameter / 2, max(self.reach, 3)
        path.addEllipse(center, radius, radius)
        for x, y in ((arm, 0), (0, arm)):
            path.moveTo(center - QPointF(x, y))
            path.lineTo(center + QPointF(x, y))
        return path

    def _stroke_outline(self, diameter: int) -> QPainterPath:
        stroker = QPainterPathStroker()
        stroker.setWidth(diameter)
        stroker.setCapStyle(Qt.PenCapStyle.RoundCap)
        stroker.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        path = _path([*self._places[:: 1 + len(self._places) // _MAX_PLACES], self._places[-1]])
        stroke = stroker.createStroke(path).simplified()
        return stroke.united(path) if self._offset is None and self._is_loop() else stroke

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


class CloneStamp(HealingBrush):
    """A brush that copies pixels as they are, from where Alt+click says."""

    name = "clone"
    keeps_tones = False
    needs_source = True
