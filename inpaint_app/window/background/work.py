"""Work outside the GUI thread, requests in and numbered answers out; and memory given back."""

import gc
import logging
import sys
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from inpaint_app.engine.control import CancelledError, JobControl, Progress
from inpaint_app.errors import UserError
from inpaint_app.system import give_memory_back
from inpaint_app.window.remedies import remedies

#: Between two things: other events are handled meanwhile.
_PAUSE_MS = 1

_held: deque[object] = deque()


def release_later(*things: object) -> None:
    """Hold things a little longer, and let go of one at a time between other events.

    Giving back the memory of a picture of 24 megapixels takes 10 milliseconds, and closing it frees several.
    To be called by the GUI thread.
    """
    _held.extend(thing for thing in things if thing is not None)
    if _held and not _timer().isActive():
        _timer().start(_PAUSE_MS)


def release_all() -> None:
    """Let go of everything now, before the event loop ends."""
    _timer().stop()
    _held.clear()


@cache
def _timer() -> QTimer:
    timer = QTimer()
    timer.timeout.connect(_release_one)
    return timer


def _release_one() -> None:
    _held.popleft()
    if not _held:
        _timer().stop()


#: Seconds that Python code of a worker may keep the GUI thread waiting each time that needs the interpreter
#: again, which it does many times in one repaint; Python's own 5 ms add up to what a user notices.
_SWITCH_INTERVAL = 0.0005
#: All threads stand still while garbage is collected. A full collection takes 0.1 s once Numba is loaded, and
#: would come several times meanwhile: it is made rare. One of the middle generation looks at up to 5,000
#: objects (the first number times the second), which takes 5 ms at most; 20,000 took 20 ms.
_GC_THRESHOLDS = (1_000, 5, 4_000)


def keep_responsive() -> None:
    """Let the GUI thread wait for others as briefly as possible."""
    sys.setswitchinterval(_SWITCH_INTERVAL)
    gc.set_threshold(*_GC_THRESHOLDS)


#: Seconds of work after which what it has freed is given back.
_LONG = 1.0

_log = logging.getLogger(__name__)

UNEXPECTED = "Something went wrong inside the program ({kind}); nothing was changed. Please try again."
_MEMORY = "There is not enough memory for this; close other programs or scale the picture down first."


Work = Callable[[JobControl], Any]
Listener = Callable[[Any], object]


class WorkerPool(QObject):
    """Runs work in a pool of threads and delivers its answers on the GUI thread.

    A task that was cancelled delivers nothing, not even what was in progress when it was cancelled: both
    cancelling and delivering happen on the GUI thread.

    Parameters
    ----------
    n_threads : int
        How many pieces of work run at once; others wait.
    """

    _arrived = Signal(object, str, object)
    failed = Signal(str)
    """Work has failed, in a sentence, and whoever started it does not handle that."""
    idle = Signal()
    """Emitted when the last task in progress has ended."""

    def __init__(self, n_threads: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        keep_responsive()
        give_memory_back()
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="inpaint-worker")
        self._listeners: dict[JobControl, dict[str, Listener]] = {}
        self._closed = False
        self._arrived.connect(self._receive)

    def start(
        self,
        work: Work,
        *,
        done: Listener,
        failed: Callable[[str], None] | None = None,
        progress: Listener | None = None,
    ) -> JobControl:
        """Start work when the event that asks for it has been handled, so that it does not slow that down.

        Parameters
        ----------
        work : callable
            Called with its control in another thread; it must not touch anything that changes.
        done : callable
            Called with its result.
        failed : callable, optional
            Called with a sentence if it raised, in place of the signal.
        progress : callable, optional
            Called with whatever it reports on the way.
        """
        control = JobControl(lambda report: self._arrived.emit(control, "progress", report))
        self._listeners[control] = {
            "done": done,
            "failed": failed or self.failed.emit,
            "progress": progress or (lambda _report: None),
        }
        QTimer.singleShot(0, self, lambda: self._submit(control, work))
        return control

    @property
    def n_active(self) -> int:
        """How many tasks have not ended, cancelled ones included."""
        return len(self._listeners)

    def close(self) -> None:
        """Cancel everything, wait until all threads have ended, and deliver nothing more."""
        self._closed = True
        for control in self._listeners:
            control.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._listeners.clear()

    def _submit(self, control: JobControl, work: Work) -> None:
        if not self._closed:
            self._pool.submit(self._run, control, work)

    def _run(self, control: JobControl, work: Work) -> None:
        kind, payload, start = "ended", None, time.perf_counter()
        try:
            if not control.is_cancelled:
                kind, payload = "done", work(control)
        except CancelledError:
            pass
        except UserError as error:
            kind, payload = "failed", error.sentence(remedies())
        except MemoryError:
            kind, payload = "failed", _MEMORY
        except Exception as error:  # a mistake of ours: the window stays usable and says so
            _log.exception("A job failed")
            kind, payload = "failed", UNEXPECTED.format(kind=type(error).__name__)
        if time.perf_counter() - start > _LONG:
            give_memory_back()
        self._arrived.emit(control, kind, payload)

    @Slot(object, str, object)
    def _receive(self, control: JobControl, kind: str, payload: Any) -> None:  # noqa: ANN401
        if self._closed:
            return
        listeners = self._listeners[control]
        if kind != "progress":
            del self._listeners[control]
        if not control.is_cancelled and kind in listeners:
            listeners[kind](payload)
        if not self._listeners:
            self.idle.emit()


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
