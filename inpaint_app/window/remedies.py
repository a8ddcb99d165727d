"""What the user can do about a problem, in terms of the window."""

from inpaint_app.errors import Remedy
from inpaint_app.window.action_table import key_hint


def remedies() -> dict[Remedy, str]:
    """Return what to do about each problem, with the keys as they are now."""
    return {
        Remedy.REPLACE_FILE: "choose another name, or agree to replace it",
        Remedy.REPLACE_SOURCES: "choose another folder, or allow existing files to be replaced",
        Remedy.MARK_MISSING: (
            f"find the damage{key_hint('find_damage')}, paint over it{key_hint('brush')}, or open a mask"
        ),
        Remedy.INVERT_MASK: "paint missing pixels white in it, or invert it",
        Remedy.MARK_LESS: f"erase some of the mask{key_hint('eraser')}, or invert it{key_hint('invert')}",
        Remedy.CHECK_INVERTED: "open it together with its picture, where it can be inverted or kept",
        Remedy.CHECK_UNINVERTED: "open it together with its picture, where it can be inverted or kept",
        Remedy.CHECK_PHOTOGRAPH: "give a picture that is white where pixels are missing",
        Remedy.ALLOW_TOLERANCE: "check the color, or allow a tolerance",
        Remedy.REDUCE_DEPTH: "write TIFF, or PNG for 16 bits, or choose a depth of 8 bits",
        Remedy.GIVE_RECIPE: "choose a file written by Save Recipe",
        Remedy.RESTORE_ARRAY: (
            f"restore all of it by File > Restore a Folder{key_hint('batch')} or the command "
            "'inpaint restore', since the window cannot show it"
        ),
        Remedy.ACCEPT_LOSS: "choose a format that holds them, or accept that they are lost",
        Remedy.RESTORE_FOLDER: (
            f"choose a picture inside it, or use File > Restore a Folder{key_hint('batch')}"
        ),
    }
