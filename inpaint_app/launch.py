"""The command `inpaint-app`: starts the window where there is a display for it."""

import os
import sys
from pathlib import Path

from dictsel_core import __version__
from inpaint_app.cli import exit_on_interrupt, run_command
from inpaint_app.cli.parser import BadValueError, Parser, one_of
from inpaint_app.cli.streams import CommandLineError, print_note
from inpaint_app.window.session.view_modes import SIDE_BY_SIDE, VIEW_MODES

_NO_DISPLAYS = ("offscreen", "minimal")


def has_display() -> bool:
    """Whether a window can appear."""
    platform = os.environ.get("QT_QPA_PLATFORM", "")
    if platform.partition(":")[0] in _NO_DISPLAYS:
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(platform or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def parser() -> Parser:
    """Return the options."""
    options = Parser(prog="inpaint-app", description="Restore the missing pixels of a picture in a window.")
    options.add_argument("--version", action="version", version=f"inpaint-app {__version__}")
    options.add_argument("file", metavar="FILE", nargs="?", type=Path, help="a picture to open")
    options.add_argument(
        "--mask", metavar="M", type=Path, help="a mask of its missing pixels, white = missing"
    )
    options.add_argument(
        "--reference", metavar="R", type=Path, help="the undamaged picture, to measure against"
    )
    options.add_argument("--sample", action="store_true", help="open the bundled sample")
    options.add_argument("--reset", action="store_true", help="reset what the window remembers")
    options.add_argument(
        "--theme",
        metavar="system|light|dark",
        type=one_of(("system", "light", "dark")),
        help="colors of the window",
    )
    options.add_argument("--size", metavar="WxH", type=_size, help="size of the window in pixels")
    options.add_argument(
        "--screenshot", metavar="PNG", type=Path, help="restore, save a screenshot of the window, and exit"
    )
    options.add_argument(
        "--view",
        metavar="|".join(VIEW_MODES),
        type=one_of(VIEW_MODES),
        default=SIDE_BY_SIDE.name,
        help="what the window shows",
    )
    options.add_argument("--overwrite", action="store_true", help="replace an existing screenshot")
    return options


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    try:
        size = int(width), int(height)
    except ValueError:
        raise BadValueError(f"needs a size such as 1280x720, not {text[:40]!r}.") from None
    if not all(200 <= side <= 16384 for side in size):
        raise BadValueError(f"needs 200 to 16384 pixels a side, not {text[:40]!r}.")
    return size


def _reason(error: ImportError) -> str:
    """Return why the window cannot open, and what to do about it."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "PySide6":
        return 'The window needs Qt, which is not installed; install it with: pip install "dictsel[app]"'
    return f"The window cannot open ({error}); install what is missing."


def main(argv: list[str] | None = None) -> int:
    """Start the window, or say why that cannot be done."""
    return run_command(lambda: lambda: _start(argv), is_process=False, program="inpaint-app")


def _start(argv: list[str] | None) -> int:
    try:
        args = parser().parse_args(argv)
    except SystemExit as end:  # --help, --version
        return end.code if isinstance(end.code, int) else 0
    if args.file is None and (args.mask is not None or args.reference is not None):
        raise CommandLineError("--mask and --reference belong to a picture; give its FILE too.")
    if not has_display():
        if args.screenshot is None:
            print_note(
                "inpaint-app: There is no display to open a window on; use the command inpaint instead.\n"
            )
            return 1
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    try:
        with exit_on_interrupt("inpaint-app"):
            from inpaint_app.window.app import main as run  # noqa: PLC0415  (Qt only where it is needed)
    except ImportError as error:
        print_note(f"inpaint-app: {_reason(error)}\n")
        return 1
    return run(args)


if __name__ == "__main__":
    sys.exit(main())
