"""Write the results of a restoration: the picture, its mask, figures and a recipe."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dictsel_core import Restoration, RestoreSettings
from inpaint_app.errors import UserError, printable_path
from inpaint_app.figures import Panel, comparison_figure
from inpaint_app.files.atomic import PendingFile, check_target, write_files
from inpaint_app.files.encodable import PictureProperties, check_encodable, properties_of
from inpaint_app.files.paths import same_file
from inpaint_app.files.recipes.contents import recipe_output
from inpaint_app.files.registry import format_of
from inpaint_app.files.write import check_output, lost_metadata, picture_output
from inpaint_app.formatting import format_decibels, format_percent
from inpaint_app.image.damage import mask_picture
from inpaint_app.image.missing import Mask
from inpaint_app.image.picture import Array, Picture
from inpaint_app.jobs.dictionary import dictionary_figure
from inpaint_app.jobs.measure import QualityMetrics
from inpaint_app.jobs.source import Source


@dataclass(frozen=True)
class Output:
    """A picture file to write.

    Attributes
    ----------
    path : Path
        Its suffix decides the format.
    overwrite : bool
        Whether an existing file may be replaced.
    quality : int
        1 to 100, for formats that have one.
    depth : int or None
        8 or 16 bits per channel; None keeps the depth.
    keep_metadata : bool
        Whether EXIF, color profile and other metadata are written too.
    """

    path: Path
    overwrite: bool = False
    quality: int = 95
    depth: int | None = None
    keep_metadata: bool = True

    def check(self, protect: Iterable[Path]) -> None:
        """Raise `UserError` if nothing can be written there; `protect` names the sources."""
        check_output(self.path, overwrite=self.overwrite, protect=protect)

    def check_restored(self, source: Source) -> None:
        """Raise `UserError` if the format cannot store the restored picture of a source."""
        properties = properties_of(source.picture, missing=source.missing.mask)
        check_encodable(properties, format_of(self.path), depth=self.depth, quality=self.quality)

    def check_size(self, width: int, height: int) -> None:
        """Raise `UserError` if the format cannot store a color picture of this size."""
        check_encodable(PictureProperties(width, height), format_of(self.path), quality=self.quality)

    def lost(self, source: Source) -> tuple[str, ...]:
        """Return the names of what the file of a source holds and this file will not."""
        return lost_metadata(source.picture, self.path, keep_metadata=self.keep_metadata)

    def pending(self, picture: Picture) -> PendingFile:
        """Return what `write` writes, to be written together with other files."""
        if not self.keep_metadata:
            picture = replace(picture, exif=None, icc=None, dpi=None, tags=(), other_metadata=())
        return picture_output(picture, self.path, quality=self.quality, depth=self.depth)

    def write(self, picture: Picture, protect: Iterable[Path]) -> tuple[str, ...]:
        """Write a picture; returns notes about what could not be kept of a file that was replaced."""
        self.check(protect)
        return write_files([self.pending(picture)], overwrite=self.overwrite)


@dataclass(frozen=True, eq=False)
class Compared:
    """One restored picture of a comparison: its pixels, its title, and how good it is."""

    image: Array
    title: str
    quality: QualityMetrics | None


def restored_picture(source: Source, image: Array, mask: Mask) -> Picture:
    """Return restored pixels with everything else that the file of the source holds."""
    return source.picture.with_pixels(image, filled=mask)


def write_restored(source: Source, image: Array, mask: Mask, output: Output) -> tuple[str, ...]:
    """Write a restored picture."""
    return output.write(restored_picture(source, image, mask), source.files)


def write_mask(source: Source, mask: Mask, output: Output) -> tuple[str, ...]:
    """Write a mask, white = missing."""
    if format_of(output.path).is_lossy:
        better = printable_path(output.path.with_suffix(".png").name)
        raise UserError(
            f"{printable_path(output.path.name)} would blur the mask", f"save it as PNG: {better}"
        )
    flat = np.atleast_3d(mask).any(axis=2)
    return output.write(mask_picture(np.asarray(flat, np.bool_)), source.files)


def write_dictionary(source: Source, restoration: Restoration, output: Output) -> tuple[str, ...]:
    """Write the atoms of a dictionary as a figure."""
    return output.write(dictionary_figure(restoration), source.files)


def write_comparison(
    source: Source, mask: Mask, compared: Sequence[Compared], output: Output
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
