"""All that can be done in the window: one table of names, keys, menus, explanations and what is run.

A key that a sentence names comes from here.
"""

from dataclasses import dataclass
from typing import Literal, cast

Need = Literal["nothing", "picture", "pages", "result", "undo", "redo", "run", "work"]
"""What an action requires: nothing, something to undo, a run to stop, work to cancel ..."""

#: Of each menu its title, then its actions; "-" begins another section, and an @ marks what is no single
#: action. Of each action its name, its text (an ampersand marks its letter, an ellipsis that a dialog
#: follows), keys, icon (a file of `assets/icons`), what it needs, and the method of the window or of one of
#: its parts that it runs, with "(on)" if it is on or off, or with a whole number or a word for it. Below
#: that, what it does, in a sentence.
_TABLE = """
&File
open | &Open … | Ctrl+O | open | nothing | files.open
    Open a damaged or an intact picture.
@recent
@sample
-
open_mask | Open &Mask … | Ctrl+M |  | picture | files.read(mask)
    Read the missing pixels from a picture, white = missing.
open_reference | Open Re&ference … | Ctrl+R |  | picture | files.read(reference)
    Measure against the undamaged picture.
open_recipe | Open Re&cipe … |  |  | nothing | files.read(recipe)
    Read parameters and marks of missing pixels from a recipe.
damage | Simulate &Damage … | Ctrl+D | damage | picture | files.damage
    Damage an intact picture, to see how well it is restored.
-
export | &Export … | Ctrl+Shift+E Ctrl+S | export | result | files.export
    Write the restored picture to a file.
save_project | Save Pro&ject … | Ctrl+Shift+S |  | picture | files.write(project)
    Save mask, parameters and results, to go on with them later; the picture stays where it is.
-
export_comparison | Export Comp&arison … |  |  | result | files.write(comparison)
    Write the pictures side by side, with PSNR.
export_dictionary | Export D&ictionary … |  |  | result | files.write(dictionary)
    Write the selected atoms as a picture.
save_mask | Save Mas&k … | Ctrl+Shift+M |  | picture | files.write(mask)
    Write the mask, white = missing.
save_recipe | Sa&ve Recipe … |  |  | result | files.write(recipe)
    Save the parameters of this run and how pixels are marked.
-
batch | &Restore a Folder … | Ctrl+B | batch | nothing | files.batch
    Restore all pictures of a folder.
-
close | C&lose | Ctrl+W |  | picture | files.close_picture
    Close the picture.
quit | &Quit | Ctrl+Q |  | nothing | close
    Close the window.

&Edit
undo | &Undo | Ctrl+Z | undo | undo | session.history.undo
    Undo the last change to the mask or the parameters.
redo | &Redo | Ctrl+Y Ctrl+Shift+Z | redo | redo | session.history.redo
    Redo the last undone change.
-
copy | Cop&y Picture | Ctrl+C | copy | result | files.copy
    Copy the restored picture to the clipboard.
paste | &Paste | Ctrl+V | paste | nothing | files.paste
    Open the picture on the clipboard.
-
smaller | &Smaller Brush | [ |  | picture | view.resize_brush(-1)
    Make brush and eraser smaller.
larger | &Larger Brush | ] |  | picture | view.resize_brush(1)
    Make brush and eraser larger.
softer | S&ofter Brush | Shift+[ |  | picture | view.harden_brush(-1)
    Let strokes of the healing brush fade out towards their rim.
harder | &Harder Brush | Shift+] |  | picture | view.harden_brush(1)
    Let strokes of the healing brush end at their rim.
-
preferences | Pre&ferences … | Ctrl+, |  | nothing | choices.show_dialog
    Choose the theme and what happens after a change.

&Mask
find_damage | &Find Damage | Ctrl+F | find | picture | find_damage
    Mark scratches, dust and other damage.
next_mark | Ne&xt Mark | F3 |  | picture | session.finding.step(1)
    Go to the next mark of found damage.
previous_mark | Pre&vious Mark | Shift+F3 |  | picture | session.finding.step(-1)
    Go to the last mark of found damage before this one.
remove_mark | Re&move Mark | Del |  | picture | session.finding.remove
    Remove the mark of found damage that Next Mark has gone to.
-
@tools
-
grow | &Grow | Ctrl+] |  | picture | session.masking.resize(1)
    Grow the missing area by one pixel on every side.
shrink | Sh&rink | Ctrl+[ |  | picture | session.masking.resize(-1)
    Shrink the missing area by one pixel on every side.
invert | &Invert | Ctrl+I | invert | picture | session.masking.invert
    Swap missing and observed pixels.
clear | &Clear | Ctrl+Backspace | clear | picture | session.masking.clear
    Clear the mask.

&Restore
repair | Repair &Photo | F4 | repair | picture | session.repairing.repair
    Find cracks, scratches and dust, and restore them.
restore | &Restore | F5 | restore | picture | session.running.restore
    Restore the whole picture.
restore_pages | Restore Whole Fi&le … |  |  | pages | files.restore_pages
    Restore all pages and bands of the file in full size, and write them to another one.
another_fill | &Try Another Fill | Ctrl+T |  | result | session.filling.try_another
    Fill wide holes with other pieces of the picture; results before stay in the history.
fill_network | Fill &Holes by a Network … |  |  | picture | files.read(network)
    Fill wide holes by a network of your own, from an ONNX file.
tune | &Auto Parameters | F7 | auto | picture | session.running.tune
    Tune the parameters on held-out pixels, then restore.
sweep | S&weep a Parameter … | Shift+F7 |  | picture | show_sweep
    Draw the PSNR over a parameter; a click on the curve takes its value.
compare | &Compare Constraints | F6 | compare | picture | session.running.compare
    Restore under each sparsity constraint; refinement hides most of the difference.
-
stop | &Stop | Shift+F5 | stop | run | session.stop
    Stop and keep the current result.
cancel | Ca&ncel | Esc | cancel | work | cancel
    Cancel and discard.
-
reset_settings | Reset Para&meters |  |  | nothing | session.reset_settings
    Go back to the parameters that every picture begins with.
default_settings | Use Parameters by &Default |  |  | nothing | choices.use_settings_by_default
    Let every picture begin with the parameters as they are now.
-
automatic | Restore after &Every Change |  |  | nothing | session.set_automatic(on)
    Restore the whole picture after every change.

&View
study | S&tudy | F8 | study | nothing | view.show_study(on)
    Judge the method: before and after with PSNR, parameters, dictionary, history.
retouch | Retou&ch | F9 | heal | nothing | view.show_retouch(on)
    Mend a photograph: one picture, as large as the window allows.
-
@modes
-
show_mask | Show &Missing Pixels | M | mask | picture | view.show_mask(on)
    Hatch missing pixels.
-
previous_page | Pre&vious Page | PgUp |  | pages | view.turn_page(-1)
    Show the page before this one.
next_page | Ne&xt Page | PgDown |  | pages | view.turn_page(1)
    Show the page after this one.
-
fit | &Fit | Ctrl+0 | fit | picture | viewer.viewport.fit
    Show the whole picture.
actual | &Actual Size | Ctrl+1 | actual | picture | viewer.viewport.show_actual_size
    Show one pixel of the picture per screen pixel.
zoom_in | Zoom I&n | Ctrl++ Ctrl+= | zoom-in | picture | viewer.viewport.zoom_step(1)
    Enlarge the picture.
zoom_out | Zoom &Out | Ctrl+- | zoom-out | picture | viewer.viewport.zoom_step(-1)
    Reduce the picture.
-
@docks
-
@theme
hide_panels | &Without Panels | F12 |  | nothing | hide_panels(on)
    Show the picture without tools and panels; Tab on the picture does the same.
full_screen | F&ull Screen | F11 |  | nothing | set_full_screen(on)
    Fill the screen with the picture; Esc returns.

&Help
manual | &Manual |  | info | nothing | show_manual
    Read how to find, mark and restore damage.
shortcuts | &Keyboard Shortcuts | F1 |  | nothing | show_shortcuts
    List all keyboard shortcuts.
-
copy_details | Copy &Details |  |  | nothing | copy_details
    Copy versions and the end of the log, to report a mistake.
about | &About |  |  | nothing | show_about
    Show version, method and license.
"""
#: The tools, of which `canvas.tools.registry` has the classes.
_TOOLS = """
heal | &Healing Brush | H | heal | picture | (on)
    Paint over damage, or once around it: it is restored when you let go. Alt+click: copy texture from there.
clone | Clone &Stamp | S | clone | picture | (on)
    Copy pixels as they are: Alt+click where from, then paint.
pan | &Pan | V | hand | picture | (on)
    Drag to move the picture.
brush | &Brush | P | brush | picture | (on)
    Paint missing pixels.
eraser | &Eraser | E | eraser | picture | (on)
    Unmark missing pixels.
rectangle | Rec&tangle | R | rectangle | picture | (on)
    Mark a rectangle as missing.
lasso | &Lasso | L | lasso | picture | (on)
    Mark what you draw around as missing.
polygon | Pol&ygon | G | polygon | picture | (on)
    Click corners; a double-click or Return marks what they surround.
object | Ob&ject Outline | A | object | picture | (on)
    Draw loosely around an object: the line snaps to it, and it is missing.
wand | Magic &Wand | W | wand | picture | (on)
    Mark the connected pixels of a color as missing.
eyedropper | Marking C&olor | O | eyedropper | picture | (on)
    Click a color: all pixels like it are missing.
pick | Pic&k Found Damage | K | pick | picture | (on)
    Click or draw around marks to remove them; right button: bring back; Shift: only these count.
region | Meas&ure Region | U | measure | picture | (on)
    Draw around a part: the PSNR in it is measured for all runs.
copy_area | Clo&ne from Here | C | copy | picture | (on)
    Draw around what may fill wide holes; with the right button, what may not. A click forgets both.
"""


#: The view modes, which `view_state` has.
_MODES = """
view result | &Result | 0 | picture | picture | (on)
    The picture as it is now, alone; hold B to see the damage.
view side | &Side by Side | 1 | side-by-side | picture | (on)
    Damaged and restored.
view split | S&plit | 2 | split | picture | (on)
    Before and after with a divider.
view compare | Compar&ison | 3 | triple | picture | (on)
    Two runs of the history, or one under each constraint.
view error | &Error Map | 4 | error-map | picture | (on)
    Original, restored and their difference.
view split-compare | Sp&lit Comparison | 5 | split-two | picture | (on)
    Two runs with a divider.
"""


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
    specs, menus = Specs(), Menus()
    lines, sections = iter(table.strip().splitlines()), [list[str]()]
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


#: All actions by name but those of tools and view modes; and the menus by title: sections of names.
SPECS, MENUS = _read(_TABLE)
TOOL_SPECS, MODE_SPECS = _read(_TOOLS)[0], _read(_MODES)[0]

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
