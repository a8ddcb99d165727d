"""View modes: which panes are shown; no Qt."""

from dataclasses import dataclass

from dictsel_core.restoration import CONSTRAINTS


@dataclass(frozen=True)
class ViewMode:
    """Which panes are shown."""

    name: str  #: Its name on the command line.
    #: Of its menu entry; an ampersand marks its letter.
    text: str
    tip: str
    icon: str  #: A file of `assets/icons`, without its suffix.
    key: str  #: Shortcut.
    panes: tuple[str, ...]  #: Names of panes, see `viewer.display`, which also has their order.
    is_comparison: bool = False  #: Whether it shows several runs.


#: Panes for the runs of a comparison: as many as there are constraints, of which there are at least two.
COMPARED = tuple(f"compared_{number + 1}" for number in range(len(CONSTRAINTS)))

SIDE_BY_SIDE = ViewMode(
    "side", "&Side by Side", "Damaged and restored.", "side-by-side", "1", ("damaged", "restored")
)
SPLIT = ViewMode("split", "S&plit", "Before and after with a divider.", "split", "2", ("split",))
COMPARISON = ViewMode(
    "compare",
    "Compar&ison",
    "Two runs of the history, or one under each constraint.",
    "triple",
    "3",
    ("damaged", *COMPARED),
    is_comparison=True,
)
ERROR_MAP = ViewMode(
    "error",
    "&Error Map",
    "Original, restored and their difference.",
    "error-map",
    "4",
    ("original", "restored", "error"),
)
SPLIT_COMPARISON = ViewMode(
    "split-compare",
    "Sp&lit Comparison",
    "Two runs with a divider.",
    "split-two",
    "5",
    ("compared_split",),
    is_comparison=True,
)

_ALL = (SIDE_BY_SIDE, SPLIT, COMPARISON, ERROR_MAP, SPLIT_COMPARISON)
#: All view modes; menu, toolbar, shortcuts and the command line follow.
VIEW_MODES: dict[str, ViewMode] = {mode.name: mode for mode in _ALL}
