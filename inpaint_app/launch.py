"""The command `inpaint-app`: starts the window where there is a display for it."""

import os
import sys
from types import SimpleNamespace

from dictsel_core import __version__
from inpaint_app.cli import exit_on_interrupt, run_command
from inpaint_app.cli.arguments import (
    PATH,
    Argument,
    BadValueError,
    Command,
    Option,
    Value,
    run_program,
    version_option,
)
from inpaint_app.cli.options import one_of
from inpaint_app.cli.streams import CommandLineError, print_note
from inpaint_app.system import has_display
from inpaint_app.system_libraries import missing_packages
from inpaint_app.window.document.view_state import SIDE_BY_SIDE, VIEW_MODES


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    try:
        size = int(width), int(height)
    except ValueError:
        raise BadValueError(f"needs a size such as 1280x720, not {text[:40]!r}.") from None
    if not all(200 <= side <= 16384 for side in size):
        raise BadValueError(f"needs 200 to 16384 pixels a side, not {text[:40]!r}.")
    return size


_THEMES = ("system", "light", "dark")
_PARAMETERS = [
    Argument("file", "FILE", PATH, "a picture to open", required=False),
    Option("--mask M", "a mask of its missing pixels, white = missing", PATH),
    Option("--reference R", "the undamaged picture, to measure against", PATH),
    Option("--sample", "open the bundled sample"),
    Option("--reset", "reset what the window remembers"),
    Option(f"--theme {'|'.join(_THEMES)}", "colors of the window", one_of(_THEMES)),
    Option("--size WxH", "size of the window in pixels", Value(_size)),
    Option("--screenshot PNG", "restore, save a screenshot of the window, and exit", PATH),
    Option(
        f"--view {'|'.join(VIEW_MODES)}",
        "what the window shows",
        one_of(VIEW_MODES),
        default=SIDE_BY_SIDE.name,
    ),
    Option("--overwrite", "replace an existing screenshot"),
    version_option(f"inpaint-app {__version__}"),
]


def _start(args: SimpleNamespace) -> int:
    if args.file is None and (args.mask is not None or args.reference is not None):
        raise CommandLineError("--mask and --reference belong to a picture; give its FILE too.")
    if not has_display():
        if args.screenshot is None:
            print_note(
                "inpaint-app: There is no display to open a window on; use the command inpaint instead.\n"
            )
            return 1
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    elif not os.environ.get("WAYLAND_DISPLAY") and (packages := missing_packages()):
        # Qt would end the process with a text of its own.
        print_note(f"inpaint-app: The window cannot open; first install {' '.join(packages)}\n")
        return 1
    try:
        with exit_on_interrupt("inpaint-app"):
            from inpaint_app.window.app import main as run  # noqa: PLC0415  (Qt only where it is needed)
    except ImportError as error:
        print_note(f"inpaint-app: {_reason(error)}\n")
        return 1
    return run(args)


_COMMAND = Command(
    "inpaint-app [FILE] [options]",
    _PARAMETERS,
    _start,
    None,
    about="Restore the missing pixels of a picture in a window.",
)


def _reason(error: ImportError) -> str:
    """Return why the window cannot open, and what to do about it."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "PySide6":
        return 'The window needs Qt, which is not installed; install it with: pip install "dictsel[app]"'
    return f"The window cannot open ({error}); install what is missing."


def main(argv: list[str] | None = None) -> int:
    """Start the window, or say why that cannot be done."""
    words = sys.argv[1:] if argv is None else argv
    return run_command(
        lambda: lambda: run_program(_COMMAND, "inpaint-app", words), is_process=False, program="inpaint-app"
    )


if __name__ == "__main__":
    sys.exit(main())
