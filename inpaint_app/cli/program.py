"""The command `inpaint`: its commands, and how it ends."""

import argparse
import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from dictsel_core import __version__
from inpaint_app.cli.commands import (
    batch,
    compare,
    completion,
    damage,
    detect,
    dictionary,
    repair,
    restore,
    score,
    tune,
)
from inpaint_app.cli.parser import Parser
from inpaint_app.cli.streams import print_note
from inpaint_app.errors import UserError
from inpaint_app.files.paths import STDIN

_DESCRIPTION = """\
Restore the missing pixels of damaged pictures: dropped pixels, scratches, stamped
text, holes.

A small dictionary of cosines and wavelets is selected on the observed pixels; every
patch is then coded with a few of its atoms and refined with similar patches. The
picture itself is all that is needed: nothing is downloaded and nothing leaves this
machine."""

_EPILOG = """\
examples:
  Missing pixels are transparent; the result is photo_restored.png:
    inpaint restore photo.png
  They are white in a mask, or have a marking color:
    inpaint restore scan.jpg --mask scratches.png
    inpaint restore scan.jpg --key '#ff00ff'
  They are cracks, scratches and dust, to be found first:
    inpaint repair scan.jpg
    inpaint detect scan.jpg
    inpaint restore scan.jpg --detect scratches,dust
  Make a test case, restore it, and measure the result:
    inpaint damage photo.png -o damaged.png --missing 0.8
    inpaint restore damaged.png --reference photo.png
  A whole folder:
    inpaint batch scans/ -o restored/
  Between other programs:
    curl -s URL | inpaint restore - -o - | display

'inpaint COMMAND --help' explains one command. Existing files are never replaced
without --overwrite. Exit codes: 0 done, 1 some files of a batch failed, 2 the
input is wrong, 130 stopped by Ctrl-C."""

#: In the order in which they are listed.
COMMANDS = tuple(
    module.COMMAND
    for module in (repair, restore, batch, compare, detect, damage, score, tune, dictionary, completion)
)


def parser() -> Parser:
    """Return the parser of all commands."""
    top = Parser(prog="inpaint", description=_DESCRIPTION, epilog=_EPILOG)
    top.add_argument("--version", action="version", version=f"inpaint {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for command in COMMANDS:
        own = commands.add_parser(
            command.name,
            help=command.summary,
            usage=f"inpaint {command.usage}",
            description=command.summary,
            epilog=command.details,
        )
        command.add_options(own)
        own.set_defaults(run=command.run, parser=top)
    return top


def run(argv: list[str]) -> int:
    """Parse and run; a mistake of the user is raised as `UserError`."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    top = parser()
    try:
        with _terminate_cleanly():
            args = top.parse_args(["--help"] if argv == ["help"] else argv)
            if args.command is None:
                top.print_help()
                return 0
            _check_stdin(args)
            code: int = args.run(args)
            return code
    except MemoryError:
        print_note("inpaint: There is not enough memory; scale the picture down first.\n")
    except SystemExit as end:  # --help, --version, termination
        return end.code if isinstance(end.code, int) else 0
    return 2


def _check_stdin(args: argparse.Namespace) -> None:
    if sum(isinstance(value, Path) and value == STDIN for value in vars(args).values()) > 1:
        raise UserError("Standard input can be read only once", "give a file for all but one of them")


@contextlib.contextmanager
def _terminate_cleanly() -> Iterator[None]:
    """Let a request to end (SIGTERM, SIGHUP) unwind like Ctrl-C, so that no temporary file is left.

    What is ignored stays ignored: under nohup, the command outlives its terminal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {getattr(signal, name): signal.getsignal(getattr(signal, name)) for name in names}
    handled = [number for number, handler in before.items() if handler not in (signal.SIG_IGN, None)]

    def leave(number: int, _frame: FrameType | None) -> None:
        for other in handled:  # a closing terminal asks more than once, and must not disturb the clearing up
            signal.signal(other, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for number in handled:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])
