"""Long work that the user waits for: at most one piece at a time, with its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from inpaint_app.jobs.control import JobControl, Progress
from inpaint_app.window.session.background import Jobs, Work
from inpaint_app.window.session.state import Activity


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
        self._task: JobControl | None = None
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
        progress: Callable[[Any], None] | None = None,
    ) -> None:
        """Start work in place of what is under way; see `Jobs.start`.

        `Progress` that it reports becomes that of the activity; other reports are passed on.
        """

        def on_done(result: Any) -> None:  # noqa: ANN401
            self._end()
            done(result)

        def on_error(sentence: str) -> None:
            self._end()
            failed(sentence)

        def on_report(report: Any) -> None:  # noqa: ANN401
            if isinstance(report, Progress):
                self._show(replace(activity, progress=report))
            elif progress is not None:
                progress(report)

        if self._task is not None:
            self._task.cancel()
        self._task = self._jobs.start(work, done=on_done, failed=on_error, progress=on_report)
        self._show(activity)

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
        self._show(None)

    def _show(self, activity: Activity | None) -> None:
        self.activity = activity
        self.activity_changed.emit()
