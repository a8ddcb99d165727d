"""Requests that lead to a document, and the work behind them; no Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dictsel_core import RestoreSettings
from inpaint_app.errors import UserError, printable_path
from inpaint_app.files.paths import is_folder
from inpaint_app.files.read import read_picture
from inpaint_app.files.recipe import read_recipe
from inpaint_app.files.recipe_contents import recipe_mask_spec, recipe_settings
from inpaint_app.files.sample import ORIGINAL, read_sample
from inpaint_app.image.damage import damaged, random_mask, scratch_mask, text_mask
from inpaint_app.image.mask_spec import MaskSpec
from inpaint_app.image.missing import Mask, detect_missing
from inpaint_app.image.picture import Array, Picture
from inpaint_app.jobs.work import check_reference
from inpaint_app.window.session.state import Document


@dataclass(frozen=True)
class Damage:
    """Damage to simulate.

    Attributes
    ----------
    kind : str
        "random", "text" or "scratches".
    fraction : float
        Missing part, for "random".
    text : str
        What is stamped, for "text".
    seed : int
        Same seed, same damage.
    """

    kind: str = "random"
    fraction: float = 0.8
    text: str = "SAMPLE"
    seed: int = 0

    def mask(self, shape: tuple[int, int]) -> Mask:
        """Return which pixels go missing."""
        if self.kind == "text":
            return text_mask(shape, self.text, self.seed)
        if self.kind == "scratches":
            return scratch_mask(shape, self.seed)
        return random_mask(shape, self.fraction, self.seed)

    @property
    def words(self) -> str:
        """The damage in a few words."""
        if self.kind == "random":
            return f"{100 * self.fraction:.0f} % missing"
        return self.kind


SAMPLES = (
    Damage("random", 0.8, seed=0),  # as the bundled damaged sample
    Damage("random", 0.5, seed=1),
    Damage("text", text="dictionary selection", seed=1),
    Damage("scratches", seed=1),
)
"""Damages that the sample is offered with."""


@dataclass(frozen=True, eq=False)
class Opened:
    """A document and which of its pixels are missing."""

    document: Document
    mask: Mask


@dataclass(frozen=True, eq=False)
class OpenedRecipe:
    """What a recipe says.

    Attributes
    ----------
    settings : RestoreSettings
    mask_spec : MaskSpec
        How missing pixels are marked; `MaskSpec()` where it does not say.
    opened : Opened or None
        The picture that was open, marked so; None where there was none, or no marks.
    """

    settings: RestoreSettings
    mask_spec: MaskSpec
    opened: Opened | None


KEYS = ("#ff00ff", "#00ff00")
"""Colours that people mark missing pixels with and that photographs hardly hold."""
_MIN_FRACTION = 0.001


def open_file(path: Path, mask_spec: MaskSpec, reference: Path | None) -> Opened:
    """Read a picture, what marks its missing pixels, and its reference if there is one."""
    if is_folder(path):
        raise UserError(
            f"{printable_path(path)} is a folder; choose a picture inside it, or use File > "
            "Restore a Folder (Ctrl+B)."
        )
    opened = _opened(Document(read_picture(path), path.name, path), mask_spec)
    return opened if reference is None else with_reference(opened, reference)


def open_sample(damage: Damage) -> Opened:
    """Return the bundled picture with some damage."""
    return simulate(Document(read_sample(ORIGINAL), "Sample"), damage)


def open_pixels(picture: Picture, name: str) -> Opened:
    """Return a document from pixels that came from elsewhere than a file."""
    return _opened(Document(picture, name), MaskSpec())


def detect_again(document: Document, mask_spec: MaskSpec) -> Opened:
    """Look for missing pixels again, as now marked."""
    return _found(document, mask_spec)


def open_recipe(path: Path, document: Document | None) -> OpenedRecipe:
    """Read a recipe, and look for missing pixels again if it says how they are marked."""
    recipe = read_recipe(path)
    settings, mask_spec = recipe_settings(recipe, path), recipe_mask_spec(recipe, path)
    if document is None or mask_spec == MaskSpec():
        return OpenedRecipe(settings, mask_spec, None)
    return OpenedRecipe(settings, mask_spec, detect_again(document, mask_spec))


def simulate(document: Document, damage: Damage) -> Opened:
    """Damage a whole picture, or one whose reference is known anew; the whole one is the reference."""
    whole = document.reference or document.picture
    if detect_missing(whole).sources:
        raise UserError("The picture has missing pixels of its own; simulate damage on a whole one.")
    mask = damage.mask(document.shape)
    changed = replace(
        document,
        picture=damaged(whole, mask),
        damage=damage.words,
        path=None,
        reference=whole,
        reference_path=document.path or document.reference_path,
        mask_spec=MaskSpec(),
        sources=("simulated",),
    )
    return Opened(changed, mask)


def with_reference(opened: Opened, path: Path) -> Opened:
    """Add the undamaged picture to measure against."""
    reference = read_picture(path)
    check_reference(reference, opened.document.picture, path)
    document = replace(opened.document, reference=reference, reference_path=path)
    return Opened(document, opened.mask)


def _opened(document: Document, mask_spec: MaskSpec) -> Opened:
    """Find missing pixels as marked; if nothing is, look for a colour that marks them."""
    opened = _found(document, mask_spec)
    if opened.document.sources or mask_spec != MaskSpec() or not document.picture.is_color:
        return opened
    for key in KEYS:
        marked = detect_missing(document.picture, key=key)
        if _MIN_FRACTION <= marked.fraction < 1:
            notice = f"Pixels of the colour {key} were taken for missing; clear the mask if they are not."
            noted = replace(document, picture=document.picture.with_notices(notice))
            return Opened(replace(noted, mask_spec=MaskSpec(key=key), sources=marked.sources), marked.mask)
    return opened


def _found(document: Document, mask_spec: MaskSpec) -> Opened:
    mask_picture = None if mask_spec.mask is None else read_picture(mask_spec.mask)
    missing = detect_missing(
        document.picture,
        mask=mask_picture,
        key=mask_spec.key,
        tolerance=mask_spec.tolerance,
        invert_mask=mask_spec.invert_mask,
    )
    if mask_spec.mask is not None and "mask" not in missing.sources:
        raise UserError("The mask marks no pixel; paint missing pixels white in it, or turn it round.")
    if mask_spec.key is not None and "key" not in missing.sources:
        raise UserError("No pixel has that colour; check it, or allow a difference.")
    return Opened(replace(document, mask_spec=mask_spec, sources=missing.sources), missing.mask)


def picture_from_rgba(values: Array) -> Picture:
    """Return a picture from (H, W, 4) bytes; alpha is left out where nothing is transparent.

    Gray pictures on the clipboard come as RGB; equal channels become one.
    """
    colours, alpha = np.ascontiguousarray(values[..., :3]), np.ascontiguousarray(values[..., 3])
    if bool((colours == colours[..., :1]).all()):
        colours = np.ascontiguousarray(colours[..., 0])
    return Picture(colours, alpha if bool((alpha == 0).any()) else None)
