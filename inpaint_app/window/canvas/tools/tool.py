"""The base class of tools, and the tool that does nothing."""

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainterPath

if TYPE_CHECKING:  # widgets load no numerical library
    from inpaint_app.window.session import Session


class Place(NamedTuple):
    """A position in a picture, perhaps beside it: pixel (r, c) covers r to r + 1 and c to c + 1."""

    row: float
    column: float


class Tool:
    """Turns what the mouse does on a picture into changes of the session.

    A tool is a file with one class that names itself by the class attributes and overrides the methods it
    needs, and a line in `registry`. One instance belongs to one canvas.
    """

    name: ClassVar[str]  #: That of its action.
    cursor: ClassVar[Qt.CursorShape] = Qt.CursorShape.CrossCursor  #: The pointer over the picture.
    #: The panes it works on; elsewhere the left button moves the picture.
    panes: ClassVar[tuple[str, ...]] = ("damaged",)
    is_smooth: ClassVar[bool] = True  #: Whether its outline is drawn antialiased.
    uses_right_button: ClassVar[bool] = False  #: Whether the right button does the opposite.
    picks_source: ClassVar[bool] = False  #: Whether Alt+click, or Ctrl+click, chooses where it copies from.
    #: Whether every press adds to what has begun, until a double-click or Return finishes it.
    joins_clicks: ClassVar[bool] = False

    def __init__(self, session: "Session") -> None:
        self.session = session
        self.is_active = False  #: Whether something has begun that `release` ends and Escape cancels.
        #: Whether it was pressed with the right button, or with Shift; set before `press`.
        self.is_reversed = self.is_straight = False
        self.reach = 4  #: How far the pointer may miss a thing, in pixels of the picture.
        self.pressure = 1.0  #: How hard a pen is pressed, 0 to 1; 1 for a mouse.

    def press(self, place: Place) -> None:
        """Begin where the button was pressed."""

    def pick_source(self, place: Place) -> None:
        """Copy from a place."""

    def move(self, place: Place) -> None:
        """Follow the pointer; called only while the tool is active."""

    def release(self) -> None:
        """End: the button was released, or the picture was hidden, or another tool was chosen."""

    def finish(self) -> None:
        """End a tool that joins clicks."""

    def cancel(self) -> None:
        """Undo what has begun."""
        self.is_active = False

    def outline(self, pointer: Place | None) -> QPainterPath | None:
        """Return what to draw on the picture, as (column, row) coordinates.

        Parameters
        ----------
        pointer : Place or None
            Where the pointer is; None if it is not over the canvas.
        """
        return None


class Pan(Tool):
    """Leaves the left button to the canvas, which moves the picture wherever no tool works."""

    name = "pan"
    panes = ()
