"""Work outside the GUI thread: immutable requests go in, numbered answers come back."""

import gc
import logging
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from inpaint_app.engine.control import CancelledError, JobControl
from inpaint_app.errors import UserError
from inpaint_app.system import give_memory_back
from inpaint_app.window.remedies import remedies

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
