"""Colors of what is painted on and around pictures, by the theme or as the user chooses."""

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


#: Grays to choose from, by name.
GRAYS = {"black": 0, "dark": 38, "middle": 119, "light": 200, "white": 255}
#: Colors that marks may have; the first is used where it stands out.
MARKS = {"magenta": "#ff48c4", "green": "#2be36a", "cyan": "#19c8ff", "yellow": "#ffd60a", "white": "#ffffff"}
_SHADE, _SHADE_OPACITY = 620, 0.83


@dataclass(frozen=True)
class Looks:
    """How pictures and marks look."""

    gray: int | None = None  #: Around pictures, 0 to 255; None for that of the theme.
    marks: str = ""  #: Color of marks, as "#rrggbb"; empty for one that stands out from the picture.
    opacity: int = 60  #: Of marks, in per cent.

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        is_gray = self.gray is None or (type(self.gray) is int and 0 <= self.gray <= 255)
        is_color = type(self.marks) is str and (not self.marks or QColor(self.marks).isValid())
        if not (is_gray and is_color and type(self.opacity) is int and 10 <= self.opacity <= 100):
            raise ValueError("these looks cannot be drawn")


def stripes(color: str, opacity: int) -> tuple[QColor, QColor]:
    """Return the two stripes over missing pixels: a color and its shade.

    Light and dark, they differ from any picture and from each other for every kind of color vision.
    """
    light = QColor(color)
    dark = light.darker(_SHADE)
    light.setAlphaF(opacity / 100)
    dark.setAlphaF(_SHADE_OPACITY * opacity / 100)
    return light, dark
