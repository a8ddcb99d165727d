"""Where a panel of the window is, as plain values; no Qt."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from dictsel_core.restoration import Parameter

AREAS = ("left", "right", "top", "bottom")
#: No screen has as many pixels.
_FARTHEST = 100_000

_SHAPES = {
    each.name: each
    for each in (
        Parameter(name="area", kind=str, choices=AREAS),
        Parameter(name="size", kind=int, minimum=1, maximum=_FARTHEST),
        Parameter(name="is_hidden", kind=bool),
        Parameter(name="is_in_front", kind=bool),
    )
}
_PLACE = Parameter(name="x, y", kind=int, minimum=-_FARTHEST, maximum=_FARTHEST)


@dataclass(frozen=True)
class PanelPlace:
    """Where a panel is."""

    area: str  #: The side of the window that it is docked at, or would be.
    size: int  #: Pixels across that side.
    is_hidden: bool = False
    is_in_front: bool = True  #: Whether it can be seen; False behind the tab of another one.
    #: Left, top, width and height of a panel that floats; None for one that is docked.
    window: tuple[int, int, int, int] | None = None


def read_place(stored: object) -> PanelPlace:
    """Return the place that was stored as names and values.

    Raises
    ------
    ValueError, TypeError
        If it is none.
    """
    if not isinstance(stored, Mapping) or set(stored) != {each.name for each in fields(PanelPlace)}:
        raise ValueError("The place of a panel must have all its names and values.")
    window = stored["window"]
    plain = {name: parameter.checked(stored[name]) for name, parameter in _SHAPES.items()}
    return PanelPlace(**plain, window=None if window is None else _read_window(window))


def _read_window(stored: object) -> tuple[int, int, int, int]:
    if not isinstance(stored, list) or len(stored) != 4:
        raise ValueError("A window has left, top, width and height.")
    left, top = (_PLACE.checked(each) for each in stored[:2])
    width, height = (_SHAPES["size"].checked(each) for each in stored[2:])
    return left, top, width, height
