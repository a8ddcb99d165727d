"""What the window knows, as values that never change."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from dictsel_core import Restoration, RestoreSettings
from inpaint_app.image.mask_spec import MaskSpec
from inpaint_app.image.missing import Mask
from inpaint_app.image.picture import Array, Picture
from inpaint_app.image.rect import Rect
from inpaint_app.jobs.work import Scores


@dataclass(frozen=True, eq=False)
class Document:
    """The picture that is worked on.

    Attributes
    ----------
    picture : Picture
        With missing pixels.
    name : str
        For titles and as a start for file names.
    path : Path or None
        Its file; None where it was pasted or made here.
    reference : Picture or None
        The undamaged picture.
    reference_path : Path or None
        Its file, if it has one of its own.
    mask_spec : MaskSpec
        What the user said about missing pixels.
    sources : tuple of str
        How missing pixels were found: those of `missing.MissingPixels`, "simulated".
    damage : str
        Simulated damage in words.
    """

    picture: Picture
    name: str
    path: Path | None = None
    reference: Picture | None = None
    reference_path: Path | None = None
    mask_spec: MaskSpec = field(default_factory=MaskSpec)
    sources: tuple[str, ...] = ()
    damage: str = ""

    @property
    def title(self) -> str:
        """The name, and the simulated damage."""
        return f"{self.name} ({self.damage})" if self.damage else self.name

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that must not be overwritten unasked."""
        given = (self.path, self.reference_path, self.mask_spec.mask)
        return tuple(path for path in given if path is not None)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.picture.height, self.picture.width


@dataclass(frozen=True)
class QualityMetrics:
    """How good a picture is: against the reference, or as estimated without one."""

    scores: Scores = field(default_factory=Scores)
    estimated_psnr: float | None = None


@dataclass(frozen=True, eq=False)
class RunRecord:
    """One restoration of the history.

    Attributes
    ----------
    number : int
        Counts the restorations of a document, from 1 on.
    requested : RestoreSettings
        The parameters as the user had set them.
    mask : Mask
        What was missing.
    seconds : float
        How long it took.
    image : ndarray or None
        The restored pixels; None where they were released to save memory.
    restoration : Restoration
        How it came about; its own pixels are released as well.
    figures : QualityMetrics or None
        None while they are being measured.
    is_stopped : bool
        Whether it was stopped before its end.
    """

    number: int
    requested: RestoreSettings
    mask: Mask
    seconds: float
    image: Array | None
    restoration: Restoration
    figures: QualityMetrics | None = None
    is_stopped: bool = False

    @property
    def settings(self) -> RestoreSettings:
        """The parameters as used: what was left open is filled in."""
        return self.restoration.settings

    @property
    def n_bytes(self) -> int:
        """Memory that the pixels take."""
        return 0 if self.image is None else int(self.image.nbytes)

    def without_image(self) -> RunRecord:
        """Return the record without its pixels."""
        slim = replace(self.restoration, image=np.zeros((1, 1), np.uint8))
        return replace(self, image=None, restoration=slim)


@dataclass(frozen=True)
class Activity:
    """Long work in progress.

    Attributes
    ----------
    kind : str
        "open", "restore", "tune", "compare" or "export".
    stage : str
        What it does now, in words.
    fraction : float or None
        Fraction that is done; None where that is not known.
    seconds_left : float or None
        None while it is not known.
    """

    kind: str
    stage: str
    fraction: float | None = None
    seconds_left: float | None = None

    @property
    def can_keep(self) -> bool:
        """Whether stopping leaves a result."""
        return self.kind in ("restore", "compare")


@dataclass(frozen=True, eq=False)
class Preview:
    """A restored part of the picture: rows and columns, and their pixels."""

    rows: slice
    columns: slice
    image: Array


@dataclass(frozen=True, eq=False)
class IntermediateImage:
    """The current image of a restoration in progress, and its constraint."""

    constraint: str
    image: Array


@dataclass(frozen=True)
class Comparison:
    """Numbers of the two records that are compared; None where one is missing."""

    individual: int | None = None
    average: int | None = None


@dataclass(frozen=True, eq=False)
class AtomUse:
    """Where an atom is used: the patches that have it in their support, within the picture."""

    atom: int
    rects: tuple[Rect, ...]


@dataclass(frozen=True)
class Advice:
    """What Auto chose, and why, in a sentence."""

    settings: RestoreSettings
    sentence: str
