"""Load what is to be restored: a picture, its missing pixels, and the undamaged original if there is one."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dictsel_core  # detection is imported when it is first used, and is slow to import
from dictsel_core import RestoreSettings
from dictsel_core.damage_kinds import DamageKind
from inpaint_app.engine.control import JobControl, Progress, ProgressReporter
from inpaint_app.engine.overview import (
    Overview,
)
from inpaint_app.engine.restore import RestoreRequest
from inpaint_app.errors import (
    NothingMissingError,
    Remedy,
    TooLargeError,
    UserError,
    printable_path,
)
from inpaint_app.io.paths import is_folder
from inpaint_app.io.read import read_picture
from inpaint_app.io.recipe import read_recipe, recipe_mask_spec, recipe_settings
from inpaint_app.model.marks import choose_tolerance, note_on_neighbors
from inpaint_app.model.mask_doubt import MaskDoubt, doubt_about_mask
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.missing import (
    MaskSpec,
    MissingPixels,
    check_missing,
    collect_missing,
    joined,
    pixels_of_mask,
    without_no_data,
)
from inpaint_app.model.picture import Array, Mask, Picture
from inpaint_app.text import format_percent

#: What restoring a picture in memory takes.
BYTES_PER_VALUE = 32


def memory() -> float:
    """Return how much memory the machine has, in bytes; infinite where it does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def check_input(path: Path) -> None:
    """Raise `UserError` if a folder is given where a picture is wanted."""
    if is_folder(path):
        raise UserError(f"{printable_path(path)} is a folder", Remedy.RESTORE_FOLDER)


def read_single_page(path: Path) -> Picture:
    """Read a picture that must have one page."""
    picture = read_picture(path)
    check_single_page(len(picture.pages), printable_path(path))
    return picture


def check_single_page(n_pages: int, name: str) -> None:
    """Raise `UserError` if a picture has several pages where one is wanted."""
    if n_pages > 1:
        raise UserError(f"{name} has {n_pages} pages", Remedy.RESTORE_ARRAY)


def check_drawable(picture: Picture, name: str) -> None:
    """Raise `UserError` if a picture is neither gray nor RGB."""
    if picture.n_bands not in (1, 3):
        raise UserError(f"{name} has {picture.n_bands} bands", Remedy.RESTORE_ARRAY)


def check_comparable(one: Picture, other: Picture, its_name: str, other_name: str) -> None:
    """Raise `UserError` if two pictures cannot be compared value by value."""
    if (one.width, one.height) != (other.width, other.height):
        raise UserError(
            f"{its_name} has {one.width} x {one.height} pixels but {other_name} has "
            f"{other.width} x {other.height}",
            "give pictures of the same size",
        )
    one_mode, other_mode = replace(one, alpha=None).mode, replace(other, alpha=None).mode
    if one_mode != other_mode:
        raise UserError(
            f"{its_name} is {one_mode} but {other_name} is {other_mode}", "give pictures of the same kind"
        )


NOTHING = MissingPixels(np.zeros((1, 1), np.bool_), ())


class Plane(NamedTuple):
    """A part of a file that is one picture: a page, or a band of it; both are counted from 0."""

    page: int = 0
    band: int | None = None  #: None for all bands together, as gray or color.


@dataclass(frozen=True, eq=False)
class Source:
    """A picture to restore."""

    picture: Picture  #: With missing pixels.
    missing: MissingPixels  #: Which ones, as found when it was loaded.
    name: str  #: For titles and as a start for file names.
    path: Path | None = None  #: Its file; None where it was pasted or made here.
    mask_spec: MaskSpec = field(default_factory=MaskSpec)  #: How missing pixels are marked.
    reference: Picture | None = None  #: The undamaged picture.
    reference_path: Path | None = None  #: Its file, if it has one of its own.
    damage: str = ""  #: Simulated damage, such as "80 % missing".
    is_sample: bool = False  #: Whether it is the bundled picture.
    doubt: MaskDoubt | None = None  #: Why its mask may not be meant as it is.
    found: Mapping[DamageKind, int] = field(default_factory=dict)  #: Regions of detected damage, by kind.
    marking_note: str = ""  #: A sentence about what the marks may have left; empty if there is none.
    #: All pages and bands of the file; None if it has no more than the picture.
    whole: Picture | None = None
    #: What the picture is reduced from, if that is larger than memory.
    overview: Overview | None = None
    plane: Plane = field(default_factory=Plane)  #: Which of them the picture is.

    @property
    def n_pages(self) -> int:
        """How many pages the file has."""
        if self.overview is not None:
            return self.overview.n_planes
        return 1 if self.whole is None else len(self.whole.more_pages) + 1

    @property
    def is_part(self) -> bool:
        """Whether there is more in the file than the picture shows."""
        return self.whole is not None or self.overview is not None

    @property
    def n_bands(self) -> int:
        """How many bands there are to choose from; 1 if they are shown together."""
        return (
            1 if self.whole is None or self.plane.band is None else self.whole.pages[self.plane.page].n_bands
        )

    @property
    def intact(self) -> Picture:
        """The undamaged picture, or the picture itself where there is none."""
        return self.reference or self.picture

    @property
    def title(self) -> str:
        """The name, which part of the file it is, and the simulated damage."""
        parts = [f"page {self.plane.page + 1} of {self.n_pages}"] if self.n_pages > 1 else []
        parts += [f"band {self.plane.band + 1}"] if self.plane.band is not None else []
        parts += [f"1 : {self.overview.factor}"] if self.overview is not None else []
        parts += [self.damage] if self.damage else []
        return f"{self.name} ({', '.join(parts)})" if parts else self.name

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that must not be overwritten without permission."""
        given = (self.path, self.reference_path, self.mask_spec.mask)
        return tuple(path for path in given if path is not None)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.picture.height, self.picture.width

    def restored(self, image: Array, mask: Mask) -> Picture:
        """Return restored pixels with everything else that its file holds."""
        return self.picture.with_pixels(without_no_data(self.picture, image), filled=mask)

    def request(self, settings: RestoreSettings) -> RestoreRequest:
        """Return the request to restore its missing pixels."""
        return RestoreRequest(self.picture.pixels, self.missing.mask, settings)


def load_source(path: Path, mask_spec: MaskSpec, reference: Path | None = None) -> Source:
    """Read a picture of one page that must have missing pixels, and its reference.

    Raises `UserError` if a file cannot be read, does not fit the picture, or nothing or everything is
    missing.
    """
    sources = load_pages(path, mask_spec)
    check_single_page(len(sources), printable_path(path))
    source = sources[0]
    return source if reference is None else with_reference(source, reference)


def load_pages(
    path: Path,
    mask_spec: MaskSpec,
    control: JobControl | None = None,
    *,
    max_values: float = math.inf,
    masks: Mapping[Plane, PackedMask] | None = None,
) -> tuple[Source, ...]:
    """Read the pages of a picture, some of which must have missing pixels; the control follows detection.

    Where `masks` has what is missing in a plane, that counts in place of what the file marks.

    Raises `UserError` if a file cannot be read, the mask does not fit, or nothing or everything is missing;
    `TooLargeError` if there are more values than so many.
    """
    check_input(path)
    pages = read_picture(path).pages
    painted = _painted_pages(pages, masks or {})
    if sum(page.pixels.size for page in pages) > max_values:
        raise TooLargeError(f"{printable_path(path)} needs more memory than there is", "scale it down first")
    files = _read_masks(mask_spec.mask, len(pages))
    sources = tuple(
        painted.get(number) or as_marked(Source(page, NOTHING, path.name, path), mask_spec, mask, control)
        for number, (page, mask) in enumerate(zip(pages, files, strict=True))
    )
    sources = tuple(replace(source, name=path.name, path=path) for source in sources)
    for source in sources:
        _refuse_doubtful_mask(source)
    if mask_spec.detect and not any(source.missing.mask.any() for source in sources):
        raise NothingMissingError("No damage was found", "raise the sensitivity, or mark what is missing")
    damaged_pages = [source for source in sources if source.missing.sources] or list(sources[:1])
    for source in damaged_pages:
        has_mask, has_key = mask_spec.mask is not None, mask_spec.key is not None
        check_missing(source.missing.fraction, has_mask=has_mask, has_key=has_key)
    return sources


def detect_again(source: Source, mask_spec: MaskSpec) -> Source:
    """Return the source with missing pixels as they are marked now.

    Raises `UserError` if a mask or a color is given that marks nothing.
    """
    marked = as_marked(source, mask_spec, mask_page(source, mask_spec))
    if mask_spec.mask is not None and "mask" not in marked.missing.sources:
        raise UserError("The mask marks no pixel", Remedy.INVERT_MASK)
    if mask_spec.key is not None and "key" not in marked.missing.sources:
        raise UserError("No pixel has that color", Remedy.ALLOW_TOLERANCE)
    return marked


def with_reference(source: Source, path: Path, page: Picture | None = None) -> Source:
    """Return the source with the undamaged picture to measure against: a file, or a page of it."""
    reference = read_picture(path) if page is None else page
    name = f"The reference {printable_path(path)}"
    check_comparable(reference, source.picture, name, "the picture")
    if collect_missing(reference, soft_edges=False).sources:
        raise UserError(f"{name} has missing pixels of its own", "give the undamaged picture")
    return replace(source, reference=reference, reference_path=path)


def _painted_pages(pages: tuple[Picture, ...], masks: Mapping[Plane, PackedMask]) -> dict[int, Source]:
    """Return the pages of which some planes have a mask of their own, by number."""
    painted: dict[int, Source] = {}
    for plane, mask in masks.items():
        page = pages[plane.page]
        known = painted.get(plane.page)
        missing = collect_missing(page).mask if known is None else known.missing.mask
        if plane.band is None:
            missing = mask.unpack()
        else:
            missing = np.array(np.broadcast_to(np.atleast_3d(missing), page.pixels.shape))
            missing[..., plane.band] = mask.unpack()
        marks = ("mask",) if missing.any() else ()
        painted[plane.page] = Source(page, MissingPixels(missing, marks), "")
    return painted


def mask_page(source: Source, spec: MaskSpec) -> Picture | None:
    """Return the mask file of a source: its page, if it has as many as the picture."""
    return _read_masks(spec.mask, source.n_pages)[source.plane.page]


def _read_masks(path: Path | None, n_pages: int) -> tuple[Picture | None, ...]:
    """Return the mask of each page."""
    if path is None:
        return (None,) * n_pages
    mask = read_picture(path)
    if mask.metadata.source_format == "JPEG" and mask.alpha is not None:
        raise UserError(f"The mask {printable_path(path)} is truncated", "get a fresh copy")
    if len(mask.pages) not in (1, n_pages):
        raise UserError(
            f"The mask has {len(mask.pages)} pages but the picture has {n_pages}",
            "give a mask of one page, or of as many",
        )
    return mask.pages if len(mask.pages) == n_pages else mask.pages * n_pages


def as_marked(
    source: Source, spec: MaskSpec, mask: Picture | None, control: JobControl | None = None
) -> Source:
    """Return the source with missing pixels as they are marked; what that leaves open is chosen for it."""
    picture, doubt, note = source.picture, None, ""
    if spec.key is not None and spec.tolerance is None:
        spec = replace(spec, tolerance=choose_tolerance(picture, spec.key))
    missing, found = _detect(picture, spec, mask, control)
    if spec.key is not None and "key" in missing.sources:
        flat = np.asarray(np.atleast_3d(missing.mask).any(axis=2))
        note = note_on_neighbors(picture, spec.key, spec.tolerance or 0.0, flat)
    if mask is not None and not spec.trusts_mask and "mask" in missing.sources:
        marked = pixels_of_mask(picture, mask, invert=spec.invert_mask)
        doubt = doubt_about_mask(picture, mask, np.asarray(np.atleast_3d(marked).all(axis=2)))
    return replace(source, mask_spec=spec, missing=missing, doubt=doubt, found=found, marking_note=note)


def _refuse_doubtful_mask(source: Source) -> None:
    """Raise `UserError` if a mask may not be meant as it is."""
    spec = source.mask_spec
    if source.doubt is None or spec.mask is None:
        return
    name = f"The mask {printable_path(spec.mask)}"
    if source.doubt is MaskDoubt.PHOTOGRAPH:
        raise UserError(f"{name} looks like a photograph", Remedy.CHECK_PHOTOGRAPH)
    marked = source.missing.fraction if source.missing.growth is None else source.missing.growth.marked
    remedy = Remedy.CHECK_UNINVERTED if spec.invert_mask else Remedy.CHECK_INVERTED
    inverted = ", inverted," if spec.invert_mask else ""
    raise UserError(
        f"{name}{inverted} marks {format_percent(marked)} of the picture, and seems to mark what is intact",
        remedy,
    )


def _detect(
    picture: Picture, spec: MaskSpec, mask: Picture | None, control: JobControl | None = None
) -> tuple[MissingPixels, dict[DamageKind, int]]:
    """Return the missing pixels, and the number of regions of damage that was looked for."""
    missing = collect_missing(
        picture,
        mask=mask,
        key=spec.key,
        tolerance=spec.tolerance or 0.0,
        invert_mask=spec.invert_mask,
        grow=spec.grow,
        soft_edges=spec.soft_edges,
    )
    if not spec.detect:
        return missing, {}
    check_drawable(picture, "The picture")
    analysis = analyze_picture(picture, missing.mask, spec.detect, control or JobControl())
    found = {kind: each.n_regions for kind, each in analysis.found(spec.sensitivity).items()}
    return joined(missing, analysis.mask(spec.sensitivity)), found


def analyze_picture(
    picture: Picture, missing: Mask, kinds: tuple[DamageKind, ...], control: JobControl
) -> "dictsel_core.detection.DamageAnalysis":
    """Return all that may be damage, besides what is known to be missing; reports `Progress`.

    Its `mask` for a sensitivity takes milliseconds, and its regions can be left out one by one. Raises
    `CancelledError` or `StoppedError` if the job was ended.
    """
    control.report(Progress("detecting damage", 0.0))
    run = dictsel_core.detection.iter_analyze_damage(picture.pixels, kinds, missing=missing)
    reporter = ProgressReporter(control)
    return control.drain(run, lambda step: reporter.update("detecting damage", step.fraction))


@dataclass(frozen=True, eq=False)
class LoadedRecipe:
    """The contents of a recipe."""

    settings: RestoreSettings
    mask_spec: MaskSpec  #: How missing pixels are marked; `MaskSpec()` where it does not say.
    #: The open picture with missing pixels marked so; None where there is none, or no marks.
    source: Source | None = None


def load_recipe(path: Path, source: Source | None = None) -> LoadedRecipe:
    """Read a recipe; with a source, detect its missing pixels again if the recipe says how."""
    recipe = read_recipe(path)
    settings, mask_spec = recipe_settings(recipe, path), recipe_mask_spec(recipe, path)
    if source is None or mask_spec == MaskSpec():
        return LoadedRecipe(settings, mask_spec)
    return LoadedRecipe(settings, mask_spec, detect_again(source, mask_spec))
