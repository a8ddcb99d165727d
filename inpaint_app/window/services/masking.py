"""Edits of the mask, each one step of undo; those that take longer than a frame in another thread."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from inpaint_app.engine.control import Progress
from inpaint_app.engine.copying import CopySource
from inpaint_app.engine.heal import Paint
from inpaint_app.engine.object_outline import outline_object, similar_region
from inpaint_app.model.masks import MaskDelta, MaskOrigin, MaskPainter
from inpaint_app.model.missing import dilate, erode
from inpaint_app.model.picture import Mask, Rect
from inpaint_app.window.background.work import Activity, ExclusiveTask, WorkerPool
from inpaint_app.window.document.document import Document
from inpaint_app.window.undo import EditMask, Heal, PaintMask, ReplaceMask, UndoHistory

Computed = TypeVar("Computed")


class Masking:
    """Paints on the mask of a document; without a picture, nothing happens."""

    def __init__(self, document: Document, history: UndoHistory, workers: WorkerPool) -> None:
        self._document, self._history, self._workers = document, history, workers
        self.task = ExclusiveTask(workers)

    # Strokes

    def begin_stroke(self, row: float, column: float, *, diameter: int, missing: bool = True) -> None:
        """Put a round brush down; it paints missing pixels, or erases them."""
        self.end_stroke()
        self._paint(lambda painter: painter.begin_stroke(row, column, diameter=diameter, missing=missing))

    def extend_stroke(self, row: float, column: float, *, diameter: int | None = None) -> None:
        """Draw the brush in a straight line to another place, perhaps with another width there."""
        self._paint(lambda painter: painter.extend_stroke(row, column, diameter=diameter))

    def fill_stroke(self, rect: Rect, where: Mask) -> None:
        """Paint some pixels of a rectangle inside the picture, as part of the stroke."""
        self._paint(lambda painter: painter.fill_stroke(rect, where))

    def cancel_stroke(self) -> None:
        """Lift the brush and leave the mask as it was before the stroke."""
        self._paint(lambda painter: painter.cancel_stroke())

    def end_stroke(self) -> None:
        """Lift the brush: the stroke is a step if it changed something."""
        self._history.end_stroke()

    def heal_stroke(self, copy: CopySource | None = None) -> None:
        """Lift the brush, and have what the stroke covers healed, or copied from elsewhere."""
        painter = self._document.painter
        ended = None if painter is None else painter.end_stroke()
        if ended is not None:
            paint = Paint(ended.covered, ended.delta, self._document.state.view.tip, copy)
            self._history.push(Heal(self._document, ended.rect, paint))

    def _paint(self, change: Callable[[MaskPainter], Rect | None]) -> None:
        rect = None if self._document.painter is None else change(self._document.painter)
        if rect is not None:
            self._document.painted.emit(rect)

    # Edits at once

    def fill(self, rect: Rect, *, missing: bool = True, where: Mask | None = None) -> None:
        """Make the pixels of a rectangle missing, or observed; only some of them if `where` is given."""
        self._edit(lambda painter: painter.fill(rect, missing=missing, where=where))

    def clear(self) -> None:
        """Make every pixel observed."""
        self._edit(lambda painter: painter.replace(None), MaskOrigin(is_given=False))

    def invert(self) -> None:
        """Make missing what is observed, and the other way round."""
        mask = self._document.state.mask
        if mask is not None:
            origin = replace(mask.origin, is_inverted=not mask.origin.is_inverted)
            self._edit(MaskPainter.invert, origin)

    def _edit(
        self, change: Callable[[MaskPainter], MaskDelta | None], origin: MaskOrigin | None = None
    ) -> None:
        self.end_stroke()
        document = self._document
        delta = None if document.painter is None else change(document.painter)
        if delta is not None:
            document.painted.emit(delta.rect)
            self._history.push(
                PaintMask(document, delta) if origin is None else EditMask(document, delta, origin)
            )

    # Edits that take a while

    def resize(self, pixels: int) -> None:
        """Grow what is missing by some pixels, or shrink it by -pixels."""
        mask = self._document.state.mask
        if mask is None:
            return
        origin = replace(mask.origin, is_painted=True)
        self._start(
            lambda: dilate(mask.unpack(), pixels) if pixels > 0 else erode(mask.unpack(), -pixels),
            lambda made: self._history.push(ReplaceMask(self._document, made, origin)),
        )

    def mark_similar(self, row: int, column: int, *, missing: bool = True) -> None:
        """Mark the connected pixels that look like one of them, or unmark them."""
        source, tolerance = self._document.state.source, self._document.state.view.tolerance
        if source is not None and Rect(0, 0, *source.shape).contains((row, column)):
            self._start(
                lambda: similar_region(source.picture, row, column, tolerance),
                lambda found: self.fill(found[0], missing=missing, where=found[1]),
            )

    def mark_object(self, rect: Rect, inside: Mask, *, missing: bool = True) -> None:
        """Mark the object that a line was drawn around, or unmark it; the line surrounds `inside`."""
        source, mask = self._document.state.source, self._document.state.mask
        if source is None:
            return
        pixels = source.picture.pixels

        def on_done(found: tuple[Rect, Mask]) -> None:
            if self._document.state.mask is mask:
                self.fill(found[0], missing=missing, where=found[1])

        self.task.start(
            lambda control: outline_object(pixels, rect, inside, control),
            done=on_done,
            activity=Activity("outline", Progress("looking for the object")),
        )

    def _start(self, compute: Callable[[], Computed], edit: Callable[[Computed], None]) -> None:
        """Compute an edit, which is dropped if the mask has changed meanwhile."""
        mask = self._document.state.mask

        def on_done(computed: Computed) -> None:
            self.end_stroke()
            if self._document.state.mask is mask:
                edit(computed)

        self._workers.start(lambda _control: compute(), done=on_done)
