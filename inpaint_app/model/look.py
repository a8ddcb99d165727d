"""How the values of a picture become colors on the screen."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

#: Color maps for one band: colors at equal distances from the least value to the greatest.
COLOR_MAPS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "gray": ((0, 0, 0), (255, 255, 255)),
    "inverted": ((255, 255, 255), (0, 0, 0)),
    "heat": ((0, 0, 0), (120, 10, 20), (220, 70, 10), (250, 180, 40), (255, 255, 220)),
    "ice": ((0, 0, 0), (10, 40, 110), (30, 130, 190), (140, 220, 230), (250, 255, 255)),
    "spectrum": (
        (60, 20, 110),
        (40, 110, 220),
        (40, 190, 140),
        (170, 220, 50),
        (250, 170, 40),
        (180, 20, 20),
    ),
    "signed": ((20, 60, 160), (130, 170, 230), (245, 245, 245), (240, 150, 120), (160, 20, 30)),
}


@dataclass(frozen=True)
class Look:
    """The range of values that is shown, and in which colors; changes no value."""

    #: Values of black and white; None for those of the type, or of all values where it says nothing.
    limits: tuple[float, float] | None = None
    color_map: str = "gray"  #: Of `COLOR_MAPS`, for pictures of one band.
    channel: int | None = None  #: The one channel that is shown of a color picture; None for all.
    #: In the map of errors, white is the range of values over this.
    error_gain: float = 4.0
    has_sign: bool = False  #: Whether the map of errors tells what is too bright from what is too dark.


class Scale(NamedTuple):
    """The colors of a picture, and the values at their ends."""

    color_map: str
    low: float
    high: float


def color_table(name: str) -> npt.NDArray[np.uint8]:
    """Return the colors, (256, 3), of a map."""
    colors = np.array(COLOR_MAPS[name], float)
    places = np.linspace(0, len(colors) - 1, 256)
    columns = [np.interp(places, np.arange(len(colors)), colors[:, channel]) for channel in range(3)]
    table: npt.NDArray[np.uint8] = np.rint(np.stack(columns, axis=1)).astype(np.uint8)
    return table
