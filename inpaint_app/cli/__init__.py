"""The command line. It runs without Qt; `main` is the command `inpaint`."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments without the program's name; those of the process if left out.

    Returns
    -------
    int
        Exit code: 0 done, 1 some files of a batch failed, 2 the input is wrong, 130 stopped by Ctrl-C.
    """

    def command() -> int:
        # Imported here, so that Ctrl-C while the libraries load ends without a traceback too.
        from inpaint_app.cli.program import run

        return run(sys.argv[1:] if argv is None else list(argv))

    return guarded(command)


def guarded(command: Callable[[], int]) -> int:
    """Run something and return its exit code; a mistake of the user ends in one sentence."""
    try:
        return command()
    except KeyboardInterrupt:
        # A second Ctrl-C, while threads finish what they have begun, ends the process at once.
        with contextlib.suppress(ValueError):  # not the main thread
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        print("inpaint: Stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output, such as head, has left
        _drop_output()
        return 1
    except Exception as error:
        from inpaint_app.cli.console import CommandLineError, PrintingError
        from inpaint_app.cli.remedies import REMEDIES
        from inpaint_app.errors import UserError

        if isinstance(error, PrintingError):
            _drop_output()
        if not isinstance(error, UserError | CommandLineError):
            raise
        sentence = error.sentence(REMEDIES) if isinstance(error, UserError) else str(error)
        print(f"inpaint: {sentence}", file=sys.stderr)
        return 2


def _drop_output() -> None:
    """Send what is still to be printed nowhere, so that the end of the process does not fail at it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
