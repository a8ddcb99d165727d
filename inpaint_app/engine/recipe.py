"""Load a recipe, and apply its marks to the picture that is open."""

from dataclasses import dataclass
from pathlib import Path

from dictsel_core import RestoreSettings
from inpaint_app.engine.source import Source, detect_again
from inpaint_app.io.recipe import read_recipe, recipe_mask_spec, recipe_settings
from inpaint_app.model.mask_spec import MaskSpec


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
