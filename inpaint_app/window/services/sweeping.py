"""Tries values of a parameter, and takes over the one that the user chooses."""

from dataclasses import replace

from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.engine.restore import RestoreRequest
from inpaint_app.engine.sweep import SweepPoint, SweepRequest, SweptName, spread, sweep, with_value
from inpaint_app.model.picture import Rect
from inpaint_app.window.background.work import Activity, ExclusiveTask, WorkerPool
from inpaint_app.window.document.document import NO_PICTURE, Document
from inpaint_app.window.document.state import DocumentState, Sweep
from inpaint_app.window.undo import ChangeSettings, UndoHistory

#: Of larger pictures, a part in sight of this side is tried.
MAX_SIDE = 512


class Sweeping:
    """Restores a picture, or the part of it in sight, with several values of a parameter."""

    def __init__(self, document: Document, history: UndoHistory, workers: WorkerPool) -> None:
        self._document, self._history = document, history
        self.task = ExclusiveTask(workers)

    def start(self, name: SweptName, first: float, last: float, n_points: int) -> None:
        """Try values between two; the curve grows as they are known."""
        document, state = self._document, self._document.state
        source, mask = state.source, state.mask
        if source is None or mask is None:
            document.problem.emit(NO_PICTURE)
            return
        values, rect, settings = spread(name, first, last, n_points), part_in_sight(state), state.settings
        document.apply(sweep=Sweep(name, (), source.reference is not None, rect))

        def work(control: JobControl) -> tuple[SweepPoint, ...]:
            pixels, missing = source.picture.pixels[rect.slices], mask.unpack()[rect.slices]
            reference = None if source.reference is None else source.reference.pixels[rect.slices]
            request = RestoreRequest(pixels, missing, settings)
            return sweep(SweepRequest(request, name, values, reference), control)

        def on_point(point: object) -> None:
            known = document.state.sweep
            if isinstance(point, SweepPoint) and known is not None:
                document.apply(sweep=replace(known, points=(*known.points, point)))

        self.task.start(
            work,
            done=lambda _points: None,
            progress=on_point,
            activity=Activity("sweep", Progress("trying", 0.0)),
        )

    def take(self, number: int) -> None:
        """Use the value of a point of the curve from now on."""
        found, document = self._document.state.sweep, self._document
        if found is None or not 0 <= number < len(found.points):
            return
        settings = with_value(document.state.settings, found.name, found.points[number].value)
        self._history.push(ChangeSettings(document, settings=settings))


def part_in_sight(state: DocumentState) -> Rect:
    """Return the whole picture, or the middle of what is seen of a large one."""
    assert state.source is not None, "a picture is open"
    height, width = state.source.shape
    if height * width <= MAX_SIDE**2:
        return Rect(0, 0, height, width)
    seen = (state.visible or Rect(0, 0, height, width)).clipped((height, width))
    row, column = seen.center
    rows, columns = min(MAX_SIDE, height), min(MAX_SIDE, width)
    top = min(max(row - rows // 2, 0), height - rows)
    left = min(max(column - columns // 2, 0), width - columns)
    return Rect(top, left, rows, columns)
