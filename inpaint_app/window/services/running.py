"""Runs and previews: one at a time, after a pause, restarted when something changes."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from dictsel_core.evaluation import Tuning
from dictsel_core.restoration import CONSTRAINTS
from inpaint_app.engine import restore as restoring
from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.engine.restore import IntermediateImage, Preview, RunResult
from inpaint_app.model.picture import Mask, Rect
from inpaint_app.window.background.work import Activity, ExclusiveTask, Work, WorkerPool
from inpaint_app.window.document import captions
from inpaint_app.window.document.document import NO_PICTURE, Document
from inpaint_app.window.document.runs import PackedRequest, record_of
from inpaint_app.window.document.state import TuningOutcome
from inpaint_app.window.document.view_state import COMPARISON
from inpaint_app.window.undo import ChangeSettings, UndoHistory

#: From the request to the first image; refinement follows.
_TARGET_SECONDS = 0.4
_MIN_SIDE, _MAX_SIDE = 48, 768
_FIRST_SIDE = 160
#: Sides that differ by less than this factor are not worth a preview of another size.
_TOLERANCE = 1.3
#: A preview is at least this part of what is visible across, so that it is seen in a large picture,
_MIN_SHARE = 12
#: but no larger than this on that account.
_MAX_SHARED_SIDE = 320

Pixel = tuple[int, int]


class PreviewSize:
    """The side of the square that a preview restores, learnt from how long earlier ones took."""

    def __init__(self) -> None:
        self.side = _FIRST_SIDE

    def learn(self, rect: Rect, seconds: float) -> None:
        """Make the next preview larger or smaller after this one took some seconds to appear."""
        side = (rect.height * rect.width * _TARGET_SECONDS / max(seconds, 1e-3)) ** 0.5
        side = min(max(side, _MIN_SIDE, self.side / 2), _MAX_SIDE, self.side * 2)
        if not 1 / _TOLERANCE < side / self.side < _TOLERANCE:
            self.side = round(side)


def preview_rect(mask: Mask, side: int, visible: Rect | None = None, focus: Pixel | None = None) -> Rect:
    """Return the part of a picture to preview; may be called in any thread.

    It lies around the focus if that is visible, such as where the user paints; otherwise in the middle of
    what is visible, or where pixels are missing nearest to it.

    Parameters
    ----------
    mask : ndarray of bool, (H, W) or (H, W, C)
        True = missing.
    side : int
        Of the square.
    visible : Rect, optional
        The part of the picture in view; all of it by default.
    focus : (int, int), optional
        Row and column.
    """
    visible = (visible or Rect(0, 0, *mask.shape[:2])).clipped(mask.shape)
    side = max(side, min(visible.width // _MIN_SHARE, _MAX_SHARED_SIDE))
    middle = visible.center
    if focus is not None and visible.contains(focus):
        return _square(focus, side, visible)
    around = _square(middle, side, visible)
    if around.is_empty or mask[around.slices].any():
        return around
    part = mask[visible.slices]
    rows, columns = np.nonzero(part.any(axis=2) if part.ndim == 3 else part)
    if not rows.size:
        return around
    rows, columns = rows + visible.row, columns + visible.column
    nearest = int(np.argmin((rows - middle[0]) ** 2 + (columns - middle[1]) ** 2))
    return _square((int(rows[nearest]), int(columns[nearest])), side, visible)


def _square(center: Pixel, side: int, within: Rect) -> Rect:
    """Return a square around a pixel, moved and cut so that it lies within a rectangle."""
    height, width = min(within.height, side), min(within.width, side)
    row = min(max(center[0] - height // 2, within.row), within.row + within.height - height)
    column = min(max(center[1] - width // 2, within.column), within.column + within.width - width)
    return Rect(row, column, height, width)


#: How long the user must pause before a preview or an automatic run begins.
DEBOUNCE_MS = 150


class Running(QObject):
    """Restores, compares and tunes a document, or else previews a part of the picture that is visible."""

    nothing_marked = Signal()
    """A run was wanted, but nothing is missing."""
    started = Signal()
    """A run begins, which restores everything that is missing."""

    def __init__(
        self, document: Document, history: UndoHistory, workers: WorkerPool, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._document, self._history, self._workers = document, history, workers
        self.task, self._preview_task = ExclusiveTask(workers, self), ExclusiveTask(workers, self)
        #: Restarts the run that is in progress, or was cancelled because of a change.
        self._restart: Callable[[], None] | None = None
        self._shows_intermediate, self._started = True, 0.0
        self._preview_size = PreviewSize()
        self._focus: tuple[int, int] | None = None
        self._debounce = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._debounce.timeout.connect(self._on_debounced)
        document.painted.connect(self._focus_on)
        document.watch(self._follow, "is_previewing")

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

    # Runs of the whole picture

    def restore(self, *, grain: bool = False, then: Callable[[RunResult], None] | None = None) -> None:
        """Restore the whole picture with the current parameters, perhaps with grain; something may follow."""
        packed = self._request()
        if packed is None:
            return
        work = restoring.restore_with_grain if grain else restoring.restore

        def show(result: RunResult) -> None:
            self._show((result,), packed)
            if then is not None:
                then(result)

        self.run(
            "restore",
            lambda control: work(packed.unpack(), control),
            show,
            restart=partial(self.restore, grain=grain, then=then),
        )

    def compare(self) -> None:
        """Restore under every sparsity constraint, and show the results side by side.

        Runs that are already in the history are not repeated.
        """
        state = self._document.state
        if 0 < state.missing_fraction < 1:
            self._document.set_view(state.view.with_mode(COMPARISON))
        self._compare()

    def _compare(self) -> None:
        packed = self._request()
        if packed is None:
            return
        runs = self._document.state.runs
        known = runs.find_runs(packed.settings, packed.packed_mask, packed.hole_fill)
        rest = [constraint for constraint in CONSTRAINTS if constraint not in known]

        def show(made: Sequence[RunResult]) -> None:
            self._show(made, packed, known, is_comparison=True)

        self.run(
            "compare",
            lambda control: restoring.compare(packed.unpack(), rest, control),
            show,
            restart=self._compare,
        )

    def tune(self) -> None:
        """Let held-out pixels choose the parameters, then restore with them."""
        packed = self._request()
        if packed is not None:
            self.run("tune", lambda control: restoring.tune(packed.unpack(), control), self._take_tuning)

    def _request(self) -> PackedRequest | None:
        state = self._document.state
        if state.source is None or state.mask is None:
            self._document.problem.emit(NO_PICTURE)
            return None
        if state.missing_fraction == 0:
            self.nothing_marked.emit()
            return None
        pixels, fill = state.source.picture.pixels, state.hole_fill
        return PackedRequest(pixels, state.mask, state.settings, fill, state.runs.retouch)

    def _show(
        self,
        results: Sequence[RunResult],
        packed: PackedRequest,
        known: Mapping[str, int] = MappingProxyType({}),
        *,
        is_comparison: bool = False,
    ) -> None:
        """Keep what runs led to, and show one of these and of those known by constraint."""
        runs, numbers = self._document.state.runs, dict(known)
        for result in results:
            record = record_of(result, runs.next_number, packed.packed_mask)
            if record is not None:
                runs = runs.added(record)
                numbers[record.requested.constraint] = record.number
        if numbers:
            shown = numbers.get(self._document.state.settings.constraint) or next(iter(numbers.values()))
            comparison = [numbers[each] for each in CONSTRAINTS if each in numbers] if is_comparison else ()
            self._document.show_run(shown, comparison, runs=runs)
        else:
            self._document.notice.emit("Stopped before there was a result.")

    def _take_tuning(self, tuning: Tuning) -> None:
        state = self._document.state
        # What the user left automatic stays so.
        settings = state.settings if tuning.settings == tuning.given else tuning.settings
        given = state.settings if state.advice is None else state.advice.given
        self._history.push(ChangeSettings(self._document, settings=settings), follows=False)
        self._document.apply(advice=TuningOutcome(settings, captions.format_advice(tuning), given))
        self.restore()

    def run(
        self,
        kind: str,
        work: Work,
        done: Callable[..., None],
        restart: Callable[[], None] | None = None,
    ) -> None:
        """Start a run in place of the one in progress; one that can be restarted is so after a change."""

        def on_done(result: object) -> None:
            self._restart = None
            done(result)
            self._document.apply(intermediate=None)

        def on_error(sentence: str) -> None:
            self._restart = None
            self._document.apply(intermediate=None)
            self._workers.failed.emit(sentence)

        self.started.emit()
        self._debounce.stop()
        self.clear_preview()
        self._shows_intermediate, self._started = True, time.perf_counter()
        activity = Activity(kind, Progress("starting", 0.0))
        self.task.start(work, done=on_done, failed=on_error, progress=self._on_partial, activity=activity)
        self._restart = restart

    def _on_partial(self, intermediate: IntermediateImage) -> None:
        if self._shows_intermediate:
            self._document.apply(intermediate=intermediate)

    def hide_intermediate(self) -> None:
        """Let the run in progress continue without showing its images."""
        self._shows_intermediate = False
        self._document.apply(intermediate=None)

    # What follows a change

    def schedule(self) -> None:
        """When the user pauses, restart the run, or else preview or run; outdated work never appears."""
        state, restart = self._document.state, self._restart
        if state.source is None:
            return
        if self.task.cancel():
            self._document.apply(intermediate=None)
        self._restart = restart
        self._preview_task.cancel()
        previews = self._previews and state.missing_fraction > 0
        self._document.apply(is_previewing=previews and restart is None)
        self._debounce.start()

    @property
    def _previews(self) -> bool:
        """Whether a change is followed by a preview: where one retouches, marks are seen until a run."""
        state = self._document.state
        return not (state.is_automatic or state.view.is_retouching)

    def _on_debounced(self) -> None:
        state = self._document.state
        if self._restart is not None:
            self._restart()
        elif state.missing_fraction == 0 or state.doubt is not None:
            self.clear_preview()
        elif state.is_automatic:
            self.restore()
        elif self._previews:
            self._start_preview()
        else:
            self.clear_preview()

    def stop(self) -> None:
        """Stop the run in progress and keep its current result."""
        self._debounce.stop()
        self._restart = None
        self._preview_task.cancel()
        self._document.apply(is_previewing=False)
        self.task.stop()

    def cancel(self) -> None:
        """Cancel and discard what is in progress or about to begin."""
        self._debounce.stop()
        self._restart = None
        self.clear_preview()
        if self.task.cancel():
            self._document.apply(intermediate=None)

    def close(self) -> None:
        """Begin nothing from now on."""
        self._debounce.stop()

    # Previews

    def look_at(self, rect: Rect) -> None:
        """Preview this part of the picture from now on; a run in progress continues."""
        self._document.apply(visible=rect)
        preview = self._document.state.preview
        if not (self.is_busy or preview is None or rect.contains(preview.rect.center)):
            self.schedule()

    def _focus_on(self, edited: Rect | None) -> None:
        """Preview around what was edited, as long as it is visible; None for nothing in particular."""
        mask = self._document.state.mask
        if edited is None or (mask is not None and edited[2:] == mask.shape[:2]):
            self._focus = None
        elif self._focus is None or not edited.contains(self._focus):
            self._focus = edited.center

    def _start_preview(self) -> None:
        """Preview a part of the picture; the last preview stays until the new one is there."""
        packed, state = self._request(), self._document.state
        assert packed is not None and state.source is not None, "there is a picture"
        reference = None if state.source.reference is None else state.source.reference.pixels
        current = None if state.runs.current is None else state.runs.current.image
        side, visible, focus = self._preview_size.side, state.visible, self._focus
        start: float | None = time.perf_counter()

        def on_preview(preview: Preview | None, *, is_last: bool = False) -> None:
            nonlocal start
            if start is not None and preview is not None:
                self._preview_size.learn(preview.rect, time.perf_counter() - start)
                start = None
            self._document.apply(preview=preview, is_previewing=not is_last)

        def on_error(sentence: str) -> None:
            self._document.apply(is_previewing=False)
            self._workers.failed.emit(sentence)

        def work(control: JobControl) -> Preview | None:
            request = packed.unpack()
            return restoring.preview(
                request, preview_rect(request.mask, side, visible, focus), control, reference, current
            )

        self._document.apply(is_previewing=True)
        on_done = partial(on_preview, is_last=True)
        self._preview_task.start(work, done=on_done, failed=on_error, progress=on_preview)

    def clear_preview(self) -> None:
        """Show no preview, and let none appear."""
        self._preview_task.cancel()
        self._document.apply(preview=None, is_previewing=False)

    def _follow(self) -> None:
        """Let no preview appear where a result is shown in its place."""
        if not self._document.state.is_previewing:
            self._preview_task.cancel()
