"""Colors of what is painted on and around pictures, for light and dark palettes."""

from dataclasses import dataclass

from PySide6.QtGui import QColor, QPalette

#: Over what is not highlighted, and around what is.
DIMMING, OUTLINE = QColor(10, 10, 14, 165), QColor(255, 196, 0)


@dataclass(frozen=True)
class Colors:
    """Colors that a palette has no role for, and that differ between light and dark."""

    surround: QColor  #: Behind pictures; neutral, so that it does not tint what is seen.
    soft_text: QColor  #: Notes and hints.
    rule: QColor  #: Thin lines between things.
    edge: QColor  #: Around controls.
    focus: QColor  #: Around the widget with the keyboard focus.
    plot: QColor  #: What is plotted.
    #: Backgrounds of messages.
    notice: QColor
    trouble: QColor


LIGHT = Colors(
    surround=QColor(210, 210, 210),
    soft_text=QColor(86, 86, 86),
    rule=QColor(206, 206, 206),
    edge=QColor(118, 118, 118),
    focus=QColor(11, 92, 173),
    plot=QColor(0, 90, 181),
    notice=QColor(255, 243, 205),
    trouble=QColor(253, 224, 220),
)
DARK = Colors(
    surround=QColor(26, 26, 26),
    soft_text=QColor(170, 170, 170),
    rule=QColor(64, 64, 64),
    edge=QColor(132, 132, 132),
    focus=QColor(90, 169, 247),
    plot=QColor(106, 176, 255),
    notice=QColor(77, 64, 20),
    trouble=QColor(92, 36, 32),
)


def is_dark(palette: QPalette) -> bool:
    """Return whether a palette is dark."""
    return palette.window().color().lightness() < 128


def colors_of(palette: QPalette) -> Colors:
    """Return the colors that go with a palette."""
    return DARK if is_dark(palette) else LIGHT


def contrasting(ground: QColor) -> QColor:
    """Return black or white, whichever can be read on a color."""
    return QColor("black" if ground.lightness() > 110 else "white")
