"""The printed report, notes and JSON document."""

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from inpaint_app.cli.streams import print_note, print_report
from inpaint_app.errors import UserError, printable_path
from inpaint_app.io.paths import is_stdout


class Console:
    """Prints the report to stdout and notes to stderr; both to stderr if stdout is for something else.

    That is a JSON document (`as_json`) or a picture. If `quiet`, report and notes are left out; if `verbose`,
    details are printed.
    """

    def __init__(
        self, *, as_json: bool = False, as_picture: bool = False, quiet: bool = False, verbose: bool = False
    ) -> None:
        self.as_json, self.quiet, self.verbose = as_json, quiet, verbose
        self._print = print_note if as_json or as_picture else print_report

    @classmethod
    def of(cls, args: SimpleNamespace, *outputs: Path | None) -> "Console":
        """Return the console that the options of `options.add_verbosity` ask for.

        Raises `UserError` if two of them contradict each other, or if two things would be written to stdout.
        """
        as_json = bool(getattr(args, "json", False))
        as_picture = any(output is not None and is_stdout(output) for output in outputs)
        if as_json and as_picture:
            raise UserError("--json and -o - both write to standard output", "give a file name after -o")
        if args.quiet and args.verbose:
            raise UserError("--quiet and --verbose exclude each other", "give one of them")
        return cls(as_json=as_json, as_picture=as_picture, quiet=args.quiet, verbose=args.verbose)

    def print(self, line: str) -> None:
        """Print a line of the report."""
        if not self.quiet:
            self._print(f"{line}\n")

    def print_detail(self, line: str) -> None:
        """Print a line to stderr that only `--verbose` asks for."""
        if self.verbose:
            print_note(f"{line}\n")

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
