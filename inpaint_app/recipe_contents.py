"""What a recipe says: settings of a restoration, and marks of missing pixels."""

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dictsel_core import RestoreSettings, __version__
from inpaint_app.atomic import Output, write_files
from inpaint_app.errors import UserError, clause, shown
from inpaint_app.marks import Marks
from inpaint_app.recipe import Plain, Recipe, pack_recipe


def recipe_settings(recipe: Recipe, path: Path) -> RestoreSettings:
    """Return the settings of a recipe; those it does not name are what they were before there were others."""
    values = _as_of_now(recipe.settings)
    try:
        return RestoreSettings(**values)
    except TypeError as error:
        known = RestoreSettings.__dataclass_fields__
        strange = next((name for name in values if name not in known), None)
        problem = clause(error) if strange is None else f"there is no setting {strange!r}"
        raise UserError(f"{shown(path)} does not work: {problem}; mend it or write it anew.") from error
    except ValueError as error:
        raise UserError(f"{shown(path)} does not work: {clause(error)}; mend it or write it anew.") from error


def _as_of_now(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in today's words: early recipes know no refinement, and Replacement OMP only."""
    values = {"rounds": 0, **settings}
    decays = values.pop("decay", False)
    return {"selector": "rompd" if decays else "romp", **values}


def recipe_marks(recipe: Recipe, path: Path) -> Marks:
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
        raise UserError(f"{shown(path)} does not say where missing pixels are; mend it or write it anew.")
    assert isinstance(tolerance, int | float)
    file = None if not isinstance(mask, str) else path.parent / mask
    return Marks(file, bool(invert), key if isinstance(key, str) else None, float(tolerance))


def recipe_path(wanted: Path | None, output: Path) -> Path:
    """Return where the recipe goes: as asked for, or beside the output."""
    path = output.with_suffix(".json") if wanted is None else wanted
    if path.suffix.lower() != ".json":
        raise UserError(f"{shown(path)} is no name for a recipe; give one that ends in .json.")
    return path


def save_recipe(
    path: Path, settings: RestoreSettings, marks: Marks, sources: tuple[str, ...], *, overwrite: bool
) -> tuple[str, ...]:
    """Write settings and marks so that `choices` finds them again; returns notes as `write_files` does."""
    return write_files([recipe_output(path, settings, marks, sources)], overwrite=overwrite)


def recipe_output(path: Path, settings: RestoreSettings, marks: Marks, sources: tuple[str, ...]) -> Output:
    """Return what `save_recipe` writes, to be written together with other files."""
    plain: dict[str, Plain] = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(settings).items()
        if name != "threads"  # the number of cores is this machine's
    }
    where: dict[str, Plain] = {"sources": list(sources)}
    if marks.mask is not None:
        where |= {"file": _seen_from(path.parent, marks.mask), "invert_mask": marks.invert_mask}
    if marks.key is not None:
        where |= {"key": marks.key, "tolerance": marks.tolerance}
    text = pack_recipe(Recipe(plain, __version__, where))
    return Output(path, lambda file: file.write(text))


def _seen_from(folder: Path, file: Path) -> str:
    """Return a relative path where there is one, so that both files can move together."""
    try:
        return Path(os.path.relpath(file, folder)).as_posix()
    except ValueError:  # another drive
        return str(file.resolve())


def plain_settings(settings: RestoreSettings) -> Mapping[str, Any]:
    """Return settings as names and values."""
    return asdict(settings)
