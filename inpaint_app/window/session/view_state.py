"""The view mode, the tool and the brush; no Qt."""

from dataclasses import dataclass, replace

from inpaint_app.window.session.view_modes import SIDE_BY_SIDE, ViewMode

MIN_BRUSH, MAX_BRUSH = 1, 500


@dataclass(frozen=True)
class ViewState:
    """What is shown and which tool is chosen; a new value for every change."""

    mode: ViewMode = SIDE_BY_SIDE  #: Which panes are shown.
    #: What to go back to when there is no comparison to show.
    mode_before_comparison: ViewMode = SIDE_BY_SIDE
    tool: str = "heal"  #: Name of the tool of the left button.
    brush_diameter: int = 15  #: Width of brush and eraser in pixels of the picture.
    shows_mask: bool = True  #: Whether missing pixels are hatched.
    #: Whether the damaged picture stands in for the restored one while a key is held.
    is_before_held: bool = False

    def with_mode(self, mode: ViewMode) -> "ViewState":
        """Return the state with other panes."""
        before = self.mode_before_comparison if mode.is_comparison else mode
        return replace(self, mode=mode, mode_before_comparison=before)

    def with_tool(self, tool: str, panes: tuple[str, ...]) -> "ViewState":
        """Return the state with another tool, and a mode that shows one of the panes it works on."""
        state = replace(self, tool=tool)
        is_usable = not panes or any(pane in self.mode.panes for pane in panes)
        return state if is_usable else state.with_mode(SIDE_BY_SIDE)

    def with_brush(self, diameter: int) -> "ViewState":
        """Return the state with another brush."""
        return replace(self, brush_diameter=min(max(diameter, MIN_BRUSH), MAX_BRUSH))

    def with_larger_brush(self) -> "ViewState":
        """Return the state with a brush a step larger."""
        return self.with_brush(max(self.brush_diameter + 1, round(self.brush_diameter * 1.25)))

    def with_smaller_brush(self) -> "ViewState":
        """Return the state with a brush a step smaller."""
        return self.with_brush(min(self.brush_diameter - 1, round(self.brush_diameter / 1.25)))
