"""Something that is made ready in another thread, such as a picture to draw."""

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from inpaint_app.window.background.exclusive_task import ExclusiveTask
from inpaint_app.window.background.release import release_later
from inpaint_app.window.background.worker_pool import WorkerPool

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
