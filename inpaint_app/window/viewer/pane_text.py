"""Words about the pictures of a session: below them, on them, and in place of them; no Qt widgets."""

from __future__ import annotations

import numpy as np

from inpaint_app.image.picture import Array
from inpaint_app.window.session import descriptions
from inpaint_app.window.session.descriptions import Forms
from inpaint_app.window.session.session import Session
from inpaint_app.window.session.state import RunRecord

_ARROW = "   →   "
_UNDER_WAY = {
    "restore": "The picture is being restored …",
    "compare": "Individual and average sparsity are being restored …",
    "tune": "Auto is choosing parameters …",
}


class PaneText:
    """Says what is drawn, which is not always what the last run led to.

    Parameters
    ----------
    session : Session
        Whose pictures they are.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.is_before_held = False
        """Whether the damaged picture stands where the restored one was."""
        self.has_inset = False
        """Whether a preview is drawn on the restored picture."""

    def original(self) -> str:
        """Return the caption of the original."""
        document = self._session.document
        if document is None or document.reference is None:
            return ""
        return f"{document.reference.width} x {document.reference.height} pixels"

    def damaged(self) -> Forms:
        """Return the caption of the damaged picture."""
        session = self._session
        has_reference = session.document is not None and session.document.reference is not None
        return descriptions.damaged_caption(
            session.missing_fraction, session.results.damage_quality, has_reference
        )

    def restored(self) -> Forms:
        """Return the caption of the pane for the restored picture."""
        record = self._session.results.current
        if self.is_before_held:
            return self.damaged()
        if self.has_inset and record is not None and self._session.runner.intermediate is None:
            return f"around the preview: run {record.number}", f"run {record.number}", ""
        return self.record(record, is_working=self._session.runner.intermediate is not None)

    def both(self) -> Forms:
        """Return the caption of the damaged and the restored picture in one."""
        record, damaged = self._session.results.current, self.damaged()
        if record is None or self._session.runner.intermediate is not None or self.is_before_held:
            return damaged
        full, shorter, shortest = zip(damaged, descriptions.restored_caption(record), strict=True)
        return _ARROW.join(full), _ARROW.join(shorter), _ARROW.join(shortest)

    def record(self, record: RunRecord | None, *, is_working: bool) -> Forms:
        """Return the caption of a run; none while another one is drawn in its place."""
        return ("", "", "") if record is None or is_working else descriptions.restored_caption(record)

    def badge(self) -> str:
        """Return the mark of the pane for the restored picture."""
        if self.is_before_held:
            return ""
        if self._session.runner.intermediate is not None:
            return "in progress"
        if self._session.runner.is_previewing:
            return "preview …"
        return "preview" if self.has_inset else ""

    def values(self, pixels: Array | None, pixel: tuple[int, int], *, is_damaged: bool) -> str:
        """Return the values of a pixel; those of a damaged picture may be missing."""
        mask = self._session.mask
        if pixels is None:
            return ""
        if is_damaged and mask is not None and bool(np.all(mask.mask[pixel])):
            return "missing"
        return descriptions.pixel_words(pixels, *pixel)

    def preview_values(self, pixel: tuple[int, int]) -> str:
        """Return the values of a pixel in the preview that is drawn; none beside it."""
        preview, (row, column) = self._session.runner.preview, pixel
        if preview is None or not self.has_inset:
            return ""
        top, left = preview.rows.start, preview.columns.start
        if not (top <= row < preview.rows.stop and left <= column < preview.columns.stop):
            return ""
        return descriptions.pixel_words(preview.image, row - top, column - left)

    def placeholder(self, name: str) -> str:
        """Say why a pane has no picture."""
        session = self._session
        has_reference = session.document is not None and session.document.reference is not None
        if name == "original":
            return "Open the original (reference) to see it here."
        if name == "error" and not has_reference:
            return "Errors need the original: open it as the reference."
        if session.activity is not None and session.activity.kind in _UNDER_WAY:
            return _UNDER_WAY[session.activity.kind]
        if session.missing_fraction == 0:
            return "Nothing is missing: paint what is to be restored (P)."
        if name in ("individual", "average"):
            return "Compare (F6) restores under both constraints."
        return (
            "Restore (F5) to see the errors." if name == "error" else "Restore (F5) to see the picture here."
        )
