"""Previews: the part in view, restored with the parameters as they are now."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, Signal

from inpaint_app.image.rect import Rect
from inpaint_app.jobs import restore as restoring
from inpaint_app.jobs.control import JobControl
from inpaint_app.jobs.restore import Preview, RestoreRequest
from inpaint_app.window.session.background import Jobs

_WANTED_SECONDS = 0.4
"""From the start to the first sight; refinement comes after that."""
_SMALLEST, _LARGEST = 48, 768
_FIRST = 160
_ALIKE = 1.3
"""Sides that differ by less than this factor are not worth a preview of another size."""


class Previewer(QObject):
    """Restores a square in the middle of what is in view, as large as a first sight of it can soon be had.

    The square is seen before any refinement, and refined while it is looked at.

    Parameters
    ----------
    jobs : Jobs
        Where the work is done.
    """

    changed = Signal()
    """Another preview is shown, or `is_awaited` is different now."""
    failed = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._task: JobControl | None = None
        self._side = _FIRST
        self.preview: Preview | None = None
        self.is_awaited = False
        """Whether a preview is under way, or soon will be."""
        self.seen: Rect | None = None

    def expect(self) -> None:
        """Tell that another preview is to come; the last one stays until then."""
        self._drop_task()
        self._show(self.preview, is_awaited=True)

    def start(self, request: RestoreRequest) -> None:
        """Preview a request in place of the last one."""
        self.expect()
        rect = self._choose(request.mask.shape)
        if rect.is_empty:
            self.cancel()
            return
        start = time.perf_counter()
        is_seen = False

        def sighted(preview: Preview | None, *, is_awaited: bool = True) -> None:
            nonlocal is_seen
            if not is_seen and preview is not None:
                self._learn(rect, time.perf_counter() - start)
                is_seen = True
            self._show(preview, is_awaited=is_awaited)

        def done(preview: Preview | None) -> None:
            self._task = None
            sighted(preview, is_awaited=False)

        def failed(sentence: str) -> None:
            self.cancel()
            self.failed.emit(sentence)

        self._task = self._jobs.start(
            lambda control: restoring.preview(request, *rect.slices, control),
            done=done,
            failed=failed,
            progress=sighted,
        )

    def cancel(self) -> None:
        """Let a preview that is under way never appear; one that is shown stays."""
        self._drop_task()
        self._show(self.preview, is_awaited=False)

    def clear(self) -> None:
        """Show no preview, and let none appear."""
        self._drop_task()
        self._show(None, is_awaited=False)

    @property
    def is_in_view(self) -> bool:
        """Whether the preview shows what it would show if made now."""
        preview = self.preview
        if preview is None or self.seen is None:
            return True
        middle = self.seen.row + self.seen.height / 2, self.seen.column + self.seen.width / 2
        return bool(
            preview.rows.start <= middle[0] <= preview.rows.stop
            and preview.columns.start <= middle[1] <= preview.columns.stop
        )

    def _choose(self, shape: tuple[int, ...]) -> Rect:
        seen = (self.seen or Rect(0, 0, *shape[:2])).clipped(shape)
        height, width = min(seen.height, self._side), min(seen.width, self._side)
        return Rect(
            seen.row + (seen.height - height) // 2, seen.column + (seen.width - width) // 2, height, width
        )

    def _learn(self, rect: Rect, seconds: float) -> None:
        """Make the next preview larger or smaller, so that its first sight takes the wanted time."""
        side = (rect.height * rect.width * _WANTED_SECONDS / max(seconds, 1e-3)) ** 0.5
        side = min(max(side, _SMALLEST, self._side / 2), _LARGEST, self._side * 2)
        if not 1 / _ALIKE < side / self._side < _ALIKE:
            self._side = round(side)

    def _drop_task(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _show(self, preview: Preview | None, *, is_awaited: bool) -> None:
        if preview is self.preview and is_awaited == self.is_awaited:
            return
        self.preview, self.is_awaited = preview, is_awaited
        self.changed.emit()
