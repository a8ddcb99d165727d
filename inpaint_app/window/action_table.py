"""All that can be done in the window: names, keys, menus, explanations and what is run, from one table.

The table is `assets/actions.txt`. A key that a sentence names comes from here.
"""

from dataclasses import dataclass
from typing import Literal, cast

from inpaint_app.io.assets import asset

Need = Literal["nothing", "picture", "pages", "result", "undo", "redo", "run", "work"]
"""What an action requires: nothing, something to undo, a run to stop, work to cancel ..."""


@dataclass(frozen=True)
class ActionSpec:
    """An action as the table has it."""

    text: str
    keys: tuple[str, ...]
    tip: str  #: What it does, in a sentence.
    icon: str = ""  #: Empty for none.
    needs: Need = "picture"
    checkable: bool = False  #: Whether it is on or off.
    run: str = ""  #: Empty where whoever makes it sees to that.
    argument: int | str | None = None  #: What is given to the method that it runs.


Specs = dict[str, ActionSpec]
Menus = dict[str, list[list[str]]]


def _given(argument: str) -> int | str | None:
    """Return what is given to a method."""
    if argument in ("", "on"):
        return None
    return argument if argument.isalpha() else int(argument)


def _read(table: str) -> tuple[Specs, Menus]:
    """Return the actions of a part of the table, and its menus by title: sections of names."""
    specs, menus = Specs(), Menus()
    lines, sections = (line for line in table.splitlines() if not line.startswith("#")), [list[str]()]
    for line in lines:
        name, *cells = (cell.strip() for cell in line.split("|"))
        if line.startswith("&"):
            sections = menus[line] = [[]]
        elif line == "-":
            sections.append([])
        elif line:
            sections[-1].append(name)
        if cells:
            text, keys, icon, needs, run = cells
            method, _, argument = run.rstrip(")").partition("(")
            specs[name] = ActionSpec(
                text,
                tuple(keys.split()),
                next(lines).strip(),
                icon,
                cast(Need, needs),
                checkable=argument == "on",
                run=method,
                argument=_given(argument),
            )
    return specs, menus


#: All actions by name, those of tools and of view modes apart; with the first, the menus.
(SPECS, MENUS), (TOOL_SPECS, _), (MODE_SPECS, _) = map(
    _read, asset("actions.txt").read_text("utf-8").split("\n\n\n")
)

#: The sections of the toolbar, and of the menu of the right button on a picture.
TOOLBAR = (
    ("open", "export"),
    ("undo", "redo"),
    ("repair", "find_damage", "restore", "stop"),
    ("@workspaces", "@space"),
    ("@modes",),
    ("show_mask", "fit", "actual"),
)
TOOL_STRIP = (("@tools",),)
CONTEXT = (("undo", "redo"), ("find_damage", "@tools"), ("restore", "copy"), ("show_mask", "fit", "actual"))
#: Actions with their name beside their icon,
LABELED = ("open", "export", "repair", "find_damage", "restore", "stop")
#: and those that keep it in a narrow window.
ALWAYS_LABELED = ("restore", "stop")

#: Keys that the user has given to actions, tools and view modes, by name; `Actions` alone changes them.
OWN_KEYS: dict[str, str] = {}


def key_hint(*names: str) -> str:
    """Return the shortcuts of actions or tools in brackets, for sentences that name what they do before.

    Empty if the user took them away.
    """
    known = SPECS | TOOL_SPECS
    keys = [key for name in names if (key := OWN_KEYS.get(name, known[name].keys[0]))]
    return f" ({' and '.join(keys)})" if keys else ""
