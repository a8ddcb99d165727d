"""A piece of work as seen from both sides: by who asked for it and by who does it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any, TypeVar

from dictsel_core import Run
from inpaint_app.jobs.work import StoppedError

Step = TypeVar("Step")
Result = TypeVar("Result")


class CancelledError(Exception):
    """The work was given up."""


class Task:
    """One piece of work under way, as seen from both sides.

    Attributes
    ----------
    number : int
        Grows with every task of a `Jobs`.
    """

    def __init__(self, number: int, deliver: Callable[[Task, str, Any], None]) -> None:
        self.number = number
        self._deliver = deliver
        self._cancelled = threading.Event()
        self._stopped = threading.Event()

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody wants the result any more."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Give the work up; nothing of it is delivered from now on."""
        self._cancelled.set()

    def stop(self) -> None:
        """Ask the work to end early and to deliver what there is."""
        self._stopped.set()

    def check(self) -> None:
        """Leave the work if it was given up or told to stop; called by the work between two steps."""
        if self._cancelled.is_set():
            raise CancelledError
        if self._stopped.is_set():
            raise StoppedError

    def report(self, news: Any) -> None:  # noqa: ANN401  (whatever the work tells)
        """Deliver news to the GUI thread."""
        self._deliver(self, "news", news)

    def drain(self, run: Run[Step, Result], seen: Callable[[Step], None]) -> Result:
        """Take the steps of a generator to its end, or leave it closed.

        Raises
        ------
        CancelledError, StoppedError
            If that was asked for meanwhile.
        """
        with closing(run):
            self.check()
            for step in run:
                seen(step)
                self.check()
            return run.result
