"""Write the results of a restoration: the picture, its mask, figures and a recipe."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dictsel_core import Restoration, RestoreSettings
from inpaint_app.engine.dictionary import dictionary_figure
from inpaint_app.engine.measure import QualityMetrics
from inpaint_app.engine.source import Source
from inpaint_app.errors import UserError, printable_path
from inpaint_app.figures import Panel, comparison_figure
from inpaint_app.io.atomic import PendingFile, check_target, write_files
from inpaint_app.io.paths import same_file
from inpaint_app.io.recipe import recipe_output
from inpaint_app.io.write import Output
from inpaint_app.model.damage import mask_picture
from inpaint_app.model.missing import Mask, without_no_data
from inpaint_app.model.picture import Array, Picture
from inpaint_app.text.formatting import format_decibels, format_percent


@dataclass(frozen=True, eq=False)
class ComparedImage:
    """One restored picture of a comparison: its pixels, its title, and how good it is."""

    image: Array
    title: str
    quality: QualityMetrics | None


def restored_picture(source: Source, image: Array, mask: Mask) -> Picture:
    """Return restored pixels with everything else that the file of the source holds."""
    return source.picture.with_pixels(without_no_data(source.picture, image), filled=mask)


def write_restored(source: Source, image: Array, mask: Mask, output: Output) -> tuple[str, ...]:
    """Write a restored picture."""
    return output.write(restored_picture(source, image, mask), source.files)


def write_mask(source: Source, mask: Mask, output: Output) -> tuple[str, ...]:
    """Write a mask, white = missing."""
    output.check_mask(source.files)
    flat = np.atleast_3d(mask).any(axis=2)
    return output.write(mask_picture(np.asarray(flat, np.bool_)), source.files)


def write_dictionary(source: Source, restoration: Restoration, output: Output) -> tuple[str, ...]:
    """Write the atoms of a dictionary as a figure."""
    return output.write(dictionary_figure(restoration), source.files)


def write_comparison(
    source: Source, mask: Mask, compared: Sequence[ComparedImage], output: Output
) -> tuple[str, ...]:
    """Write the damaged picture and restored ones side by side, with their PSNR."""
    if not compared:
        raise UserError("There is nothing to compare yet", "restore the picture first")
    panels = [Panel(source.picture, "Input", f"{format_percent(float(mask.mean()))} missing", mask)]
    if source.reference is not None and len(compared) == 1:
        panels.insert(0, Panel(source.reference, "Original", ""))
    panels += [Panel(Picture(each.image), each.title, format_quality(each.quality)) for each in compared]
    return output.write(comparison_figure(panels), source.files)


def write_recipe(
    source: Source, settings: RestoreSettings, path: Path, *, overwrite: bool
) -> tuple[str, ...]:
    """Write settings and marks as a recipe that both front ends read."""
    check_recipe_target(path, source.files, overwrite=overwrite)
    return write_files([pending_recipe(source, settings, path)], overwrite=overwrite)


def pending_recipe(source: Source, settings: RestoreSettings, path: Path) -> PendingFile:
    """Return what `write_recipe` writes, to be written together with other files."""
    return recipe_output(path, settings, source.mask_spec, source.missing.sources)


def check_recipe_target(path: Path, protect: Iterable[Path], *, overwrite: bool) -> None:
    """Raise `UserError` if a recipe cannot be written there."""
    if path.suffix.lower() != ".json":
        raise UserError(f"{printable_path(path)} is not a name for a recipe", "give one that ends in .json")
    if any(same_file(path, each) for each in protect):
        raise UserError(f"{printable_path(path)} is a source of this picture", "choose another name")
    check_target(path, overwrite=overwrite)


def format_quality(quality: QualityMetrics | None) -> str:
    """Return the PSNR of a picture, marked where it is an estimate; empty where it is not known."""
    if quality is None:
        return ""
    if quality.scores.psnr is not None:
        return format_decibels(quality.scores.psnr)
    if quality.estimated_psnr is not None:
        return f"about {format_decibels(quality.estimated_psnr)} at missing pixels (estimated)"
    return ""
