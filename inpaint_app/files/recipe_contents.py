"""What a recipe says: settings of a restoration, and marks of missing pixels."""

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dictsel_core import RestoreSettings, __version__
from inpaint_app.errors import UserError, clause, printable_path
from inpaint_app.files.recipe import Plain, Recipe, write_recipe
from inpaint_app.image.mask_spec import MaskSpec


def recipe_settings(recipe: Recipe, path: Path) -> RestoreSettings:
    """Return the settings of a recipe; those it does not name are what they were before there were others."""
    values = _as_of_now(recipe.settings)
    try:
        return RestoreSettings(**values)
    except TypeError as error:
        known = RestoreSettings.__dataclass_fields__
        strange = next((name for name in values if name not in known), None)
        problem = clause(error) if strange is None else f"there is no setting {strange!r}"
        raise UserError(
            f"{printable_path(path)} does not work: {problem}", "mend it or write it anew"
        ) from error
    except ValueError as error:
        raise UserError(
            f"{printable_path(path)} does not work: {clause(error)}", "mend it or write it anew"
        ) from error


def _as_of_now(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in today's words: early recipes know no refinement, and Replacement OMP only."""
    values = {"rounds": 0, **settings}
    decays = values.pop("decay", False)
    return {"selector": "rompd" if decays else "romp", **values}


def recipe_mask_spec(recipe: Recipe, path: Path) -> MaskSpec:
    """Return the marks of a recipe; its mask image is looked for from the recipe's folder."""
    mask, key = recipe.mask.get("file"), recipe.mask.get("key")
    tolerance, invert = recipe.mask.get("tolerance", 0.0), recipe.mask.get("invert_mask", False)
    right = (
        isinstance(mask, str | None)
        and isinstance(key, str | None)
        and isinstance(tolerance, int | float)
        and isinstance(invert, bool)
    )
    if not right:
        raise UserError(
            f"{printable_path(path)} does not say where missing pixels are", "mend it or write it anew"
        )
    assert isinstance(tolerance, int | float)
    file = None if not isinstance(mask, str) else path.parent / mask
    return MaskSpec(file, bool(invert), key if isinstance(key, str) else None, float(tolerance))


def recipe_path(wanted: Path | None, output: Path) -> Path:
    """Return where the recipe goes: as asked for, or beside the output."""
    path = output.with_suffix(".json") if wanted is None else wanted
    if path.suffix.lower() != ".json":
        raise UserError(f"{printable_path(path)} is no name for a recipe", "give one that ends in .json")
    return path


def save_recipe(
    path: Path, settings: RestoreSettings, mask_spec: MaskSpec, sources: tuple[str, ...], *, overwrite: bool
) -> None:
    """Write settings and marks so that `choices` finds them again."""
    plain: dict[str, Plain] = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(settings).items()
        if name != "threads"  # the number of cores is this machine's
    }
    where: dict[str, Plain] = {"sources": list(sources)}
    if mask_spec.mask is not None:
        where |= {"file": _seen_from(path.parent, mask_spec.mask), "invert_mask": mask_spec.invert_mask}
    if mask_spec.key is not None:
        where |= {"key": mask_spec.key, "tolerance": mask_spec.tolerance}
    write_recipe(Recipe(plain, __version__, where), path, overwrite=overwrite)


def _seen_from(folder: Path, file: Path) -> str:
    """Return a relative path where there is one, so that both files can move together."""
    try:
        return Path(os.path.relpath(file, folder)).as_posix()
    except ValueError:  # another drive
        return str(file.resolve())


def plain_settings(settings: RestoreSettings) -> Mapping[str, Any]:
    """Return settings as names and values."""
    return asdict(settings)
