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


_COLORS = {
    "surround": ("#d2d2d2", "#1a1a1a"),
    "soft_text": ("#565656", "#aaaaaa"),
    "rule": ("#cecece", "#404040"),
    "edge": ("#767676", "#848484"),
    "focus": ("#0b5cad", "#5aa9f7"),
    "plot": ("#005ab5", "#6ab0ff"),
    "notice": ("#fff3cd", "#4d4014"),
    "trouble": ("#fde0dc", "#5c2420"),
}
LIGHT, DARK = (
    Colors(**{name: QColor(pair[is_dark]) for name, pair in _COLORS.items()}) for is_dark in (False, True)
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
