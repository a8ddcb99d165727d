"""The restorations of a document, oldest first, within bounded memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from inpaint_app.window.state import Figures, RunRecord

MOST_BYTES = 1 << 30
"""Memory that the pixels of all records may take."""


@dataclass(frozen=True, eq=False)
class RunHistory:
    """Records of one document; a new value for every change.

    Attributes
    ----------
    records : tuple of RunRecord
        In the order in which they were made.
    """

    records: tuple[RunRecord, ...] = ()

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self.records)

    @property
    def next_number(self) -> int:
        """The number of the next record."""
        return self.records[-1].number + 1 if self.records else 1

    def find(self, number: int | None) -> RunRecord | None:
        """Return a record by its number; None if there is none."""
        return next((record for record in self.records if record.number == number), None)

    def added(self, record: RunRecord, *, most_bytes: int = MOST_BYTES) -> RunHistory:
        """Return the history with one more record; the oldest lose their pixels if memory asks for it."""
        kept: list[RunRecord] = []
        left = most_bytes - record.n_bytes
        for old in reversed(self.records):
            left -= old.n_bytes
            kept.append(old if left >= 0 else old.without_image())
        return RunHistory((*reversed(kept), record))

    def with_figures(self, number: int, figures: Figures | None) -> RunHistory:
        """Return the history with the figures of one record."""
        return RunHistory(
            tuple(replace(r, figures=figures) if r.number == number else r for r in self.records)
        )

    def without_figures(self) -> RunHistory:
        """Return the history with all figures forgotten, for another reference."""
        return RunHistory(tuple(replace(record, figures=None) for record in self.records))
