"""What can be done in the window: names, keys and explanations; a key in a sentence comes from here."""

from dataclasses import dataclass
from typing import Literal

Need = Literal["nothing", "picture", "result", "undo", "redo", "run", "work"]
"""What an action requires: nothing, something to undo, a run to stop, work to cancel ..."""


@dataclass(frozen=True)
class ActionSpec:
    """Text, shortcuts, icon and requirements of an action."""

    text: str  #: For menus; an ampersand marks its letter, an ellipsis that a dialog follows.
    keys: tuple[str, ...]  #: Shortcuts.
    tip: str  #: What it does, in a sentence.
    icon: str = ""  #: Name of its icon; empty for none.
    needs: Need = "picture"  #: What it requires to be enabled.
    checkable: bool = False  #: Whether it is on or off.


#: All actions by name but those of tools and view modes, which come from their registries.
SPECS = {
    "open": ActionSpec(
        "&Open …", ("Ctrl+O",), "Open a damaged or an intact picture.", "open", needs="nothing"
    ),
    "open_mask": ActionSpec(
        "Open &Mask …", ("Ctrl+M",), "Read the missing pixels from a picture, white = missing."
    ),
    "open_reference": ActionSpec("Open Re&ference …", ("Ctrl+R",), "Measure against the undamaged picture."),
    "paste": ActionSpec(
        "&Paste", ("Ctrl+V",), "Open the picture on the clipboard.", "paste", needs="nothing"
    ),
    "damage": ActionSpec(
        "Simulate &Damage …",
        ("Ctrl+D",),
        "Damage an intact picture, to see how well it is restored.",
        "damage",
    ),
    "export": ActionSpec(
        "&Export …",
        ("Ctrl+Shift+E", "Ctrl+S"),
        "Write the restored picture to a file.",
        "export",
        needs="result",
    ),
    "export_comparison": ActionSpec(
        "Export Comp&arison …", (), "Write the pictures side by side, with PSNR.", needs="result"
    ),
    "export_dictionary": ActionSpec(
        "Export D&ictionary …", (), "Write the selected atoms as a picture.", needs="result"
    ),
    "save_project": ActionSpec(
        "Save Pro&ject …",
        ("Ctrl+Shift+S",),
        "Save mask, parameters and results, to go on with them later; the picture stays where it is.",
    ),
    "save_mask": ActionSpec("Save Mas&k …", ("Ctrl+Shift+M",), "Write the mask, white = missing."),
    "open_recipe": ActionSpec(
        "Open Re&cipe …", (), "Read parameters and marks of missing pixels from a recipe.", needs="nothing"
    ),
    "save_recipe": ActionSpec(
        "Sa&ve Recipe …", (), "Save the parameters of this run and how pixels are marked.", needs="result"
    ),
    "copy": ActionSpec(
        "Cop&y Picture", ("Ctrl+C",), "Copy the restored picture to the clipboard.", "copy", needs="result"
    ),
    "batch": ActionSpec(
        "&Restore a Folder …", ("Ctrl+B",), "Restore all pictures of a folder.", "batch", needs="nothing"
    ),
    "preferences": ActionSpec(
        "Pre&ferences …", ("Ctrl+,",), "Choose the theme and what happens after a change.", needs="nothing"
    ),
    "close": ActionSpec("C&lose", ("Ctrl+W",), "Close the picture."),
    "quit": ActionSpec("&Quit", ("Ctrl+Q",), "Close the window.", needs="nothing"),
    "repair": ActionSpec(
        "Repair &Photo", ("F4",), "Find cracks, scratches and dust, and restore them.", "repair"
    ),
    "find_damage": ActionSpec("&Find Damage", ("Ctrl+F",), "Mark scratches, dust and other damage.", "find"),
    "next_mark": ActionSpec("Ne&xt Mark", ("F3",), "Go to the next mark of found damage."),
    "previous_mark": ActionSpec(
        "Pre&vious Mark", ("Shift+F3",), "Go to the last mark of found damage before this one."
    ),
    "remove_mark": ActionSpec(
        "Re&move Mark", ("Del",), "Remove the mark of found damage that Next Mark has gone to."
    ),
    "undo": ActionSpec(
        "&Undo", ("Ctrl+Z",), "Undo the last change to the mask or the parameters.", "undo", needs="undo"
    ),
    "redo": ActionSpec(
        "&Redo", ("Ctrl+Y", "Ctrl+Shift+Z"), "Redo the last undone change.", "redo", needs="redo"
    ),
    "smaller": ActionSpec("&Smaller Brush", ("[",), "Make brush and eraser smaller."),
    "larger": ActionSpec("L&arger Brush", ("]",), "Make brush and eraser larger."),
    "grow": ActionSpec("&Grow", ("Ctrl+]",), "Grow the missing area by one pixel on every side."),
    "shrink": ActionSpec("Sh&rink", ("Ctrl+[",), "Shrink the missing area by one pixel on every side."),
    "invert": ActionSpec("&Invert", ("Ctrl+I",), "Swap missing and observed pixels.", "invert"),
    "clear": ActionSpec("&Clear", ("Ctrl+Backspace",), "Clear the mask.", "clear"),
    "restore": ActionSpec("&Restore", ("F5",), "Restore the whole picture.", "restore"),
    "another_fill": ActionSpec(
        "&Try Another Fill",
        ("Ctrl+T",),
        "Fill wide holes with other pieces of the picture; results before stay in the history.",
        needs="result",
    ),
    "fill_network": ActionSpec(
        "Fill &Holes by a Network …",
        (),
        "Fill wide holes by a network of your own, from an ONNX file.",
    ),
    "compare": ActionSpec(
        "&Compare Constraints", ("F6",), "Restore under each sparsity constraint.", "compare"
    ),
    "tune": ActionSpec(
        "&Auto Parameters", ("F7",), "Tune the parameters on held-out pixels, then restore.", "auto"
    ),
    "stop": ActionSpec("&Stop", ("Shift+F5",), "Stop and keep the current result.", "stop", needs="run"),
    "cancel": ActionSpec("Ca&ncel", ("Esc",), "Cancel and discard.", "cancel", needs="work"),
    "automatic": ActionSpec(
        "Restore after &Every Change",
        (),
        "Restore the whole picture after every change.",
        needs="nothing",
        checkable=True,
    ),
    "show_mask": ActionSpec("Show &Missing Pixels", ("M",), "Hatch missing pixels.", "mask", checkable=True),
    "fit": ActionSpec("&Fit", ("Ctrl+0",), "Show the whole picture.", "fit"),
    "actual": ActionSpec(
        "&Actual Size", ("Ctrl+1",), "Show one pixel of the picture per screen pixel.", "actual"
    ),
    "zoom_in": ActionSpec("Zoom I&n", ("Ctrl++", "Ctrl+="), "Enlarge the picture.", "zoom-in"),
    "zoom_out": ActionSpec("Zoom &Out", ("Ctrl+-",), "Reduce the picture.", "zoom-out"),
    "full_screen": ActionSpec(
        "F&ull Screen", ("F11",), "Switch full screen on or off.", needs="nothing", checkable=True
    ),
    "shortcuts": ActionSpec("&Keyboard Shortcuts", ("F1",), "List all keyboard shortcuts.", needs="nothing"),
    "manual": ActionSpec(
        "&Manual", (), "Read how to find, mark and restore damage.", "info", needs="nothing"
    ),
    "copy_details": ActionSpec(
        "Copy &Details", (), "Copy versions and the end of the log, to report a mistake.", needs="nothing"
    ),
    "about": ActionSpec("&About", (), "Show version, method and license.", needs="nothing"),
}


def key_of(name: str) -> str:
    """Return the first shortcut of an action, for sentences that name it.

    Parameters
    ----------
    name : str
        One of `SPECS`.
    """
    return SPECS[name].keys[0]
