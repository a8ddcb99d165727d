"""Long work that the user waits for: at most one piece at a time, with its progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from inpaint_app.window.session.background import Jobs, Work
from inpaint_app.window.session.state import Activity
from inpaint_app.window.session.task import Task


class ExclusiveTask(QObject):
    """Holds the task under way; a new one takes the place of the last, which never delivers.

    Parameters
    ----------
    jobs : Jobs
        Where the work is done.
    """

    activity_changed = Signal()

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._task: Task | None = None
        self.activity: Activity | None = None

    @property
    def is_active(self) -> bool:
        """Whether work is under way."""
        return self._task is not None

    def start(
        self,
        activity: Activity,
        work: Work,
        *,
        done: Callable[[Any], None],
        failed: Callable[[str], None],
        news: Callable[[Any], None] | None = None,
    ) -> None:
        """Start work in place of what is under way; see `Jobs.start`.

        News of the kind `Activity` become the activity; others are passed on.
        """

        def ended(result: Any) -> None:  # noqa: ANN401
            self._end()
            done(result)

        def broken(sentence: str) -> None:
            self._end()
            failed(sentence)

        def heard(told: Any) -> None:  # noqa: ANN401
            if isinstance(told, Activity):
                self._tell(told)
            elif news is not None:
                news(told)

        if self._task is not None:
            self._task.cancel()
        self._task = self._jobs.start(work, done=ended, failed=broken, news=heard)
        self._tell(activity)

    def stop(self) -> None:
        """Ask the work to end early with what there is."""
        if self._task is not None:
            self._task.stop()

    def cancel(self) -> bool:
        """Give the work up; tells whether there was any."""
        if self._task is None:
            return False
        self._task.cancel()
        self._end()
        return True

    def _end(self) -> None:
        self._task = None
        self._tell(None)

    def _tell(self, activity: Activity | None) -> None:
        self.activity = activity
        self.activity_changed.emit()
