"""What the window knows of a picture, as a value that never changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from dictsel_core import RestoreSettings
from inpaint_app.engine.copying import Offset
from inpaint_app.engine.detect import DamageChoice, FirstLook, FoundDamage
from inpaint_app.engine.export import AtomUse
from inpaint_app.engine.hole_fill import HoleFill
from inpaint_app.engine.measure import QualityMetrics
from inpaint_app.engine.restore import IntermediateImage, Preview
from inpaint_app.engine.source import Plane, Source
from inpaint_app.engine.sweep import SweepPoint, SweptName
from inpaint_app.model.look import Look
from inpaint_app.model.mask_doubt import MaskDoubt
from inpaint_app.model.masks import MaskOrigin, PackedMask
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Mask, Rect
from inpaint_app.window.background.work import Activity
from inpaint_app.window.document.runs import RunHistory, RunRecord
from inpaint_app.window.document.view_state import ViewState


@dataclass(frozen=True)
class TuningOutcome:
    """What Auto chose in place of what the user had set, and why, in a sentence."""

    settings: RestoreSettings
    sentence: str
    given: RestoreSettings


@dataclass(frozen=True)
class UnshownFile:
    """A file that the window cannot show all of, and why, as half a sentence."""

    path: Path
    mask_spec: MaskSpec
    problem: str


@dataclass(frozen=True, eq=False)
class MarkedDamage:
    """A choice of found damage that is in the mask, and the pixels that are missing only because of it."""

    choice: DamageChoice
    added: PackedMask


@dataclass(frozen=True)
class Sweep:
    """How good restorations are over one parameter, as far as that is known."""

    name: SweptName
    points: tuple[SweepPoint, ...]
    is_true: bool  #: Whether they are measured against the original, not on held-out pixels.
    rect: Rect  #: The part of the picture that was restored.


@dataclass(frozen=True, eq=False)
class Region:
    """A part of the picture, and the PSNR in it of the damaged picture (None) and of runs, by number."""

    rect: Rect
    inside: Mask  #: Which pixels of the rectangle.
    psnr: Mapping[int | None, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ChosenSource:
    """Where strokes copy from."""

    row: float
    column: float
    offset: Offset | None = None  #: From what is painted to what is copied, once a stroke has begun.


@dataclass(frozen=True, eq=False)
class PlaneWork:
    """What was done with a plane of the file that is not shown now."""

    source: Source
    mask: PackedMask
    runs: RunHistory
    saved_mask: PackedMask | None = None

    @property
    def is_unsaved(self) -> bool:
        """Whether something of it has not been saved."""
        return self.runs.has_unsaved or _is_unsaved(self.mask, self.saved_mask)


@dataclass(frozen=True, eq=False)
class DocumentState:
    """A picture and all that was done with it; a new value for every change."""

    # What the user works with, and a file would hold.
    source: Source | None = None  #: None before a picture is opened.
    mask: PackedMask | None = None  #: What is missing, as of the last step that changed it.
    settings: RestoreSettings = field(default_factory=RestoreSettings)
    hole_fill: HoleFill | None = None  #: How wide holes are filled; None for what is usual.
    is_automatic: bool = False  #: Whether a run follows every change.
    runs: RunHistory = field(default_factory=RunHistory)  #: All restorations, and which is shown.
    marked: MarkedDamage | None = None  #: What of the found damage is in the mask.
    planes: Mapping[Plane, PlaneWork] = field(default_factory=dict)  #: Other planes that were looked at.
    look: Look = field(default_factory=Look)  #: How values become colors.
    view: ViewState = field(default_factory=ViewState)
    copy_source: ChosenSource | None = None  #: None lets the healing brush find its own pixels.
    saved_mask: PackedMask | None = None  #: The mask that was written last, by itself or with a result.

    # What is known about it.
    project: Path | None = None  #: The file that it was last opened from, or saved in, as a project.
    n_opened: int = 0  #: Counts the pictures that were opened; another mask or reference is none.
    advice: TuningOutcome | None = None  #: Where the settings come from Auto.
    doubt: MaskDoubt | None = None  #: Why the user is asked if the mask is meant as it is.
    found: FoundDamage | None = None  #: All that may be damage; None before it was looked for.
    choice: DamageChoice = field(default_factory=DamageChoice)  #: What of it is wanted in the mask.
    mark: int | None = None  #: The region of found damage that is looked at.
    damage_quality: QualityMetrics | None = None  #: Of the damaged picture; None while it is not known.
    atom: int | None = None  #: The chosen atom of the current dictionary, in the order of selection.
    atom_use: AtomUse | None = None  #: Where it is used, once that is known.
    sweep: Sweep | None = None  #: The curve of a parameter.
    region: Region | None = None  #: Where all runs are measured.
    unshown: UnshownFile | None = None  #: A file that was to be opened, and can be restored unseen.
    visible: Rect | None = None  #: The part of the picture that is seen.

    # What is in progress.
    activity: Activity | None = None  #: The work that the user waits for.
    intermediate: IntermediateImage | None = None  #: The latest image of the run, unless it is hidden.
    preview: Preview | None = None  #: The visible part, restored with the current parameters.
    is_previewing: bool = False  #: Whether a preview is being made, or will be as soon as the user pauses.
    first_look: FirstLook | None = None  #: Damage that is seen at once, until all is found.

    def differences(self, other: "DocumentState") -> frozenset[str]:
        """Return the names of the fields that differ."""
        return frozenset(name for name in _NAMES if _differ(getattr(self, name), getattr(other, name)))

    @property
    def missing_fraction(self) -> float:
        """Fraction of all values that is missing, 0 to 1."""
        return 0.0 if self.mask is None else self.mask.fraction

    @property
    def has_reference(self) -> bool:
        """Whether the undamaged picture is known."""
        return self.source is not None and self.source.reference is not None

    @property
    def has_unsaved_result(self) -> bool:
        """Whether the current result has not been saved; that of a sample need not be."""
        others = any(work.is_unsaved for work in self.planes.values())
        return (self.runs.has_unsaved or others) and not self._is_sample

    @property
    def has_unsaved_mask(self) -> bool:
        """Whether a painted mask was saved neither itself nor with a picture restored with it."""
        return self.mask is not None and not self._is_sample and _is_unsaved(self.mask, self.saved_mask)

    @property
    def _is_sample(self) -> bool:
        return self.source is not None and self.source.is_sample

    def has_inputs_of(self, record: RunRecord) -> bool:
        """Return whether parameters and mask are those of a restoration."""
        return record.requested == self.settings and self.has_mask_of(record)

    def has_mask_of(self, record: RunRecord) -> bool:
        """Return whether the mask is that of a restoration."""
        return self.mask is not None and self.mask.same_pixels(record.packed_mask)


def _is_unsaved(mask: PackedMask, saved: PackedMask | None) -> bool:
    """Return whether a mask was painted, and not saved as it is."""
    return mask.origin != MaskOrigin() and (saved is None or not mask.same_pixels(saved))


_NAMES = tuple(each.name for each in fields(DocumentState))


def _differ(one: object, other: object) -> bool:
    return one is not other and one != other
