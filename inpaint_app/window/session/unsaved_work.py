"""What would be lost if the picture were closed."""

from typing import TYPE_CHECKING

from inpaint_app.model.packed_mask import PackedMask
from inpaint_app.window.session.state import RunRecord

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session


class UnsavedWork:
    """Knows which work of a session is in no file."""

    def __init__(self, session: "Session") -> None:
        self._session = session

    @property
    def is_any(self) -> bool:
        """Whether the current result or a painted mask has not been saved."""
        return self.has_result or self.has_mask

    @property
    def has_result(self) -> bool:
        """Whether the current result has not been saved; that of a sample need not be."""
        return self._session.results.history.has_unsaved and not self._is_sample

    @property
    def has_mask(self) -> bool:
        """Whether a painted mask was saved neither itself nor with a picture restored with it."""
        mask = self._session.mask
        return mask is not None and not mask.is_saved and not self._is_sample

    @property
    def run_seconds(self) -> float:
        """How long the run in progress has taken, whose work would be lost; 0 for a sample."""
        return 0.0 if self._is_sample else self._session.runner.seconds

    @property
    def _is_sample(self) -> bool:
        source = self._session.source
        return source is not None and source.is_sample

    def discard(self) -> None:
        """Treat the work as saved."""
        session = self._session
        if session.mask is not None:
            session.mask.mark_saved()
        if session.results.current is not None:
            session.results.mark_saved(session.results.current)

    def mark_saved(self, record: RunRecord) -> None:
        """Remember that a result was saved, and the mask if it was restored with that."""
        if self._session.results.mark_saved(record):
            self.mark_mask_saved(record.packed_mask)

    def mark_mask_saved(self, mask: PackedMask) -> None:
        """Remember that a mask was saved, if it is still in use."""
        session = self._session
        if session.mask is not None and session.mask.snapshot().same_pixels(mask):
            session.mask.mark_saved()
            session.mask_edited.emit()
