"""Draw the layers of a picture through a viewport: pixels, hatching, dimming, outlines.

Everything here is in screen pixels of the device: the painter must not scale.
"""

from dataclasses import dataclass
from math import ceil, floor

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPen

from inpaint_app.model.look import Scale, color_table
from inpaint_app.model.picture import Rect
from inpaint_app.window.canvas.image_pyramid import ImagePyramid, as_uint32, to_32_bits
from inpaint_app.window.canvas.mask_pyramid import MaskPyramid
from inpaint_app.window.widgets.ticks import format_number

_MAX_LINES = 8000
#: Zoom below which patches are too small for lines around them.
_MIN_OUTLINED_ZOOM = 0.6
_ROUNDING = 1e-6
_DENSE_OPACITY = 0.5
_TILE = 256
_BAND = 128
#: Rows that are converted at a time: the allocator reuses buffers as small as theirs.
_CONVERTED = 64
# What covers only part of a screen pixel is drawn stronger: thin scratches stay visible in large pictures.
_MIN_OPACITY = 2 / 3
_OPACITIES = np.rint(255 * np.maximum(np.sqrt(np.arange(256) / 255), _MIN_OPACITY)).astype(np.uint32)
_OPACITIES[0] = 0
_OPACITIES <<= np.uint32(24)


@dataclass(frozen=True)
class Geometry:
    """Where the picture lies in a pane."""

    #: Screen pixel of its corner.
    left: float
    top: float
    zoom: float  #: Screen pixels per picture pixel.
    #: Size of the picture.
    width: int
    height: int

    def rect(self, rect: Rect) -> QRectF:
        """Return where some pixels are."""
        x, y = self.left + rect.column * self.zoom, self.top + rect.row * self.zoom
        return QRectF(x, y, rect.width * self.zoom, rect.height * self.zoom)

    def exposed(self, area: QRect) -> QRect:
        """Return the part of an area whose screen pixels have their center on the picture.

        Others would be drawn from beyond its last row or column, which are black to Qt.
        """
        left, top = ceil(self.left - 0.5), ceil(self.top - 0.5)
        right = ceil(self.left + self.width * self.zoom - 0.5 - _ROUNDING)
        bottom = ceil(self.top + self.height * self.zoom - 0.5 - _ROUNDING)
        return QRect(left, top, max(right - left, 1), max(bottom - top, 1)).intersected(area)

    def source(self, area: QRect, level: int) -> Rect:
        """Return the pixels of a level, reduced `level` times by half, that an area shows, and a margin."""
        scale = self.zoom * 2**level
        rows, columns = -(-self.height // 2**level), -(-self.width // 2**level)
        top = max(floor((area.top() - self.top) / scale) - 1, 0)
        left = max(floor((area.left() - self.left) / scale) - 1, 0)
        bottom = min(ceil((area.top() + area.height() - self.top) / scale) + 1, rows)
        right = min(ceil((area.left() + area.width() - self.left) / scale) + 1, columns)
        return Rect(top, left, bottom - top, right - left)

    def target(self, source: Rect, level: int) -> QRectF:
        """Return where pixels of a level are."""
        scale = 2**level
        return self.rect(Rect(*(scale * number for number in source)))


def draw_pyramid(painter: QPainter, pyramid: ImagePyramid, geometry: Geometry, area: QRect) -> None:
    """Draw a picture within an area: its pixels as squares if enlarged, smooth if reduced."""
    area = geometry.exposed(area)
    if area.isEmpty():
        return
    level = pyramid.best(geometry.zoom)
    image = pyramid.images[level]
    painter.save()
    painter.setClipRect(area, Qt.ClipOperation.IntersectClip)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, geometry.zoom < 1)
    if image.format() == QImage.Format.Format_RGB32:
        source = geometry.source(area, level)
        part = QRectF(source.column, source.row, source.width, source.height)
        painter.drawImage(geometry.target(source, level), image, part)
    else:
        _draw_converted(painter, image, geometry, area)
    painter.restore()


def _draw_converted(painter: QPainter, image: QImage, geometry: Geometry, area: QRect) -> None:
    """Draw the part of an image that an area shows, band by band, in the format that is drawn fastest."""
    for top in range(area.top(), area.top() + area.height(), _CONVERTED):
        band = QRect(area.left(), top, area.width(), _CONVERTED).intersected(area)
        source = geometry.source(band, 0)
        part = to_32_bits(image.copy(source.column, source.row, source.width, source.height))
        painter.save()
        painter.setClipRect(band, Qt.ClipOperation.IntersectClip)
        painter.drawImage(geometry.target(source, 0), part)
        painter.restore()


def draw_hatching(
    painter: QPainter, mask: MaskPyramid, geometry: Geometry, area: QRect, stripes: QBrush
) -> None:
    """Draw stripes over what is marked, within an area; faint ones if that is more than half of it."""
    painter.save()
    painter.setOpacity(_DENSE_OPACITY if mask.is_dense else 1.0)
    inside = QPainter.CompositionMode.CompositionMode_DestinationIn
    _draw_shaped(painter, mask, geometry, area, stripes, inside)
    painter.restore()


def draw_dimming(
    painter: QPainter, highlight: MaskPyramid, geometry: Geometry, area: QRect, color: QColor
) -> None:
    """Darken what is not highlighted, within an area."""
    outside = QPainter.CompositionMode.CompositionMode_DestinationOut
    _draw_shaped(painter, highlight, geometry, area, QBrush(color), outside)


def draw_outlines(
    painter: QPainter, highlight: MaskPyramid, geometry: Geometry, area: QRect, color: QColor
) -> None:
    """Draw lines around what is highlighted, unless it is too small or too scattered."""
    source = geometry.source(area, 0)
    if geometry.zoom < _MIN_OUTLINED_ZOOM or source.is_empty:
        return
    part = highlight.level(0)[source.slices] > 0
    across, down = edges(part), edges(part.T)
    if not 0 < len(across) + len(down) <= _MAX_LINES:
        return
    zoom = geometry.zoom
    corner = QPointF(geometry.left + source.column * zoom, geometry.top + source.row * zoom)
    lines = [QLineF(start * zoom, row * zoom, end * zoom, row * zoom) for row, start, end in across]
    lines += [QLineF(col * zoom, start * zoom, col * zoom, end * zoom) for col, start, end in down]
    painter.setPen(QPen(color, 1))
    painter.drawLines([line.translated(corner) for line in lines])


def edges(highlight: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Return lines along rows between entries that differ: row below, first column, last column + 1."""
    differs = highlight[1:] != highlight[:-1]
    ends = np.diff(differs.astype(np.int8), axis=1, prepend=np.int8(0), append=np.int8(0))
    rows, starts = np.nonzero(ends == 1)
    stops = np.nonzero(ends == -1)[1]
    lines: list[list[int]] = np.column_stack((rows + 1, starts, stops)).tolist()
    return lines


def striped(colors: tuple[QColor, QColor], period: int) -> QBrush:
    """Return a brush of diagonal stripes in two colors that repeat after `period` screen pixels."""
    # Qt copies large tiles faster than small ones.
    x = np.arange(period * max(1, _TILE // period))
    first = (x[:, None] + x) % period < period // 2
    image = QImage(len(x), len(x), QImage.Format.Format_ARGB32)
    as_uint32(image)[:] = np.where(first, np.uint32(colors[0].rgba()), np.uint32(colors[1].rgba()))
    return QBrush(image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied))


def _draw_shaped(
    painter: QPainter,
    mask: MaskPyramid,
    geometry: Geometry,
    area: QRect,
    brush: QBrush,
    shape: QPainter.CompositionMode,
) -> None:
    """Fill an area with a brush, composed with a mask."""
    area = geometry.exposed(area)
    # The allocator reuses buffers as small as a band; those of a whole pane would be new each time.
    for top in range(area.top(), area.top() + area.height(), _BAND):
        band = QRect(area.left(), top, area.width(), _BAND).intersected(area)
        buffer = QImage(band.size(), QImage.Format.Format_ARGB32_Premultiplied)
        inner = QPainter(buffer)
        inner.translate(-band.x(), -band.y())
        inner.setBrushOrigin(QPointF(geometry.left, geometry.top))
        inner.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        inner.fillRect(band, brush)
        inner.setCompositionMode(shape)
        _draw_mask(inner, mask, geometry, band)
        inner.end()
        painter.drawImage(band.topLeft(), buffer)


def _draw_mask(painter: QPainter, mask: MaskPyramid, geometry: Geometry, area: QRect) -> None:
    level = mask.best(geometry.zoom)
    source = geometry.source(area, level)
    image = QImage(source.width, source.height, QImage.Format.Format_ARGB32_Premultiplied)
    np.take(_OPACITIES, mask.level(level)[source.slices], out=as_uint32(image), mode="clip")
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, geometry.zoom < 1)
    painter.drawImage(geometry.target(source, level), image, QRectF(image.rect()))


_BAR, _BAR_WIDTH = 10, 160


def draw_scale(painter: QPainter, scale: Scale, height: int) -> None:
    """Draw a bar of colors in the lower left corner of a pane, with the values at its ends; in points."""
    colors = np.ascontiguousarray(color_table(scale.color_map))
    image = QImage(colors.data, 256, 1, 768, QImage.Format.Format_RGB888).copy()
    place = QRectF(14, height - 40, _BAR_WIDTH, _BAR)
    painter.save()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(0, 0, 0, 170))
    painter.drawRoundedRect(place.adjusted(-8, -8, 8, 22), 4, 4)
    painter.drawImage(place, image)
    painter.setPen(Qt.GlobalColor.white)
    words = place.translated(0, _BAR + 2).adjusted(0, 0, 0, 6)
    painter.drawText(words, Qt.AlignmentFlag.AlignLeft, format_number(scale.low))
    painter.drawText(words, Qt.AlignmentFlag.AlignRight, format_number(scale.high))
    if scale.low < 0:
        painter.drawText(words, Qt.AlignmentFlag.AlignHCenter, "0")
    painter.restore()


@dataclass(frozen=True)
class Content:
    """The layers of a picture, each made ready in any thread; several canvases may share them."""

    pyramid: ImagePyramid | None = None  #: The picture; None for none.
    after: ImagePyramid | None = None  #: A second picture of the same size, for canvases with a divider.
    names: tuple[str, str] = ("", "")  #: Of the two pictures.
    #: Pixels to hatch. After its `update`, call `update_pixels` on each canvas.
    mask: MaskPyramid | None = None
    #: A part to highlight by darkening everything else. Missing pixels are not hatched meanwhile: both would
    #: hide what is highlighted.
    highlight: MaskPyramid | None = None
    detail: tuple[ImagePyramid, Rect] | None = None  #: The same with more pixels within a rectangle.
    inset: tuple[ImagePyramid, Rect] | None = None  #: Other pixels within a rectangle, framed.
    placeholder: str = ""  #: Text shown while there is no picture.
    scale: Scale | None = None  #: Colors with the values at their ends, drawn in a corner.
