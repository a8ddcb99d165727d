"""Everything that can be asked for by menu, toolbar or key."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence, QPalette

from inpaint_app.window.theme.icons import icon
from inpaint_app.window.widgets.tooltip import tooltip


@dataclass(frozen=True)
class ActionSpec:
    """An action in words.

    Attributes
    ----------
    text : str
        For menus; an ampersand marks its letter, an ellipsis that a dialog follows.
    keys : tuple of str
        Shortcuts.
    tip : str
        What it does, in a sentence.
    checkable : bool
        Whether it is on or off.
    icon : str
        Name of its icon; empty for none.
    """

    text: str
    keys: tuple[str, ...] = ()
    tip: str = ""
    checkable: bool = False
    icon: str = ""


GROUPS: dict[str, dict[str, ActionSpec]] = {
    "File": {
        "open": ActionSpec("&Open …", ("Ctrl+O",), "Open a damaged or a whole picture.", icon="open"),
        "open_mask": ActionSpec(
            "Open &Mask …", ("Ctrl+M",), "Take missing pixels from a picture, white = missing."
        ),
        "open_reference": ActionSpec(
            "Open Re&ference …", ("Ctrl+R",), "Measure against the undamaged picture."
        ),
        "paste": ActionSpec("&Paste", ("Ctrl+V",), "Open the picture on the clipboard.", icon="paste"),
        "damage": ActionSpec(
            "Simulate &Damage …",
            ("Ctrl+D",),
            "Damage a whole picture on purpose, to try it out.",
            icon="damage",
        ),
        "export": ActionSpec(
            "&Export …", ("Ctrl+Shift+E", "Ctrl+S"), "Write the restored picture to a file.", icon="export"
        ),
        "export_comparison": ActionSpec(
            "Export Comp&arison …", (), "Write the pictures side by side, with PSNR."
        ),
        "export_dictionary": ActionSpec("Export D&ictionary …", (), "Write the selected atoms as a picture."),
        "save_mask": ActionSpec("Save Mas&k …", ("Ctrl+Shift+M",), "Write the mask, white = missing."),
        "open_recipe": ActionSpec(
            "Open Re&cipe …", (), "Take parameters and marks of missing pixels from a recipe."
        ),
        "save_recipe": ActionSpec(
            "Sa&ve Recipe …",
            (),
            "Write the parameters of this run and the marks of missing pixels, to be used again.",
        ),
        "copy": ActionSpec(
            "Cop&y Picture", ("Ctrl+C",), "Put the restored picture on the clipboard.", icon="copy"
        ),
        "batch": ActionSpec(
            "&Restore a Folder …", ("Ctrl+B",), "Restore all pictures of a folder.", icon="batch"
        ),
        "quit": ActionSpec("&Quit", ("Ctrl+Q",), "Close the window."),
    },
    "Mask": {
        "undo": ActionSpec("&Undo", ("Ctrl+Z",), "Take the last stroke back.", icon="undo"),
        "redo": ActionSpec("&Redo", ("Ctrl+Y", "Ctrl+Shift+Z"), "Do it again.", icon="redo"),
        "look": ActionSpec("&Look Around", ("V",), "Drag to move the picture.", checkable=True, icon="hand"),
        "brush": ActionSpec("&Brush", ("P",), "Paint missing pixels.", checkable=True, icon="brush"),
        "eraser": ActionSpec("&Eraser", ("E",), "Unmark missing pixels.", checkable=True, icon="eraser"),
        "rectangle": ActionSpec(
            "Rec&tangle", ("R",), "Mark a rectangle as missing.", checkable=True, icon="rectangle"
        ),
        "smaller": ActionSpec("&Smaller Brush", ("[",), "Make brush and eraser smaller."),
        "larger": ActionSpec("L&arger Brush", ("]",), "Make brush and eraser larger."),
        "invert": ActionSpec("&Invert", ("Ctrl+I",), "Exchange missing and observed pixels.", icon="invert"),
        "clear": ActionSpec("&Clear", ("Ctrl+Backspace",), "Nothing is missing any more.", icon="clear"),
    },
    "Restore": {
        "restore": ActionSpec("&Restore", ("F5",), "Restore the whole picture.", icon="restore"),
        "compare": ActionSpec(
            "&Compare",
            ("F6",),
            "Restore under individual and average sparsity, and show both.",
            icon="compare",
        ),
        "tune": ActionSpec(
            "&Auto", ("F7",), "Let held-out pixels choose the parameters, and restore.", icon="auto"
        ),
        "stop": ActionSpec("&Stop", ("Shift+F5",), "End here and keep what is there.", icon="stop"),
        "cancel": ActionSpec(
            "Ca&ncel", ("Esc",), "Give it up and leave everything as it was.", icon="cancel"
        ),
        "automatic": ActionSpec(
            "Restore after &Every Change", (), "A full restoration follows every change.", checkable=True
        ),
    },
    "View": {
        "side": ActionSpec(
            "&Side by Side", ("1",), "Damaged and restored.", checkable=True, icon="side-by-side"
        ),
        "split": ActionSpec(
            "S&plit", ("2",), "Before and after with a divider.", checkable=True, icon="split"
        ),
        "compared": ActionSpec(
            "Compar&ison", ("3",), "Damaged, individual and average.", checkable=True, icon="triple"
        ),
        "error": ActionSpec(
            "&Error Map",
            ("4",),
            "Original, restored, and where they differ.",
            checkable=True,
            icon="error-map",
        ),
        "show_mask": ActionSpec(
            "Show &Missing Pixels", ("M",), "Hatch missing pixels.", checkable=True, icon="mask"
        ),
        "fit": ActionSpec("&Fit", ("Ctrl+0",), "Show the whole picture.", icon="fit"),
        "actual": ActionSpec(
            "&Actual Size", ("Ctrl+1",), "One pixel of the picture is one of the screen.", icon="actual"
        ),
        "zoom_in": ActionSpec("Zoom I&n", ("Ctrl++", "Ctrl+="), "Enlarge.", icon="zoom-in"),
        "zoom_out": ActionSpec("Zoom &Out", ("Ctrl+-",), "Reduce.", icon="zoom-out"),
        "full_screen": ActionSpec("F&ull Screen", ("F11",), "Use the whole screen.", checkable=True),
    },
    "Help": {
        "shortcuts": ActionSpec("&Keyboard Shortcuts", ("F1",), "All keys on one sheet."),
        "about": ActionSpec("&About", (), "Version, method and licence.", icon="info"),
    },
}
"""All actions by the menu they belong to."""


class Actions(QObject):
    """The actions of `GROUPS`, by name.

    Parameters
    ----------
    parent : QObject
        Their owner.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._by_name = {name: self._make(spec) for group in GROUPS.values() for name, spec in group.items()}

    def __getitem__(self, name: str) -> QAction:
        """Return an action."""
        return self._by_name[name]

    def draw_icons(self, palette: QPalette) -> None:
        """Give the actions icons in the colours of a palette."""
        for group in GROUPS.values():
            for name, spec in group.items():
                if spec.icon:
                    self._by_name[name].setIcon(icon(spec.icon, palette))

    def group(self, title: str) -> list[QAction]:
        """Return the actions of a menu."""
        return [self._by_name[name] for name in GROUPS[title]]

    def _make(self, spec: ActionSpec) -> QAction:
        action = QAction(spec.text, self)
        action.setShortcuts([QKeySequence(key) for key in spec.keys])
        keys = (
            QKeySequence(spec.keys[0]).toString(QKeySequence.SequenceFormat.NativeText) if spec.keys else ""
        )
        action.setToolTip(tooltip(f"{spec.tip} ({keys})" if keys else spec.tip))
        action.setStatusTip(spec.tip)
        action.setCheckable(spec.checkable)
        return action
