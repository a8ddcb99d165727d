"""The printed report, notes and JSON document."""

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from inpaint_app.cli.streams import print_note, print_report
from inpaint_app.errors import printable_path


class Console:
    """Prints the report to stdout and notes to stderr; with `as_json` only the document to stdout.

    Parameters
    ----------
    as_json : bool
        Whether stdout is for a JSON document.
    quiet : bool
        Whether to leave out report and notes.
    """

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json, self.quiet = as_json, quiet

    def print(self, line: str) -> None:
        """Print a line of the report."""
        if not self.quiet:
            (print_note if self.as_json else print_report)(f"{line}\n")

    def note(self, line: str) -> None:
        """Print a note to stderr."""
        if not self.quiet:
            print_note(f"Note: {line}\n")

    def print_written(self, path: Path, notes: Iterable[str], label: str = "Written") -> None:
        """Print the name of a file that was written, and notes about what it could not store."""
        self.print(f"{label + ':':<12} {printable_path(path)}")
        for note in notes:
            self.note(note)

    def print_json(self, contents: Mapping[str, Any]) -> None:
        """Print the JSON document, where one is wanted."""
        if self.as_json:
            print_report(f"{json.dumps(_plain(contents), indent=2, allow_nan=False)}\n")


def _plain(value: Any) -> Any:  # noqa: ANN401  (anything that JSON holds)
    """Return a value as JSON can hold it; numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
