"""Long work that the user waits for: at most one piece at a time, with its progress."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from inpaint_app.jobs.control import JobControl, Progress
from inpaint_app.window.background.activity import Activity
from inpaint_app.window.background.worker_pool import Work, WorkerPool


class ExclusiveTask(QObject):
    """Holds the task in progress; a new one takes the place of the last, which never delivers."""

    activity_changed = Signal()

    def __init__(self, workers: WorkerPool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workers = workers
        self._task: JobControl | None = None
        self.activity: Activity | None = None

    @property
    def is_active(self) -> bool:
        """Whether work is in progress."""
        return self._task is not None

    def start(
        self,
        activity: Activity,
        work: Work,
        *,
        done: Callable[[Any], None],
        failed: Callable[[str], None],
        progress: Callable[[Any], None] | None = None,
    ) -> None:
        """Start work in place of the work in progress; see `WorkerPool.start`.

        `Progress` that it reports becomes that of the activity; other reports go to `progress`.
        """

        def on_done(result: Any) -> None:  # noqa: ANN401
            self._end()
            done(result)

        def on_error(sentence: str) -> None:
            self._end()
            failed(sentence)

        def on_report(report: Any) -> None:  # noqa: ANN401
            if isinstance(report, Progress):
                self._set_activity(replace(activity, progress=report))
            elif progress is not None:
                progress(report)

        if self._task is not None:
            self._task.cancel()
        self._task = self._workers.start(work, done=on_done, failed=on_error, progress=on_report)
        self._set_activity(activity)

    def stop(self) -> None:
        """Ask the work to stop and deliver its current result."""
        if self._task is not None:
            self._task.stop()

    def cancel(self) -> bool:
        """Cancel and discard the work; return whether there was any."""
        if self._task is None:
            return False
        self._task.cancel()
        self._end()
        return True

    def _end(self) -> None:
        self._task = None
        self._set_activity(None)

    def _set_activity(self, activity: Activity | None) -> None:
        self.activity = activity
        self.activity_changed.emit()
