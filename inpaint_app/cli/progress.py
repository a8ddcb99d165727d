"""A progress bar on the terminal, for work that takes a while."""

import sys
import time
from types import TracebackType
from typing import Self

from inpaint_app.cli.streams import print_note
from inpaint_app.formatting import format_duration

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

    def __enter__(self) -> Self:
        """Start the clock."""
        self._began = self._drawn = time.monotonic()
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
            self._fraction = fraction
        soon = stage == self._stage and now - self._drawn < _INTERVAL
        if not self._wanted or now - self._began < _DELAY or soon:
            return
        self._stage = stage
        self._drawn = now
        self._shown = True
        print_note(f"\r\x1b[K{format_bar(stage, fraction, now - self._began)}")

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            print_note("\r\x1b[K")
            self._shown = False


def format_bar(stage: str, fraction: float | None, elapsed: float) -> str:
    """Return the text of the bar."""
    if fraction is None:
        return f"{stage} ..."
    fraction = min(max(fraction, 0.0), 1.0)
    filled = round(_WIDTH * fraction)
    bar = "#" * filled + "-" * (_WIDTH - filled)
    left = "" if fraction < 0.02 else f"  {format_duration(elapsed * (1 - fraction) / fraction)} left"
    return f"[{bar}] {100 * fraction:3.0f} %  {stage}{left}"
