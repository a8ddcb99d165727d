"""Runs and previews: one at a time, after a pause, restarted when something changes."""

import time
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from inpaint_app.engine import restore as restoring
from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.engine.restore import IntermediateImage, Preview, RestoreRequest
from inpaint_app.model.picture import Array
from inpaint_app.model.rect import Rect
from inpaint_app.window.background.activity import Activity
from inpaint_app.window.background.exclusive_task import ExclusiveTask
from inpaint_app.window.background.worker_pool import Work, WorkerPool
from inpaint_app.window.session.runs.preview_size import PreviewSize, preview_rect

#: How long the user must pause before a preview or an automatic run begins.
DEBOUNCE_MS = 150


class Runner(QObject):
    """Runs what the user waits for, or else previews a part of the picture that is visible."""

    intermediate_changed = Signal()
    preview_changed = Signal()
    """The preview or `is_previewing` has changed."""
    debounced = Signal()
    """The user has paused after a change, and there is no run to restart."""

    def __init__(self, workers: WorkerPool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        #: The latest image of the run in progress, unless the user looks at an earlier result.
        self.intermediate: IntermediateImage | None = None
        #: The visible part, restored with the current parameters; shown before refinement and refined then.
        self.preview: Preview | None = None
        self.is_previewing = False  #: Whether a preview is being made, or will be as soon as the user pauses.
        self._workers = workers
        self.task, self._preview_task = ExclusiveTask(workers, self), ExclusiveTask(workers, self)
        #: Restarts the run that is in progress, or was cancelled because of a change.
        self._restart: Callable[[], None] | None = None
        self._shows_intermediate, self._started = True, 0.0
        self._preview_size = PreviewSize()
        self.visible: Rect | None = None  #: The part of the picture that is seen.
        self._focus: tuple[int, int] | None = None
        self._debounce = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._debounce.timeout.connect(self._on_debounced)

    @property
    def is_busy(self) -> bool:
        """Whether a run is in progress or will be restarted."""
        return self.task.is_active or self._restart is not None

    @property
    def seconds(self) -> float:
        """How long the run in progress has taken; 0 without one."""
        return time.perf_counter() - self._started if self.task.is_active else 0.0

    @property
    def is_pausing(self) -> bool:
        """Whether something begins when the user pauses."""
        return self._debounce.isActive()

    # Runs

    def run(
        self,
        kind: str,
        work: Work,
        done: Callable[..., None],
        *,
        restart: Callable[[], None] | None = None,
    ) -> None:
        """Start a run in place of the one in progress.

        Parameters
        ----------
        kind : str
            Of the `Activity`.
        work : callable
            Does it; the `IntermediateImage` values it reports are shown.
        done : callable
            Called with its result.
        restart : callable, optional
            Called to start it again if something changes meanwhile; without it, a preview follows.
        """

        def on_done(result: object) -> None:
            self._restart = self.intermediate = None
            done(result)

        def on_error(sentence: str) -> None:
            self._restart = None
            self._drop_intermediate()
            self._workers.failed.emit(sentence)

        self._debounce.stop()
        self.clear_preview()
        self._shows_intermediate, self._started = True, time.perf_counter()
        activity = Activity(kind, Progress("starting", 0.0))
        self.task.start(work, done=on_done, failed=on_error, progress=self._on_partial, activity=activity)
        self._restart = restart

    def schedule(self, *, previews: bool) -> None:
        """Restart the run when the user pauses, or else preview if wanted; outdated work never appears."""
        restart = self._restart
        if self.task.cancel():
            self._drop_intermediate()
        self._restart = restart
        self._end_preview(self.preview, is_next_awaited=previews and restart is None)
        self._debounce.start()

    def hide_intermediate(self) -> None:
        """Let the run in progress continue without showing its images."""
        self._shows_intermediate, self.intermediate = False, None

    def stop(self) -> None:
        """Stop the run in progress and keep its current result."""
        self._debounce.stop()
        self._end_preview(self.preview)
        self._restart = None
        self.task.stop()

    def cancel(self) -> None:
        """Cancel and discard what is in progress or about to begin."""
        self._debounce.stop()
        self._restart = None
        self.clear_preview()
        if self.task.cancel():
            self._drop_intermediate()

    def close(self) -> None:
        """Begin nothing from now on."""
        self._debounce.stop()

    # Previews

    def look_at(self, rect: Rect) -> None:
        """Preview this part of the picture from now on; a run in progress continues."""
        self.visible = rect
        if not (self.is_busy or self.preview is None or rect.contains(self.preview.rect.center)):
            self.schedule(previews=True)

    def focus_on(self, edited: Rect | None) -> None:
        """Preview around what was edited, as long as it is visible; None for nothing in particular."""
        if edited is None or self._focus is None or not edited.contains(self._focus):
            self._focus = None if edited is None else edited.center

    def start_preview(
        self, make_request: Callable[[], RestoreRequest], reference: Array | None = None
    ) -> None:
        """Preview a part of a request; the last preview stays until the new one is there.

        The request is made in another thread. With a reference, its PSNR is measured.
        """
        side, visible, focus = self._preview_size.side, self.visible, self._focus
        self._end_preview(self.preview, is_next_awaited=True)
        start: float | None = time.perf_counter()

        def on_preview(preview: Preview | None, *, is_next_awaited: bool = True) -> None:
            nonlocal start
            if start is not None and preview is not None:
                self._preview_size.learn(preview.rect, time.perf_counter() - start)
                start = None
            self._show_preview(preview, is_next_awaited=is_next_awaited)

        def on_error(sentence: str) -> None:
            self._end_preview(self.preview)
            self._workers.failed.emit(sentence)

        def work(control: JobControl) -> Preview | None:
            request = make_request()
            rect = preview_rect(request.mask, side, visible, focus)
            return restoring.preview(request, rect, control, reference)

        on_done = partial(on_preview, is_next_awaited=False)
        self._preview_task.start(work, done=on_done, failed=on_error, progress=on_preview)

    def clear_preview(self) -> None:
        """Show no preview, and let none appear."""
        self._end_preview(None)

    def _end_preview(self, shown: Preview | None, *, is_next_awaited: bool = False) -> None:
        """Let a preview in progress never appear, and show another one."""
        self._preview_task.cancel()
        self._show_preview(shown, is_next_awaited=is_next_awaited)

    def _show_preview(self, preview: Preview | None, *, is_next_awaited: bool) -> None:
        if preview is not self.preview or is_next_awaited != self.is_previewing:
            self.preview, self.is_previewing = preview, is_next_awaited
            self.preview_changed.emit()

    def _on_debounced(self) -> None:
        if self._restart is not None:
            self._restart()
        else:
            self.debounced.emit()

    def _on_partial(self, intermediate: IntermediateImage) -> None:
        if self._shows_intermediate:
            self.intermediate = intermediate
            self.intermediate_changed.emit()

    def _drop_intermediate(self) -> None:
        self.intermediate = None
        self.intermediate_changed.emit()
