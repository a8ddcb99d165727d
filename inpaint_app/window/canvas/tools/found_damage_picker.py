"""Keep or remove found damage: one mark by a click, several by drawing around them."""

from dataclasses import replace
from math import floor

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainterPath

from inpaint_app.window.action_table import key_hint
from inpaint_app.window.canvas.tools.areas import Lasso
from inpaint_app.window.canvas.tools.tool import Place, pixels_inside, region_outline


class FoundDamagePicker(Lasso):
    """A click removes a mark or brings it back; a line around marks removes them.

    The right button brings back what the line surrounds, and with Shift all but what it surrounds goes.
    """

    name = "pick"
    cursor = Qt.CursorShape.PointingHandCursor
    _outline: tuple[int, QPainterPath] | None = None

    def release(self) -> None:
        """Change the mark that was clicked, or those inside the line."""
        self.is_active = False
        bounds = self._path.boundingRect()
        if max(bounds.width(), bounds.height()) <= self.reach:
            start = self._path.elementAt(0)
            if not self.session.finding.toggle(floor(start.y), floor(start.x), self.reach):
                self.session.document.notice.emit(
                    f"No damage was found here. Find Damage{key_hint('find_damage')} looks for some."
                )
            return
        self._choose_inside()

    def _choose_inside(self) -> None:
        finding, state = self.session.finding, self.session.state
        if state.found is None or state.marked is None:
            return
        rect, inside = pixels_inside(self._path, state.found.analysis.shape)
        if rect.is_empty:
            return
        choice = state.choice
        if self.is_straight:
            finding.choose(replace(choice, within=state.found.selection(rect, inside)))
            return
        regions = state.found.regions_inside(choice, rect, inside)
        removed = choice.removed - regions if self.is_reversed else choice.removed | regions
        if removed != choice.removed:
            finding.choose(replace(choice, removed=removed))

    def outline(self, pointer: Place | None) -> QPainterPath | None:
        """Return the line, or else the mark under the pointer or the one that is gone through."""
        if self.is_active:
            return super().outline(pointer)
        found, number = self.session.state.found, None
        if pointer is not None:
            number = self.session.finding.region_near(floor(pointer.row), floor(pointer.column), self.reach)
        if number is None:
            number = self.session.state.mark
        if number is None or found is None:
            return None
        if self._outline is None or self._outline[0] != number:
            pixels, shape = found.analysis.region_pixels(number), found.analysis.shape
            self._outline = number, region_outline(pixels, shape[1])
        return self._outline[1]
