"""Runs and previews: one at a time, after a pause, started anew when something changes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from inpaint_app.image.rect import Rect
from inpaint_app.jobs.control import Progress
from inpaint_app.jobs.restore import IntermediateImage, Preview, RestoreRequest
from inpaint_app.window.session.background import Jobs, Work
from inpaint_app.window.session.exclusive_task import ExclusiveTask
from inpaint_app.window.session.previewer import Previewer
from inpaint_app.window.session.state import Activity

DEBOUNCE_MS = 150
"""How long parameters must rest before a preview or an automatic run begins."""


class Runner(QObject):
    """Holds the run that the user waits for with its picture so far, or the preview.

    Parameters
    ----------
    jobs : Jobs
        Where the work is done.
    """

    activity_changed = Signal()
    intermediate_changed = Signal()
    preview_changed = Signal()
    debounced = Signal()
    """The user has paused after a change, and there is no run to be started anew."""
    failed = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.intermediate: IntermediateImage | None = None
        #: Starts the run that is under way, or was given up for a change, anew.
        self._again: Callable[[], None] | None = None
        #: The user may look at an earlier picture while the run goes on.
        self._shows_intermediate = True
        self._working, self._previewer = ExclusiveTask(jobs, self), Previewer(jobs, self)
        self._debounce = QTimer(self)
        self._debounce.setSingleShot(True)
        self._debounce.setInterval(DEBOUNCE_MS)
        self._debounce.timeout.connect(self._on_debounced)
        self._working.activity_changed.connect(self.activity_changed)
        self._previewer.changed.connect(self.preview_changed)
        self._previewer.failed.connect(self.failed)

    @property
    def activity(self) -> Activity | None:
        """The run under way, if there is any."""
        return self._working.activity

    @property
    def preview(self) -> Preview | None:
        """A part of the picture, restored with the parameters as they are now."""
        return self._previewer.preview

    @property
    def is_previewing(self) -> bool:
        """Whether a preview is being made, or will be as soon as the user pauses."""
        return self._previewer.is_awaited

    @property
    def is_active(self) -> bool:
        """Whether a run is under way."""
        return self._working.is_active

    @property
    def is_busy(self) -> bool:
        """Whether a run is under way, or is to be started anew."""
        return self._working.is_active or self._again is not None

    @property
    def is_pausing(self) -> bool:
        """Whether something begins when the user pauses."""
        return self._debounce.isActive()

    def run(
        self,
        kind: str,
        work: Work,
        take: Callable[..., None],
        *,
        again: Callable[[], None] | None = None,
    ) -> None:
        """Start a run in place of what is under way.

        Parameters
        ----------
        kind : str
            Of the `Activity`.
        work : callable
            Does it; each `IntermediateImage` that it reports is shown.
        take : callable
            Called with its result.
        again : callable, optional
            Called to start it anew when something changes meanwhile; a preview follows if there is none.
        """

        def done(result: object) -> None:
            self._again = None
            self.intermediate = None
            take(result)

        def failed(sentence: str) -> None:
            self._again = None
            self._drop_intermediate()
            self.failed.emit(sentence)

        self._debounce.stop()
        self._previewer.cancel()
        self._shows_intermediate = True
        self._working.start(
            Activity(kind, Progress("starting", 0.0)),
            work,
            done=done,
            failed=failed,
            progress=self._on_partial,
        )
        self._again = again

    def preview_request(self, request: RestoreRequest) -> None:
        """Preview the part in view."""
        self._previewer.start(request)

    def clear_preview(self) -> None:
        """Show no preview, and let none appear."""
        self._previewer.clear()

    def look_at(self, rect: Rect | None) -> None:
        """Preview this part of the picture from now on; a run under way goes on."""
        self._previewer.seen = rect
        if not (self.is_busy or self._previewer.is_in_view):
            self.restart(previews=True)

    def restart(self, *, previews: bool) -> None:
        """Run again when the user pauses, or else preview if wanted; what is outdated now never appears."""
        again = self._again
        if self._working.cancel():
            self._drop_intermediate()
        self._again = again
        if previews and again is None:
            self._previewer.expect()
        else:
            self._previewer.cancel()
        self._debounce.start()

    def hide_intermediate(self) -> None:
        """Let the run under way go on unseen."""
        self._shows_intermediate, self.intermediate = False, None

    def stop(self) -> None:
        """End the run under way and keep what is there."""
        self._debounce.stop()
        self._previewer.cancel()
        self._again = None
        self._working.stop()

    def cancel(self) -> None:
        """Give up what is under way or about to begin; nothing of it appears."""
        self._debounce.stop()
        self._again = None
        self._previewer.clear()
        if self._working.cancel():
            self._drop_intermediate()

    def close(self) -> None:
        """Begin nothing any more."""
        self._debounce.stop()

    def _on_debounced(self) -> None:
        if self._again is not None:
            self._again()
        else:
            self.debounced.emit()

    def _on_partial(self, intermediate: IntermediateImage) -> None:
        if self._shows_intermediate:
            self.intermediate = intermediate
            self.intermediate_changed.emit()

    def _drop_intermediate(self) -> None:
        self.intermediate = None
        self.intermediate_changed.emit()
