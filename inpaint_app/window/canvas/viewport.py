"""Which part of a picture is seen, and how large: shared by panes that show the same place."""

from collections.abc import Hashable

from PySide6.QtCore import QObject, Signal

MAX_ZOOM = 64.0
#: Factor of one notch of the wheel, or one press of a key.
ZOOM_STEP = 1.25

_MIN_SIZE = 32.0


class Viewport(QObject):
    """The zoom and the center of linked panes.

    Positions are picture coordinates (x, y): the pixel in row r and column c covers c to c + 1 and r to
    r + 1. A picture that is smaller than the panes is centered; a larger one cannot be moved away from
    their borders.
    """

    changed = Signal()
    """Zoom, center or picture size have changed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.picture_size = (1.0, 1.0)  #: Width and height of the picture in pixels.
        self._panes: dict[Hashable, tuple[float, float]] = {}
        #: Screen pixels, those of the device, per picture pixel: at 1.0 a picture is sharp on every display.
        self.zoom = 1.0
        self.center = (0.5, 0.5)  #: The place (x, y) of the picture in the middle of the panes.
        #: Whether the whole picture is kept in view: it fills the panes whatever their size.
        self.is_fitted = True

    @property
    def pane_size(self) -> tuple[float, float]:
        """Width and height in screen pixels of the part that all panes have."""
        if not self._panes:
            return self.picture_size
        return min(size[0] for size in self._panes.values()), min(size[1] for size in self._panes.values())

    @property
    def fit_zoom(self) -> float:
        """The largest zoom at which the whole picture is in view."""
        (width, height), (pane_width, pane_height) = self.picture_size, self.pane_size
        return min(pane_width / width, pane_height / height, MAX_ZOOM)

    @property
    def min_zoom(self) -> float:
        """The smallest zoom: the picture in view, or its longer side on a few screen pixels."""
        return min(self.fit_zoom, max(_MIN_SIZE / max(self.picture_size), self.fit_zoom / 4), 1.0)

    def set_picture_size(self, width: int, height: int) -> None:
        """Set the size of the picture; a picture of another size is fitted."""
        size = float(max(width, 1)), float(max(height, 1))
        if size != self.picture_size:
            self.picture_size = size
            self.fit()

    def set_pane_size(self, pane: Hashable, width: float, height: float) -> None:
        """Set the size of a pane in screen pixels."""
        self._panes[pane] = max(width, 1.0), max(height, 1.0)
        self._keep()

    def remove_pane(self, pane: Hashable) -> None:
        """Forget a pane, for instance one that is hidden."""
        if self._panes.pop(pane, None) is not None:
            self._keep()

    def fit(self) -> None:
        """Bring the whole picture into view, and keep it there when the panes change their size."""
        self._move(self.fit_zoom, (self.picture_size[0] / 2, self.picture_size[1] / 2), fitted=True)

    def show_actual_size(self) -> None:
        """Show one picture pixel on one screen pixel."""
        self.set_zoom(1.0)

    def set_zoom(self, zoom: float, at: tuple[float, float] | None = None) -> None:
        """Zoom so that a place stays where it is on the screen.

        Parameters
        ----------
        zoom : float
            Screen pixels per picture pixel; brought within the limits.
        at : (float, float), optional
            The place (x, y) of the picture that does not move; otherwise the center.
        """
        zoom = min(max(zoom, self.min_zoom), MAX_ZOOM)
        x, y = at or self.center
        ratio = self.zoom / zoom
        center = x + (self.center[0] - x) * ratio, y + (self.center[1] - y) * ratio
        self._move(zoom, center, fitted=False)

    def show_box(self, top: int, left: int, height: int, width: int) -> None:
        """Bring a part of the picture into the middle, no smaller than it is, and with room around it."""
        room = min(self.pane_size[0] / (3 * width), self.pane_size[1] / (3 * height))
        zoom = max(self.min_zoom, min(max(self.zoom, 1.0), room))
        self._move(zoom, (left + width / 2, top + height / 2), fitted=False)

    def zoom_by(self, factor: float, at: tuple[float, float] | None = None) -> None:
        """Multiply the zoom; see `set_zoom`."""
        self.set_zoom(self.zoom * factor, at)

    def zoom_step(self, steps: int) -> None:
        """Enlarge by some steps, or reduce."""
        self.zoom_by(ZOOM_STEP**steps)

    def pan(self, dx: float, dy: float) -> None:
        """Move the picture by screen pixels, rightwards and downwards."""
        x, y = self.center
        self._move(self.zoom, (x - dx / self.zoom, y - dy / self.zoom), fitted=self.is_fitted)

    def origin(self, pane: tuple[float, float]) -> tuple[float, float]:
        """Return the screen pixel where the picture begins in a pane of that width and height.

        It is a whole one, so that an unscaled picture stays sharp.
        """
        return (
            float(round(pane[0] / 2 - self.center[0] * self.zoom)),
            float(round(pane[1] / 2 - self.center[1] * self.zoom)),
        )

    def to_picture(self, x: float, y: float, pane: tuple[float, float]) -> tuple[float, float]:
        """Return the place of the picture at a screen pixel of a pane of that width and height."""
        left, top = self.origin(pane)
        return (x - left) / self.zoom, (y - top) / self.zoom

    def _keep(self) -> None:
        """Keep what is seen after the panes have changed."""
        if self.is_fitted:
            self.fit()
        else:
            self._move(max(self.zoom, self.min_zoom), self.center, fitted=False)

    def _move(self, zoom: float, center: tuple[float, float], *, fitted: bool) -> None:
        (width, height), (pane_width, pane_height) = self.picture_size, self.pane_size
        bounded = (
            _bounded(center[0], width, pane_width / zoom),
            _bounded(center[1], height, pane_height / zoom),
        )
        before = self.zoom, self.center, self.is_fitted
        self.zoom, self.center, self.is_fitted = zoom, bounded, fitted
        if before != (zoom, bounded, fitted):
            self.changed.emit()


def _bounded(center: float, size: float, seen: float) -> float:
    if seen >= size:
        return size / 2
    return min(max(center, seen / 2), size - seen / 2)
