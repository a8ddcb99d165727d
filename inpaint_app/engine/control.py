"""How the caller of a use case follows its progress and ends it."""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from dictsel_core.progress import Compilation, Run, compilation, follow_compilation

Step = TypeVar("Step")
Result = TypeVar("Result")

#: Seconds between two reports of progress: more would only keep the front end busy.
_REPORT_INTERVAL = 0.05


class CancelledError(Exception):
    """The job was cancelled: nobody wants its result."""


class StoppedError(Exception):
    """The job was stopped: its current result is wanted."""


class Event:
    """What a job reports on its way: how far it is, or a result that is already there."""


@dataclass(frozen=True)
class Progress(Event):
    """The progress of a job."""

    stage: str  #: The current stage, such as "selecting the dictionary".
    fraction: float | None = None  #: From 0 to 1; None where it is not known.
    seconds_left: float | None = None  #: None where it cannot be estimated yet.
    #: Whether it is that of compiling kernels, once on a machine, and not of the work itself.
    is_compilation: bool = False


class JobControl:
    """Connects a job with its caller, who follows it and may end it.

    Whatever the job reports goes to `on_report`, in the job's thread.
    """

    def __init__(self, on_report: Callable[[Event], None] = lambda _event: None) -> None:
        self.report = on_report
        self._cancelled = threading.Event()
        self._stopped = threading.Event()

    def child(self, on_report: Callable[[Event], None]) -> "JobControl":
        """Return the control of a part of the job: it reports elsewhere and ends with the job."""
        child = JobControl(on_report)
        child._cancelled, child._stopped = self._cancelled, self._stopped
        return child

    @property
    def is_cancelled(self) -> bool:
        """Whether the job was cancelled."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """End the job at its next step, and discard its result."""
        self._cancelled.set()

    def stop(self) -> None:
        """End the job at its next step, and keep its current result."""
        self._stopped.set()

    def check(self) -> None:
        """Raise `CancelledError` or `StoppedError` if the job is to end; called between two steps."""
        if self._cancelled.is_set():
            raise CancelledError
        if self._stopped.is_set():
            raise StoppedError

    def drain(self, run: Run[Step, Result], on_step: Callable[[Step], None]) -> Result:
        """Take every step of a run and return its result; the run is closed in any case.

        Where kernels are compiled for it, the `Progress` of that is reported.
        """
        with closing(run), follow_compilation(self._report_compilation):
            self.check()
            for step in run:
                on_step(step)
                self.check()
            return run.result

    def _report_compilation(self, now: Compilation) -> None:
        if now.is_running:
            self.report(
                Progress(
                    "first run: compiling", now.fraction, seconds_left=now.seconds_left, is_compilation=True
                )
            )


class WorkClock:
    """Measures how long work takes, without the compilation of kernels, which says nothing about the rest."""

    def __init__(self) -> None:
        self._began, self._compiling = time.monotonic(), compilation().seconds

    @property
    def seconds(self) -> float:
        """Seconds of work so far."""
        return time.monotonic() - self._began - (compilation().seconds - self._compiling)


class ProgressReporter:
    """Reports the progress of a part of a job, not too often, with the seconds left.

    All its stages begin with the prefix; `start` and `share` say where in the whole job this part begins, and
    how much of it this part is.
    """

    def __init__(
        self, control: JobControl, prefix: str = "", *, start: float = 0.0, share: float = 1.0
    ) -> None:
        self._control, self._prefix = control, prefix
        self._start, self._share = start, share
        self._clock, self._reported = WorkClock(), 0.0

    def update(self, stage: str, fraction: float) -> None:
        """Report a stage, and how much of this part is done."""
        now = time.perf_counter()
        if now - self._reported < _REPORT_INTERVAL:
            return
        self._reported = now
        elapsed, seconds_left = self._clock.seconds, None
        if fraction > 0.03 and elapsed > 0.5:
            rest = 1 - fraction + (1 - self._start - self._share) / self._share
            seconds_left = elapsed * rest / fraction
        done = self._start + self._share * fraction
        self._control.report(Progress(self._prefix + stage, done, seconds_left))
