"""Icons, drawn in the colors of a palette."""

from functools import cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

from inpaint_app.io.assets import asset

_SIZES = (16, 20, 24, 32, 48, 64)
_APP_SIZES = (16, 24, 32, 48, 64, 128, 256)


def icon(name: str, palette: QPalette) -> QIcon:
    """Return one of the icons in the text color of buttons; call again when the palette changes.

    Parameters
    ----------
    name : str
        A file of `assets/icons`, without its suffix.
    palette : QPalette
        Whose colors to take, for enabled and for disabled buttons.
    """
    made = QIcon()
    groups = {
        QIcon.Mode.Normal: QPalette.ColorGroup.Active,
        QIcon.Mode.Disabled: QPalette.ColorGroup.Disabled,
    }
    for mode, group in groups.items():
        color = palette.color(group, QPalette.ColorRole.ButtonText)
        for size in _SIZES:
            made.addPixmap(tinted(name, size, color), mode)
    return made


def tinted(name: str, size: int, color: QColor) -> QPixmap:
    """Return one of the icons as a picture of `size` x `size` pixels in one color."""
    pixmap = _drawn(_source("icons", f"{name}.svg"), size)
    painter = QPainter(pixmap)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
    painter.fillRect(pixmap.rect(), color)
    painter.end()
    return pixmap


def app_icon() -> QIcon:
    """Return the icon of the program."""
    made = QIcon()
    for size in _APP_SIZES:
        made.addPixmap(_drawn(_source("icon.svg"), size))
    return made


@cache
def _source(*parts: str) -> bytes:
    return asset(*parts).read_bytes()


def _drawn(source: bytes, size: int) -> QPixmap:
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(source)).render(painter, QRectF(0, 0, size, size))
    painter.end()
    return pixmap
