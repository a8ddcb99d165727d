"""What the user sees: the report, notes, the JSON document."""

import json
import math
from collections.abc import Mapping
from typing import Any

from inpaint_app.cli.streams import print_note, print_report


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
            (print_note if self.as_json else print_report)(f"{line}\n")

    def note(self, line: str) -> None:
        """Print something worth knowing that is not a result."""
        if not self.quiet:
            print_note(f"Note: {line}\n")

    def document(self, contents: Mapping[str, Any]) -> None:
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
