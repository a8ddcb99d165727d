"""The restorations of a source, oldest first, within bounded memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dictsel_core import Restoration, RestoreSettings
from dictsel_core.restoration import CONSTRAINTS
from inpaint_app.engine.hole_fill import HoleFill
from inpaint_app.engine.measure import QualityMetrics
from inpaint_app.engine.painted import Retouch
from inpaint_app.engine.restore import RestoreRequest, RunResult
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.picture import Array, Mask

#: Memory that the pixels of all records may take.
MAX_BYTES = 1 << 30


@dataclass(frozen=True, eq=False)
class RunRecord:
    """One restoration of the history."""

    number: int  #: Counts the restorations of a source, from 1 on.
    requested: RestoreSettings  #: The parameters as the user had set them.
    packed_mask: PackedMask  #: What was missing.
    seconds: float  #: How long it took.
    image: Array | None  #: The restored pixels; None where they were released to save memory.
    restoration: Restoration  #: How it came about; its own pixels are released as well.
    figures: QualityMetrics | None = None  #: None while they are being measured.
    is_stopped: bool = False  #: Whether it was stopped before its end.
    n_strokes: int = 0  #: How many strokes of the healing brush are part of it.
    name: str = ""  #: What the user calls it; empty for nothing.
    hole_fill: HoleFill | None = None  #: How the user let wide holes be filled; None for what is usual.
    #: Pixels, (H, W), that were painted as no restoration would: softly, in part, or copied; None for none.
    touched: PackedMask | None = None
    #: What is measured in place of its pixels, which have grain; None otherwise, and once it is measured.
    plain: Array | None = None

    @property
    def title(self) -> str:
        """What it is called."""
        return self.name or f"Run {self.number}"

    @property
    def mask(self) -> Mask:
        """What was missing, unpacked."""
        return self.packed_mask.unpack()

    @property
    def settings(self) -> RestoreSettings:
        """The parameters as used: what was left open is filled in."""
        return self.restoration.settings

    @property
    def retouch(self) -> Retouch | None:
        """What was painted by hand."""
        return None if self.touched is None or self.image is None else Retouch(self.touched, self.image)

    @property
    def n_bytes(self) -> int:
        """Memory that the pixels take."""
        return 0 if self.image is None else int(self.image.nbytes)

    def without_image(self) -> "RunRecord":
        """Return the record without its pixels."""
        return replace(self, image=None, restoration=without_pixels(self.restoration))


def record_of(result: RunResult, number: int, mask: PackedMask) -> RunRecord | None:
    """Return the record of a run, with the mask of its request packed before; None if it led to nothing."""
    restoration = result.restoration
    if restoration is None:
        return None
    image, retouch = restoration.image if result.grainy is None else result.grainy, result.retouch
    return RunRecord(
        number,
        result.request.settings,
        mask,
        result.seconds,
        image,
        replace(restoration, image=image),
        is_stopped=result.is_stopped,
        hole_fill=result.request.hole_fill,
        touched=None if retouch is None else retouch.where,
        plain=None if result.grainy is None else restoration.image,
    )


def without_pixels(restoration: Restoration) -> Restoration:
    """Return a restoration that takes little memory: without its pixels."""
    return replace(restoration, image=np.zeros((1, 1), np.uint8))


@dataclass(frozen=True, eq=False)
class PackedRequest:
    """The request of a run, in little memory, as it is when the run is started."""

    pixels: Array
    packed_mask: PackedMask
    settings: RestoreSettings
    hole_fill: HoleFill | None = None
    retouch: Retouch | None = None

    def unpack(self) -> RestoreRequest:
        """Return it for a job; called in another thread, since it takes a while."""
        mask = self.packed_mask.unpack()
        return RestoreRequest(self.pixels, mask, self.settings, self.hole_fill, self.retouch)


@dataclass(frozen=True, eq=False)
class RunHistory:
    """Records of one source, and which of them are shown; a new value for every change."""

    records: tuple[RunRecord, ...] = ()  #: In the order in which they were made.
    current_number: int | None = None  #: The record that is shown.
    saved_number: int | None = None  #: The record that was last written to a file.
    comparison: tuple[int, ...] = ()  #: The records that were last compared, in the order of their panes.
    #: The number of the last record that was made, which no other gets, even if that one was deleted.
    newest_number: int = 0

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self.records)

    @property
    def next_number(self) -> int:
        """The number of the next record."""
        return self.newest_number + 1

    @property
    def current(self) -> RunRecord | None:
        """The record that is shown, if there is one."""
        return self.find(self.current_number)

    @property
    def retouch(self) -> Retouch | None:
        """What was painted by hand in the record that is shown; later runs take it over."""
        return None if self.current is None else self.current.retouch

    @property
    def has_unsaved(self) -> bool:
        """Whether the current record has not been saved."""
        return self.current_number is not None and self.current_number != self.saved_number

    @property
    def compared(self) -> tuple[RunRecord, ...]:
        """The records of the comparison; none if the current one is not among them."""
        if self.current_number not in self.comparison:
            return ()
        found = map(self.find, self.comparison)
        return tuple(record for record in found if record is not None)

    def find(self, number: int | None) -> RunRecord | None:
        """Return a record by its number; None if there is none."""
        return next((record for record in self.records if record.number == number), None)

    def find_run(
        self, requested: RestoreSettings, mask: PackedMask, hole_fill: HoleFill | None = None
    ) -> RunRecord | None:
        """Return the latest complete run with these inputs that still has its pixels.

        What was painted by hand is that of the record that is shown.
        """
        touched = None if self.current is None else self.current.touched
        for record in reversed(self.records):
            is_whole = record.image is not None and not (record.is_stopped or record.n_strokes)
            is_asked = record.requested == requested and record.hole_fill is hole_fill
            is_asked = is_asked and record.touched is touched
            if is_whole and is_asked and record.packed_mask.same_pixels(mask):
                return record
        return None

    def find_runs(
        self, settings: RestoreSettings, mask: PackedMask, hole_fill: HoleFill | None = None
    ) -> dict[str, int]:
        """Return the numbers, by constraint, of complete runs with these inputs under each."""
        found = {c: self.find_run(replace(settings, constraint=c), mask, hole_fill) for c in CONSTRAINTS}
        return {constraint: record.number for constraint, record in found.items() if record is not None}

    @property
    def masks(self) -> tuple[PackedMask, ...]:
        """The masks of all records, each once, in the order in which they were used."""
        return tuple(dict.fromkeys(record.packed_mask for record in self.records))

    @property
    def touched(self) -> tuple[PackedMask, ...]:
        """What was painted in all records, each once."""
        return tuple(dict.fromkeys(record.touched for record in self.records if record.touched is not None))

    def added(self, record: RunRecord, *, max_bytes: int = MAX_BYTES) -> "RunHistory":
        """Return the history with one more record; the oldest lose their pixels when memory is short.

        Those that were painted by hand keep them: no run would bring them back.
        """
        same = (mask for mask in self.masks if mask.same_pixels(record.packed_mask))
        record = replace(record, packed_mask=next(same, record.packed_mask))
        kept: list[RunRecord] = []
        left = max_bytes - record.n_bytes
        for old in reversed(self.records):
            left -= old.n_bytes
            kept.append(old if left >= 0 or old.touched is not None else old.without_image())
        newest = max(self.newest_number, record.number)
        return replace(self, records=(*reversed(kept), record), newest_number=newest)

    def shown(self, number: int | None, comparison: Sequence[int] = ()) -> "RunHistory":
        """Return the history that shows a record, or none, and perhaps others beside it from now on."""
        return replace(self, current_number=number, comparison=tuple(comparison) or self.comparison)

    def replaced(self, record: RunRecord) -> "RunHistory":
        """Return the history with another record of the same number, which is shown and not saved."""
        records = tuple(record if old.number == record.number else old for old in self.records)
        saved = None if self.saved_number == record.number else self.saved_number
        return replace(self, records=records, current_number=record.number, saved_number=saved)

    def without(self, number: int) -> "RunHistory":
        """Return the history without a record; if it was shown, the newest that is left is."""
        records = tuple(record for record in self.records if record.number != number)
        newest = records[-1].number if records else None
        current = newest if self.current_number == number else self.current_number
        saved = None if self.saved_number == number else self.saved_number
        compared = () if number in self.comparison else self.comparison
        return replace(self, records=records, current_number=current, saved_number=saved, comparison=compared)

    def updated(self, number: int, **changes: Any) -> "RunHistory":
        """Return the history with other attributes of one record, such as its name or its figures."""
        records = (replace(r, **changes) if r.number == number else r for r in self.records)
        return replace(self, records=tuple(records))

    def without_figures(self) -> "RunHistory":
        """Return the history without figures, for another reference."""
        return replace(self, records=tuple(replace(record, figures=None) for record in self.records))
