"""Recipes on disk for tests."""

from pathlib import Path

from dictsel_core import RestoreSettings
from inpaint_app.io.atomic import write_files
from inpaint_app.io.recipe import recipe_output
from inpaint_app.model.missing import MaskSpec


def save_recipe(
    path: Path, settings: RestoreSettings, mask_spec: MaskSpec, sources: tuple[str, ...] = ()
) -> None:
    """Write a recipe as the program does."""
    write_files([recipe_output(path, settings, mask_spec, sources)])
