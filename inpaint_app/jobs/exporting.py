"""Requests that lead to files, and the work behind them; no Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from inpaint_app.errors import UserError, printable_path
from inpaint_app.figures import Panel, atoms_figure, comparison_figure
from inpaint_app.files.atomic import check_target
from inpaint_app.files.paths import same_file
from inpaint_app.files.recipe_contents import save_recipe
from inpaint_app.files.write import write_picture
from inpaint_app.formatting import format_decibels, format_percent
from inpaint_app.image.damage import mask_picture
from inpaint_app.image.missing import Mask
from inpaint_app.image.picture import Picture
from inpaint_app.window.session.state import Document, QualityMetrics, RunRecord

_LOSSY = (".jpg", ".jpeg", ".webp")


@dataclass(frozen=True)
class Target:
    """Where to write, and how.

    Attributes
    ----------
    path : Path
        The file; its ending tells the format.
    overwrite : bool
        Whether the user has agreed to replace an existing file.
    quality : int
        1 to 100, for JPEG and WebP.
    depth : int or None
        8 or 16 bits; None keeps the depth.
    keep_metadata : bool
        Whether EXIF and colour profile go along.
    """

    path: Path
    overwrite: bool = False
    quality: int = 95
    depth: int | None = None
    keep_metadata: bool = True


@dataclass(frozen=True)
class Written:
    """A file that was written; sentences about what could not be kept of the one it replaced."""

    path: Path
    notes: tuple[str, ...] = ()


def restored_picture(document: Document, record: RunRecord) -> Picture:
    """Return the restored picture with all that belongs to it in the file."""
    if record.image is None:
        raise UserError("The pixels of this run were let go to save memory; restore again (F5) first.")
    return document.picture.with_pixels(record.image, filled=record.mask)


def write_restored(document: Document, record: RunRecord, target: Target) -> Written:
    """Write the restored picture."""
    picture = restored_picture(document, record)
    if not target.keep_metadata:
        picture = replace(picture, exif=None, icc=None, dpi=None)
    return _write(picture, document, target)


def write_mask(document: Document, mask: Mask, target: Target) -> Written:
    """Write the mask, white = missing."""
    if target.path.suffix.lower() in _LOSSY:
        better = printable_path(target.path.with_suffix(".png").name)
        raise UserError(f"{printable_path(target.path.name)} would blur the mask; save it as PNG: {better}.")
    flat = np.atleast_3d(mask).any(axis=2)
    return _write(mask_picture(np.asarray(flat, np.bool_)), document, target)


def write_dictionary(document: Document, record: RunRecord, target: Target) -> Written:
    """Write the atoms of a dictionary as a picture."""
    restoration = record.restoration
    size = restoration.settings.patch_size
    figure = atoms_figure(
        restoration.dictionary,
        restoration.origins,
        (size, size),
        shares=restoration.usage_fractions,
        title=f"A dictionary of {len(restoration.origins)} atoms of {size} x {size} pixels",
        subtitle="Gray is zero. Below each atom: the fraction of the patches that use it.",
    )
    return _write(figure, document, target)


def write_comparison(document: Document, records: tuple[RunRecord, ...], target: Target) -> Written:
    """Write the damaged picture and restored ones side by side, with their figures."""
    if not records:
        raise UserError("There is nothing to compare yet; restore the picture first.")
    missing = format_percent(float(records[0].mask.mean()))
    panels = [Panel(document.picture, "Input", f"{missing} missing", records[0].mask)]
    if document.reference is not None and len(records) == 1:
        panels.insert(0, Panel(document.reference, "Original", ""))
    for record in records:
        picture = Picture(restored_picture(document, record).pixels)
        panels.append(
            Panel(picture, f"{record.settings.constraint.title()} sparsity", quality(record.figures))
        )
    return _write(comparison_figure(panels), document, target)


def write_settings(document: Document, record: RunRecord, target: Target) -> Written:
    """Write the parameters of a run as a recipe that window and command line read."""
    if target.path.suffix.lower() != ".json":
        raise UserError(
            f"{printable_path(target.path)} is no name for a recipe; give one that ends in .json."
        )
    _refuse_source(document, target)
    check_target(target.path, overwrite=target.overwrite)
    notes = save_recipe(
        target.path, record.settings, document.mask_spec, document.sources, overwrite=target.overwrite
    )
    return Written(target.path, notes)


def quality(figures: QualityMetrics | None) -> str:
    """Return the PSNR of a picture in words, marked where it is an estimate."""
    if figures is None:
        return ""
    if figures.scores.psnr is not None:
        return format_decibels(figures.scores.psnr)
    if figures.estimated_psnr is not None:
        return f"about {format_decibels(figures.estimated_psnr)} (estimated)"
    return ""


def _write(picture: Picture, document: Document, target: Target) -> Written:
    notes = write_picture(
        picture,
        target.path,
        overwrite=target.overwrite,
        quality=target.quality,
        depth=target.depth,
        protect=document.files,
    )
    return Written(target.path, notes)


def _refuse_source(document: Document, target: Target) -> None:
    for source in document.files:
        if same_file(target.path, source):
            raise UserError(
                f"{printable_path(target.path)} is a source of this picture; choose another name."
            )
