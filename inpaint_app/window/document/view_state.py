"""The workspaces and view modes, and what is chosen: mode, tool and brush; no Qt."""

from dataclasses import dataclass, replace

from dictsel_core.restoration import CONSTRAINTS
from inpaint_app.engine.painted import BrushTip
from inpaint_app.model.missing import KEY_TOLERANCE

MIN_BRUSH, MAX_BRUSH = 1, 500
HARDNESS_STEP = 25


@dataclass(frozen=True)
class ViewMode:
    """Which panes are shown."""

    name: str  #: Its name on the command line, and that of its action after "view".
    panes: tuple[str, ...]  #: Names of panes, see `viewer.display`, which also has their order.
    is_comparison: bool = False  #: Whether it shows several runs.
    #: Whether it serves to judge a method, and whether to mend a photograph.
    is_for_study: bool = True
    is_for_retouching: bool = False


#: Panes for the runs of a comparison: as many as there are constraints, of which there are at least two.
COMPARED = tuple(f"compared_{number + 1}" for number in range(len(CONSTRAINTS)))

RESULT = ViewMode("result", ("result",), is_for_study=False, is_for_retouching=True)
SIDE_BY_SIDE = ViewMode("side", ("damaged", "restored"))
SPLIT = ViewMode("split", ("split",), is_for_retouching=True)
COMPARISON = ViewMode("compare", ("damaged", *COMPARED), is_comparison=True)
ERROR_MAP = ViewMode("error", ("original", "restored", "error"))
SPLIT_COMPARISON = ViewMode("split-compare", ("compared_split",), is_comparison=True)

_ALL = (RESULT, SIDE_BY_SIDE, SPLIT, COMPARISON, ERROR_MAP, SPLIT_COMPARISON)
#: All view modes; menu, toolbar, shortcuts and the command line follow.
VIEW_MODES: dict[str, ViewMode] = {mode.name: mode for mode in _ALL}


@dataclass(frozen=True)
class Workspace:
    """A purpose, which some view modes serve."""

    name: str  #: Also that of its action.
    start: ViewMode  #: The mode that it begins with.

    def has(self, mode: ViewMode) -> bool:
        """Return whether a mode serves it."""
        return mode.is_for_retouching if self is RETOUCH else mode.is_for_study


#: To judge a method: before and after with their figures, parameters, dictionary, history.
STUDY = Workspace("study", SIDE_BY_SIDE)
#: To mend a photograph: one picture, as large as the window allows.
RETOUCH = Workspace("retouch", RESULT)
WORKSPACES = {workspace.name: workspace for workspace in (STUDY, RETOUCH)}


@dataclass(frozen=True)
class ViewState:
    """What is shown and which tool is chosen; a new value for every change."""

    workspace: Workspace = STUDY
    mode: ViewMode = SIDE_BY_SIDE  #: Which panes are shown.
    #: What to go back to when there is no comparison to show.
    mode_before_comparison: ViewMode = SIDE_BY_SIDE
    tool: str = "heal"  #: Name of the tool of the left button.
    brush_diameter: int = 15  #: Width of brush and eraser in pixels of the picture.
    #: Of the healing brush and the clone stamp, in percent.
    hardness: int = 100
    opacity: int = 100
    is_aligned: bool = True  #: Whether all strokes copy from the same distance.
    tolerance: int = KEY_TOLERANCE  #: How much pixels may differ to be alike to the wand, in levels of 255.
    shows_mask: bool = True  #: Whether missing pixels are hatched.
    #: Whether the damaged picture stands in for the restored one while a key is held.
    is_before_held: bool = False

    @property
    def is_retouching(self) -> bool:
        """Whether one picture is worked on, and no figures are shown."""
        return self.workspace is RETOUCH

    def with_workspace(self, workspace: Workspace) -> "ViewState":
        """Return the state for another purpose, with the view mode that this begins with."""
        if workspace is self.workspace:
            return self
        return replace(self, workspace=workspace).with_mode(workspace.start)

    def with_mode(self, mode: ViewMode) -> "ViewState":
        """Return the state with other panes, in a workspace that has them."""
        before = self.mode_before_comparison if mode.is_comparison else mode
        places = (self.workspace, *WORKSPACES.values())
        workspace = next(each for each in places if each.has(mode))
        return replace(self, workspace=workspace, mode=mode, mode_before_comparison=before)

    def with_tool(self, tool: str, panes: tuple[str, ...]) -> "ViewState":
        """Return the state with another tool, and a mode that shows one of the panes it works on."""
        state = replace(self, tool=tool)
        is_usable = not panes or any(works_on(panes, pane) for pane in self.mode.panes)
        return state if is_usable else state.with_mode(self.workspace.start)

    def with_brush(self, diameter: int) -> "ViewState":
        """Return the state with another brush."""
        return replace(self, brush_diameter=min(max(diameter, MIN_BRUSH), MAX_BRUSH))

    def with_resized_brush(self, step: int) -> "ViewState":
        """Return the state with a brush a step larger, or smaller: by a quarter, at least by a pixel."""
        now = self.brush_diameter
        larger, smaller = max(now + 1, round(now * 1.25)), min(now - 1, round(now / 1.25))
        return self.with_brush(larger if step > 0 else smaller)

    def with_hardness(self, percent: int) -> "ViewState":
        """Return the state with a harder or softer brush."""
        return replace(self, hardness=min(max(percent, 0), 100))

    @property
    def tip(self) -> BrushTip:
        """The tip of the healing brush."""
        return BrushTip(self.brush_diameter, self.hardness / 100, self.opacity / 100)


def works_on(panes: tuple[str, ...], pane: str) -> bool:
    """Return whether a tool for some panes works on one; where there is only one, each of them does."""
    return pane in panes or (pane == "result" and bool(panes))
