"""Areas that are missing or may fill holes: rectangles, lines around pixels, what looks alike."""

from math import ceil, floor

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath

from inpaint_app.model.picture import Mask, Rect
from inpaint_app.window.canvas.tools.tool import Place, Tool, pixels_inside, region_outline


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


class Lasso(Tool):
    """Marks what lies inside a line drawn by hand; the right button unmarks it."""

    name = "lasso"
    uses_right_button = True
    #: The line while it is drawn.
    _path = QPainterPath()

    def press(self, place: Place) -> None:
        """Begin the line."""
        self.is_active, self._path = True, QPainterPath(QPointF(place.column, place.row))

    def move(self, place: Place) -> None:
        """Continue it."""
        self._path.lineTo(place.column, place.row)

    def release(self) -> None:
        """Close the line, and use what lies inside."""
        self.is_active = False
        assert self.session.state.source is not None, "there is a picture to draw on"
        rect, inside = pixels_inside(self._path, self.session.state.source.shape)
        if inside.any():
            self.use(rect, inside)
        else:
            self.forget()

    def use(self, rect: Rect, inside: Mask) -> None:
        """Mark the pixels of a rectangle that lie inside the line."""
        self.session.masking.fill(rect, missing=not self.is_reversed, where=inside)

    def forget(self) -> None:
        """Follow a line without an area: there is nothing to forget."""

    @property
    def is_outlined(self) -> bool:
        """Whether the line is shown."""
        return self.is_active

    def outline(self, pointer: Place | None) -> QPainterPath | None:
        """Return the line, closed."""
        if not self.is_outlined:
            return None
        path = QPainterPath(self._path)
        path.closeSubpath()
        return path


class Polygon(Lasso):
    """Marks what lies between corners that are clicked; with the right button, unmarks it."""

    name = "polygon"
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


class ObjectOutline(Lasso):
    """Marks the object inside a line drawn loosely around it; the right button unmarks it."""

    name = "object"

    def use(self, rect: Rect, inside: Mask) -> None:
        """Look for the object."""
        self.session.masking.mark_object(rect, inside, missing=not self.is_reversed)

    @property
    def is_outlined(self) -> bool:
        """Whether the line is drawn, or the object not found yet."""
        return self.is_active or self.session.masking.task.is_active


class MeasuredRegion(Lasso):
    """Measures all runs inside a line drawn by hand; a click forgets it."""

    name = "region"
    panes = ("original", "damaged", "restored", "split", "error")
    uses_right_button = False
    _known: tuple[Mask, QPainterPath] | None = None

    def use(self, rect: Rect, inside: Mask) -> None:
        """Measure inside."""
        self.session.measuring.measure_region(rect, inside)

    def forget(self) -> None:
        """Forget the region."""
        self.session.measuring.forget_region()

    def outline(self, pointer: Place | None) -> QPainterPath | None:
        """Return the line while it is drawn, or else the region, wherever it was drawn."""
        region, source = self.session.state.region, self.session.state.source
        if self.is_active or region is None or source is None:
            return super().outline(pointer)
        if self._known is None or self._known[0] is not region.inside:
            rows, columns = np.nonzero(region.inside)
            width = source.shape[1]
            pixels = (rows + region.rect.row) * width + columns + region.rect.column
            self._known = region.inside, region_outline(pixels, width)
        return self._known[1]


class CopyArea(Lasso):
    """Fills wide holes from what lies inside lines drawn by hand; the right button keeps them from it."""

    name = "copy_area"
    panes = ("damaged", "restored", "split")

    def use(self, rect: Rect, inside: Mask) -> None:
        """Let holes be filled from inside, or not."""
        self.session.filling.add(rect, inside, may_be_copied=not self.is_reversed)

    def forget(self) -> None:
        """Let everything be copied again."""
        self.session.filling.clear()

    @property
    def is_outlined(self) -> bool:
        """Whether the line is drawn, or some line counts."""
        return self.is_active or self.session.state.hole_fill is not None


class Wand(Tool):
    """A click marks the pixels around it that look alike; the right button unmarks them."""

    name = "wand"
    uses_right_button = True

    def press(self, place: Place) -> None:
        """Mark what looks like the pixel under the pointer."""
        row, column = floor(place.row), floor(place.column)
        self.session.masking.mark_similar(row, column, missing=not self.is_reversed)


class Eyedropper(Tool):
    """Takes the marking color from the picture; pixels that are nearly of that color are missing too."""

    name = "eyedropper"

    def press(self, place: Place) -> None:
        """Take the color of a pixel."""
        self.session.opening.mark_color_of(floor(place.row), floor(place.column))
