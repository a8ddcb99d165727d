"""Edits of the mask that take longer than a frame: computed in another thread, one step of undo each."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from inpaint_app.engine.source import Source
from inpaint_app.model.mask_history import MaskHistory
from inpaint_app.model.mask_spec import MaskSpec
from inpaint_app.model.missing import Mask, color_at, grown, shrunk
from inpaint_app.model.rect import Rect
from inpaint_app.model.similar_region import similar_region

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session

Computed = TypeVar("Computed")


class MaskEdits:
    """Changes the mask of a session; an edit is dropped if the mask has changed meanwhile."""

    def __init__(self, session: "Session") -> None:
        self._session = session

    def resize(self, pixels: int) -> None:
        """Grow what is missing by some pixels, or shrink it by -pixels."""
        if self._session.mask is None:
            return
        packed = self._session.mask.snapshot()
        origin = replace(self._session.mask.origin, is_painted=True)
        self._start(
            lambda: grown(packed.unpack(), pixels) if pixels > 0 else shrunk(packed.unpack(), -pixels),
            lambda history, changed: history.replace(changed, origin),
        )

    def mark_similar(self, row: int, column: int, *, missing: bool = True) -> None:
        """Mark the connected pixels that look like one of them, or unmark them."""
        source = self._source_at(row, column)
        if source is None:
            return

        def edit(history: MaskHistory, found: tuple[Rect, Mask]) -> Rect | None:
            return history.fill(found[0], missing=missing, where=found[1])

        self._start(lambda: similar_region(source.picture, row, column), edit)

    def mark_color_of(self, row: int, column: int) -> None:
        """Make all pixels missing that have nearly the color of one."""
        source = self._source_at(row, column)
        if source is not None:
            key, tolerance = color_at(source.picture, row, column)
            self._session.opener.set_mask_spec(MaskSpec(key=key, tolerance=tolerance))

    def _source_at(self, row: int, column: int) -> Source | None:
        """Return the source if there is one that has this pixel."""
        source = self._session.source
        is_inside = source is not None and Rect(0, 0, *source.shape[:2]).contains((row, column))
        return source if is_inside else None

    def _start(
        self, compute: Callable[[], Computed], edit: Callable[[MaskHistory, Computed], Rect | None]
    ) -> None:
        session, history = self._session, self._session.mask
        assert history is not None, "there is a picture"
        state = history.state

        def on_done(computed: Computed) -> None:
            if session.mask is history and history.state == state:
                session.edit_mask(lambda mask: edit(mask, computed))

        session.workers.start(lambda _control: compute(), done=on_done)
