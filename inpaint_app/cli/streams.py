"""The standard streams, which may be closed, full, or read by nobody any more.

Nothing heavy is imported here: it serves before the libraries are loaded.
"""

import contextlib
import os
import sys
from typing import TextIO


class CommandLineError(Exception):
    """The command was called wrongly, or cannot print; the message is a sentence."""


def open_closed_streams() -> None:
    """Connect the standard streams that the caller closed (``>&-``) to the null device.

    Otherwise the next file to be opened, such as the picture to write, would get the number of the closed
    stream, and what a library prints would end up inside that file.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
        if getattr(sys, name) is None:
            null = open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8")  # noqa: PTH123, SIM115
            setattr(sys, name, null)


def print_report(text: str) -> None:
    """Print to stdout; a reader that has left is no reason to give up the work.

    Raises `CommandLineError` if it cannot be printed for another reason, such as a full disk.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
    except OSError as error:
        _silence(sys.stdout)
        reason = (error.strerror or "error").lower()
        raise CommandLineError(
            f"The output could not be printed ({reason}); check where it is sent."
        ) from error


def print_note(text: str) -> None:
    """Print to stderr, if that can be done: notes and errors have nowhere else to go."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _silence(sys.stderr)


def _silence(stream: TextIO) -> None:
    """Send what a stream still holds to the null device, so that the end of the process cannot fail on it."""
    with contextlib.suppress(OSError, ValueError):  # no file of the system
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
