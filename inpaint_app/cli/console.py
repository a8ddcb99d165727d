"""What the user sees: the report, notes, the JSON document."""

import json
import math
import sys
from collections.abc import Mapping
from typing import Any, TextIO


class CommandLineError(Exception):
    """A sentence about the command line itself: how it was called, or where it prints."""


class PrintingError(CommandLineError):
    """What was to be printed could not be."""


class Console:
    """Where words go: the report to stdout, notes to stderr; with `json` only the document to stdout.

    Parameters
    ----------
    as_json : bool
        Whether stdout is for a JSON document.
    quiet : bool
        Whether to leave out report and notes.
    """

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json, self.quiet = as_json, quiet

    def say(self, line: str) -> None:
        """Print a line of the report."""
        if not self.quiet:
            _print(line, sys.stderr if self.as_json else sys.stdout)

    def note(self, line: str) -> None:
        """Print something worth knowing that is not a result."""
        if not self.quiet:
            _print(f"Note: {line}", sys.stderr)

    def document(self, contents: Mapping[str, Any]) -> None:
        """Print the JSON document, where one is wanted."""
        if self.as_json:
            _print(json.dumps(_plain(contents), indent=2, allow_nan=False), sys.stdout)


def _print(text: str, stream: TextIO) -> None:
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = (error.strerror or "error").lower()
        raise PrintingError(
            f"The report could not be printed ({reason}); look where the output is sent."
        ) from error


def _plain(value: Any) -> Any:  # noqa: ANN401  (anything that JSON holds)
    """Return a value as JSON can hold it; numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
