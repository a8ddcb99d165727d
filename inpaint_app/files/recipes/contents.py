"""The contents of a recipe: settings of a restoration, and how missing pixels are marked."""

import os
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from dictsel_core import (
    DAMAGE_KINDS,
    DamageKind,
    Parameter,
    RestoreSettings,
    __version__,
    standard_ground_set,
)
from inpaint_app.errors import UserError, clause, printable_path
from inpaint_app.files.atomic import PendingFile
from inpaint_app.files.recipes.recipe import Plain, Recipe, pack_recipe
from inpaint_app.image.color import parse_color
from inpaint_app.image.mask_spec import GROW, SENSITIVITY, TOLERANCE, MaskSpec

_MARKS = {
    each.name: each
    for each in (
        Parameter(name="file", kind=str, is_optional=True),
        Parameter(name="invert_mask", kind=bool),
        Parameter(name="soft_edges", kind=bool),
        Parameter(name="key", kind=str, is_optional=True),
        TOLERANCE,
        GROW,
        SENSITIVITY,
    )
}


def recipe_settings(recipe: Recipe, path: Path) -> RestoreSettings:
    """Return the settings of a recipe; those it does not name are the defaults."""
    with _problems_of(path):
        _refuse_unknown(recipe.settings, [each.name for each in fields(RestoreSettings)], "setting")
        values: dict[str, Any] = dict(recipe.settings)
        settings = RestoreSettings(**values)
        standard_ground_set((settings.patch_size, settings.patch_size), settings.bases)
    return settings


def recipe_mask_spec(recipe: Recipe, path: Path) -> MaskSpec:
    """Return the marks of a recipe; its mask image is looked for from the recipe's folder."""
    with _problems_of(path):
        _refuse_unknown(recipe.mask, {*_MARKS, "detect", "sources"}, "mark")
        given: dict[str, Any] = {
            name: parameter.checked(recipe.mask[name])
            for name, parameter in _MARKS.items()
            if name in recipe.mask
        }
        if given.get("key") is not None:
            parse_color(given["key"])
        given["detect"] = _as_kinds(recipe.mask.get("detect", []))
    file = given.pop("file", None)
    return MaskSpec(mask=None if file is None else path.parent / file, **given)


def _as_kinds(value: Plain) -> tuple[DamageKind, ...]:
    if not isinstance(value, list) or not all(kind in DAMAGE_KINDS for kind in value):
        raise ValueError(f"detect must be a list of {', '.join(DAMAGE_KINDS)}")
    return tuple(kind for kind in DAMAGE_KINDS if kind in value)


@contextmanager
def _problems_of(path: Path) -> Iterator[None]:
    """Turn what is wrong with the contents of a recipe into a sentence that names the file."""
    try:
        yield
    except (TypeError, ValueError, UserError) as error:
        raise UserError(
            f"{printable_path(path)} does not work: {clause(error)}", "correct it or write it again"
        ) from error


def _refuse_unknown(names: Iterable[str], known: Container[str], what: str) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"there is no {what} {name[:40]!r}")


def recipe_output(
    path: Path, settings: RestoreSettings, mask_spec: MaskSpec, sources: tuple[str, ...]
) -> PendingFile:
    """Return the file of a recipe, from which settings and marks can be read again."""
    plain: dict[str, Plain] = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(settings).items()
        if name != "threads"  # the number of cores is this machine's
    }
    where: dict[str, Plain] = {"sources": list(sources)}
    if mask_spec.mask is not None:
        where |= {"file": _seen_from(path.parent, mask_spec.mask), "invert_mask": mask_spec.invert_mask}
    if not mask_spec.soft_edges:
        where["soft_edges"] = False
    if mask_spec.key is not None:
        where |= {"key": mask_spec.key, "tolerance": mask_spec.tolerance}
    if mask_spec.grow is not None:
        where["grow"] = mask_spec.grow
    if mask_spec.detect:
        where |= {"detect": list(mask_spec.detect), "sensitivity": mask_spec.sensitivity}
    text = pack_recipe(Recipe(plain, __version__, where))
    return PendingFile(path, lambda file: file.write(text))


def _seen_from(folder: Path, file: Path) -> str:
    """Return a relative path where there is one, so that both files can move together."""
    try:
        # Links are followed first: from a linked folder, ".." leads to where that really is.
        return Path(os.path.relpath(file.parent.resolve() / file.name, folder.resolve())).as_posix()
    except ValueError:  # another drive
        return str(file.resolve())
