"""The command line, without Qt; `main` is the command `inpaint`. Imports `engine` and everything below it."""

# What is imported here is loaded before Ctrl-C ends the command without a traceback: keep it light.
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line on arguments without the program's name, or on those of the process.

    Returns the exit code: 0 done, 1 some files of a batch failed, 2 the input is wrong, 130 stopped by
    Ctrl-C.
    """

    def load() -> Callable[[], int]:
        from inpaint_app.cli.program import run

        return lambda: run(sys.argv[1:] if argv is None else list(argv))

    return run_command(load, is_process=argv is None)


def run_command(load: Callable[[], Callable[[], int]], *, is_process: bool, program: str = "inpaint") -> int:
    """Load a command, run it and return its exit code; a mistake of the user ends in one sentence.

    With `is_process`, the command is all that the process is for, and ends here if a signal has stopped it.
    The interpreter would wait for all threads, and one that was being started just then may never end.
    """
    code = _exit_code(load, program)
    if is_process and code > 128:
        os._exit(code)
    return code


def _exit_code(load: Callable[[], Callable[[], int]], program: str) -> int:
    with exit_on_interrupt(program):
        from inpaint_app.cli.remedies import REMEDIES
        from inpaint_app.cli.streams import CommandLineError, open_closed_streams, print_note, print_report
        from inpaint_app.errors import UserError

        open_closed_streams()
        command = load()
    try:
        code = command()
        print_report("")  # flushes what is left, so that the end of the process cannot fail on it
        return code
    except KeyboardInterrupt:
        # A second Ctrl-C, while threads finish what they have begun, ends the process at once.
        with contextlib.suppress(ValueError):  # not the main thread
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        print_note(f"{program}: Stopped.\n")
        return 130
    except UserError as error:
        print_note(f"{program}: {error.sentence(REMEDIES)}\n")
        return 2
    except CommandLineError as error:
        print_note(f"{program}: {error}\n")
        return 2


@contextlib.contextmanager
def exit_on_interrupt(program: str) -> Iterator[None]:
    """Let Ctrl-C end the process at once, while libraries load and there is nothing to clear up.

    An exception would not do: the compiled parts of a library may turn it into an ImportError.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # ignored, or somebody else's
        yield
        return

    def leave(*_: object) -> None:
        with contextlib.suppress(OSError):
            os.write(2, f"{program}: Stopped.\n".encode())
        os._exit(130)

    try:
        before = signal.signal(signal.SIGINT, leave)
    except ValueError:  # not the main thread, which alone hears of Ctrl-C
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
