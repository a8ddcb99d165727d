"""What is printed: the report, notes, the JSON document, and a progress bar for work that takes a while."""

import json
import math
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Self

from inpaint_app.cli.streams import print_note, print_report
from inpaint_app.engine.control import Progress, WorkClock
from inpaint_app.errors import UserError, printable_path
from inpaint_app.io.paths import is_stdout
from inpaint_app.text.formatting import format_duration


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


_DELAY = 0.5
_INTERVAL = 0.1
_WIDTH = 24


class ProgressBar:
    """One line on stderr that is redrawn, and gone at the end.

    It appears only on a terminal, only when the work has taken half a second, and not if `quiet`.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._shown = False
        self._fraction, self._stage = 0.0, ""
        self._wanted = not quiet and sys.stderr.isatty()
        self._began = self._drawn = time.monotonic()
        self._clock = WorkClock()

    def __enter__(self) -> Self:
        """Start the clock."""
        self._began = self._drawn = time.monotonic()
        self._clock = WorkClock()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clear the line."""
        self.clear()

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Show a stage and the fraction of the work that is done, if it is known."""
        now = time.monotonic()
        if fraction is not None:
            if fraction < self._fraction:  # another piece of work
                self._began = now - (_DELAY if self._shown else 0)
                self._clock = WorkClock()
            self._fraction = fraction
        elapsed = self._clock.seconds
        left = None if fraction is None or fraction < 0.02 else elapsed * (1 - fraction) / fraction
        if now - self._began >= _DELAY:
            self._draw(stage, fraction, left)

    def show_compilation(self, progress: Progress) -> None:
        """Show how far kernels are compiled, which is not part of the work."""
        self._draw(progress.stage, progress.fraction, progress.seconds_left)

    def _draw(self, stage: str, fraction: float | None, seconds_left: float | None) -> None:
        now = time.monotonic()
        soon = stage == self._stage and now - self._drawn < _INTERVAL
        if not self._wanted or soon:
            return
        self._stage, self._drawn, self._shown = stage, now, True
        print_note(f"\r\x1b[K{format_bar(stage, fraction, seconds_left)}")

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            print_note("\r\x1b[K")
            self._shown = False


def format_bar(stage: str, fraction: float | None, seconds_left: float | None) -> str:
    """Return the text of the bar."""
    if fraction is None:
        return f"{stage} ..."
    fraction = min(max(fraction, 0.0), 1.0)
    filled = round(_WIDTH * fraction)
    bar = "#" * filled + "-" * (_WIDTH - filled)
    left = "" if seconds_left is None else f"  {format_duration(seconds_left)} left"
    return f"[{bar}] {100 * fraction:3.0f} %  {stage}{left}"
