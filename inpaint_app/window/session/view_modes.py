"""View modes: which panes are shown; no Qt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ViewMode:
    """Which panes are shown.

    Attributes
    ----------
    name : str
        Its name on the command line.
    text, tip : str
        Of its menu entry; an ampersand marks its letter.
    icon : str
        A file of `assets/icons`, without its suffix.
    key : str
        Shortcut.
    panes : tuple of str
        Names of panes, see `viewer.display`, which also has their order.
    """

    name: str
    text: str
    tip: str
    icon: str
    key: str
    panes: tuple[str, ...]


SIDE_BY_SIDE = ViewMode(
    "side", "&Side by Side", "Damaged and restored.", "side-by-side", "1", ("damaged", "restored")
)
SPLIT = ViewMode("split", "S&plit", "Before and after with a divider.", "split", "2", ("split",))
COMPARISON = ViewMode(
    "compare",
    "Compar&ison",
    "Under individual and average sparsity.",
    "triple",
    "3",
    ("damaged", "individual", "average"),
)
ERROR_MAP = ViewMode(
    "error",
    "&Error Map",
    "Original, restored and their difference.",
    "error-map",
    "4",
    ("original", "restored", "error"),
)

VIEW_MODES: dict[str, ViewMode] = {mode.name: mode for mode in (SIDE_BY_SIDE, SPLIT, COMPARISON, ERROR_MAP)}
"""All view modes; menu, toolbar, shortcuts and the command line follow."""
