"""Write the results of a restoration: the picture, its mask, figures and a recipe."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dictsel_core import Restoration, RestoreSettings
from inpaint_app.engine.measure import QualityMetrics
from inpaint_app.engine.restore import RestoreRequest
from inpaint_app.engine.source import Source
from inpaint_app.errors import UserError, printable_path
from inpaint_app.figures import Panel, atoms_figure, comparison_figure, max_atoms_size
from inpaint_app.io.atomic import PendingFile, check_target, write_files
from inpaint_app.io.paths import same_file
from inpaint_app.io.recipe import recipe_output
from inpaint_app.io.write import Output
from inpaint_app.model.damage import mask_picture
from inpaint_app.model.picture import Array, Mask, Picture, Rect
from inpaint_app.text import format_decibels, format_percent


@dataclass(frozen=True, eq=False)
class AtomUse:
    """The patches that have an atom in their support, within the picture."""

    atom: int
    rects: tuple[Rect, ...]


def atom_use(request: RestoreRequest, restoration: Restoration, atom: int) -> AtomUse:
    """Return the patches that use an atom, given by its place in the dictionary."""
    selection = restoration.selection
    assert selection is not None, "asked for after a complete restoration only"
    index = selection.indices[atom]
    users = [t for t, support in enumerate(selection.supports) if index in support]
    size, shape = restoration.settings.patch_size, request.mask.shape  # patches may reach beyond the border
    corners = np.unique(restoration.patch_positions[users], axis=0).tolist()
    return AtomUse(atom, tuple(Rect(row, column, size, size).clipped(shape) for row, column in corners))


def selection_shares(restoration: Restoration) -> npt.NDArray[np.float64]:
    """Return the fraction of the patches of the selection that use each atom, as in `atom_use`: (k,)."""
    selection = restoration.selection
    assert selection is not None, "asked for after a complete restoration only"
    supports, n_candidates = selection.supports, int(np.max(selection.indices)) + 1
    users = np.repeat(np.arange(len(supports)), [len(support) for support in supports])
    used = np.fromiter(chain.from_iterable(supports), np.intp, len(users))
    once = np.unique(users * n_candidates + used)  # an atom counts once for each patch that uses it
    counts = np.bincount(once % n_candidates, minlength=n_candidates)
    return np.asarray(counts[selection.indices] / len(supports), np.float64)


def max_dictionary_size(source: Source, settings: RestoreSettings) -> tuple[int, int]:
    """Return the largest width and height that `dictionary_figure` can have, known before any work."""
    n_candidates = len(settings.bases) * settings.patch_size**2
    n_atoms = settings.resolved(1 - source.missing.fraction, n_candidates).n_atoms
    return max_atoms_size(min(n_atoms, n_candidates), len(settings.bases))


def dictionary_figure(restoration: Restoration) -> Picture:
    """Draw the atoms of a dictionary with the fraction of the patches that use each."""
    size = restoration.settings.patch_size
    # Coding skips patches if refinement follows; those of the selection are the same in either case.
    is_selected = restoration.selection is not None
    return atoms_figure(
        restoration.dictionary,
        restoration.origins,
        (size, size),
        shares=selection_shares(restoration) if is_selected else restoration.usage_fractions,
        title=f"A dictionary of {len(restoration.origins)} atoms of {size} x {size} pixels",
        subtitle="Gray is zero. Below each atom: the fraction of the patches that use it.",
    )


@dataclass(frozen=True, eq=False)
class ComparedImage:
    """One restored picture of a comparison: its pixels, its title, and how good it is."""

    image: Array
    title: str
    quality: QualityMetrics | None


def write_mask(source: Source, mask: Mask, output: Output) -> tuple[str, ...]:
    """Write a mask, white = missing."""
    output.check_mask(source.files)
    flat = np.atleast_3d(mask).any(axis=2)
    return output.write(mask_picture(np.asarray(flat, np.bool_)), source.files)


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
