"""What the user chooses about pictures: the gray around them, and how what is missing is marked."""

from dataclasses import dataclass

from PySide6.QtGui import QColor

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
