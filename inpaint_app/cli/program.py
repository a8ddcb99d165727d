"""The command `inpaint`: its commands, and how it ends."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from types import FrameType

import click
from click.shell_completion import shell_complete

from dictsel_core import __version__
from inpaint_app.cli.arguments import did_you_mean, help_option, parse, run_program, see_help, version_option
from inpaint_app.cli.streams import CommandLineError, print_note, print_report
from inpaint_app.system import ENDING_SIGNALS

DESCRIPTION = """\
Restore the missing pixels of damaged pictures: dropped pixels, scratches, stamped
text, holes.

A small dictionary of cosines and wavelets is selected on the observed pixels; every
patch is then coded with a few of its atoms and refined with similar patches. The
picture itself is all that is needed: nothing is downloaded and nothing leaves this
machine."""

EXAMPLES = """\
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

#: The variable by which the script of a shell asks what a word may become.
COMPLETION_VARIABLE = "_INPAINT_COMPLETE"
#: What each command does, in the order in which they are listed; its module is loaded when it is needed.
COMMANDS = {
    "repair": "Find cracks, scratches and dust of a photograph, and restore them.",
    "restore": "Restore the missing pixels of one picture.",
    "batch": "Restore the missing pixels of many pictures.",
    "compare": "Restore under each constraint, and draw the results side by side with their PSNR.",
    "detect": "Find scratches, dust and other damage, and write a mask of it.",
    "damage": "Damage an intact picture on purpose, to see how well it can be restored.",
    "score": "Measure how close picture B is to its original A: PSNR in decibels, and SSIM.",
    "tune": "Choose the settings that restore a picture best, without the original.",
    "dictionary": "Draw the dictionary that is selected to restore a picture.",
    "completion": "Print a script that lets a shell complete commands, options and names of files.",
}


class _Program(click.Group):
    """All commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return their names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"inpaint_app.cli.commands.{cmd_name}").COMMAND
        command.help = COMMANDS[cmd_name]
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options of the program itself."""
        return parse(super().parse_args, ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called, and its words."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            hint = did_you_mean(args[0], COMMANDS, see_help(ctx), f"'{ctx.command_path} {{}}'")
            raise CommandLineError(f"There is no command {args[0][:40]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help."""
        formatter.write_usage(ctx.command_path, "COMMAND ...", prefix="usage: ")
        formatter.write(f"\n{DESCRIPTION}\n")
        with formatter.section("commands"):
            formatter.write_dl(list(COMMANDS.items()))
        with formatter.section("options"):
            options = [each for each in self.params if isinstance(each, click.Option)]
            formatter.write_dl([(", ".join(each.opts), each.help or "") for each in options])
        formatter.write(f"\n{EXAMPLES}\n")


def _without_command() -> int:
    """Show the help where no command is given."""
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        print_report(f"{context.get_help()}\n")
    return 0


PROGRAM = _Program(
    "inpaint",
    callback=_without_command,
    invoke_without_command=True,
    params=[help_option(), version_option(f"inpaint {__version__}")],
    add_help_option=False,
    context_settings={"max_content_width": 100},
)


def run(argv: list[str]) -> int:
    """Parse and run; a mistake of the user is raised as `UserError`."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    asked = os.environ.get(COMPLETION_VARIABLE)
    if asked:
        import_module("inpaint_app.cli.commands.completion")
        return shell_complete(PROGRAM, {}, "inpaint", COMPLETION_VARIABLE, asked)
    try:
        with _terminate_cleanly():
            return run_program(PROGRAM, "inpaint", ["--help"] if argv == ["help"] else argv)
    except MemoryError:
        print_note("inpaint: There is not enough memory; scale the picture down first.\n")
    except SystemExit as end:  # asked to end
        return end.code if isinstance(end.code, int) else 0
    return 2


@contextlib.contextmanager
def _terminate_cleanly() -> Iterator[None]:
    """Let a request to end (SIGTERM, SIGHUP) unwind like Ctrl-C, so that no temporary file is left.

    What is ignored stays ignored: under nohup, the command outlives its terminal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
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
