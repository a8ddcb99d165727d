"""A progress bar on the terminal, for work that takes a while."""

import sys
import time
from types import TracebackType
from typing import Self

from inpaint_app.cli.streams import print_note
from inpaint_app.engine.control import Progress, WorkClock
from inpaint_app.text.formatting import format_duration

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
