"""Work of which at most one piece is in progress, and something that is made ready by it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.window.background.release import release_later
from inpaint_app.window.background.worker_pool import Work, WorkerPool


@dataclass(frozen=True)
class Activity:
    """Long work in progress."""

    #: "open", "restore", "tune", "compare", "heal", "outline", "detect", "sweep", "file" or "export".
    kind: str
    progress: Progress  #: How far it is.

    @property
    def can_keep(self) -> bool:
        """Whether stopping leaves a result."""
        return self.kind in ("restore", "compare")


class ExclusiveTask(QObject):
    """Holds the work in progress; new work takes the place of the last, which never delivers."""

    activity_changed = Signal()

    def __init__(self, workers: WorkerPool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workers = workers
        self._control: JobControl | None = None
        #: The work in progress with its progress, if the user waits for it.
        self.activity: Activity | None = None

    @property
    def is_active(self) -> bool:
        """Whether work is in progress."""
        return self._control is not None

    def start(
        self,
        work: Work,
        *,
        done: Callable[[Any], object],
        failed: Callable[[str], None] | None = None,
        progress: Callable[[Any], object] | None = None,
        activity: Activity | None = None,
    ) -> None:
        """Start work in place of the work in progress; see `WorkerPool.start`.

        `Progress` that it reports becomes that of its activity; other reports go to `progress`.
        """

        def on_done(result: Any) -> None:  # noqa: ANN401
            self._end()
            done(result)

        def on_error(sentence: str) -> None:
            self._end()
            (failed or self._workers.failed.emit)(sentence)

        def on_report(report: Any) -> None:  # noqa: ANN401
            if not isinstance(report, Progress):
                if progress is not None:
                    progress(report)
            elif activity is not None:
                self._set_activity(replace(activity, progress=report))

        if self._control is not None:
            self._control.cancel()
        self._control = self._workers.start(work, done=on_done, failed=on_error, progress=on_report)
        self._set_activity(activity)

    def stop(self) -> None:
        """Ask the work to stop and deliver its current result."""
        if self._control is not None:
            self._control.stop()

    def cancel(self) -> bool:
        """Cancel and discard the work; return whether there was any."""
        if self._control is None:
            return False
        self._control.cancel()
        self._end()
        return True

    def _end(self) -> None:
        self._control = None
        self._set_activity(None)

    def _set_activity(self, activity: Activity | None) -> None:
        if activity != self.activity:
            self.activity = activity
            self.activity_changed.emit()


Ready = TypeVar("Ready")


class LatestResult(QObject, Generic[Ready]):
    """Makes something ready in another thread; the latest request wins."""

    changed = Signal()
    """`ready` has changed."""

    def __init__(self, workers: WorkerPool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._task = ExclusiveTask(workers, self)
        self._sources: tuple[object, ...] = ()
        self.ready: Ready | None = None

    @property
    def is_busy(self) -> bool:
        """Whether something is being made ready."""
        return self._task.is_active

    def show(self, make: Callable[[], Ready], *sources: object) -> None:
        """Make something ready, unless it is what was asked for last.

        Parameters
        ----------
        make : callable
            Called in another thread.
        *sources : object
            What it is made of, such as arrays; the same objects need not be made ready again.
        """
        if list(map(id, sources)) == list(map(id, self._sources)):
            return
        self._sources = sources
        self._task.start(lambda _control: make(), done=self._take)

    def clear(self) -> None:
        """Show nothing."""
        self._task.cancel()
        self._sources = ()
        if self.ready is not None:
            release_later(self.ready)
            self.ready = None
            self.changed.emit()

    def _take(self, ready: Ready) -> None:
        release_later(self.ready)
        self.ready = ready
        self.changed.emit()
