"""A recipe: settings of a restoration, and how missing pixels are marked, in a JSON file to be used again."""

import json
import math
import os
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from dictsel_core import RestoreSettings, __version__, standard_ground_set
from dictsel_core.damage_kinds import DAMAGE_KINDS, DamageKind
from dictsel_core.restoration import Parameter
from inpaint_app.errors import Remedy, UserError, clause, printable_path
from inpaint_app.io.atomic import PendingFile
from inpaint_app.io.read import read_whole_file
from inpaint_app.model.missing import GROW, SENSITIVITY, TOLERANCE, MaskSpec, parse_color

FORMAT = 1
_MAX_BYTES = 1_000_000
_LONGEST_NUMBER = 40
#: Settings that had another name when a recipe was written.
_RENAMED = {"budget": "mean_sparsity"}
_KINDS = {"version": str, "settings": dict, "mask": dict}
_MARKS = {
    each.name: each
    for each in (
        Parameter(name="file", kind=str, is_optional=True),
        Parameter(name="invert_mask", kind=bool),
        Parameter(name="trusts_mask", kind=bool),
        Parameter(name="soft_edges", kind=bool),
        Parameter(name="key", kind=str, is_optional=True),
        TOLERANCE,
        GROW,
        SENSITIVITY,
    )
}

JsonValue = str | int | float | bool | None | list[Any] | dict[str, Any]
"""What JSON can hold."""


@dataclass(frozen=True)
class Recipe:
    """Settings with where they came from."""

    settings: Mapping[str, JsonValue]  #: Names and plain values.
    version: str  #: Version of the program that wrote it.
    #: How missing pixels were found, such as ``{"sources": ["alpha", "key"], "key": "#ff00ff"}``.
    mask: Mapping[str, JsonValue]


def recipe_settings(recipe: Recipe, path: Path) -> RestoreSettings:
    """Return the settings of a recipe; those it does not name are the defaults."""
    with _problems_of(path):
        values: dict[str, Any] = _distinct(
            [(_RENAMED.get(name, name), value) for name, value in recipe.settings.items()]
        )
        _refuse_unknown(values, [each.name for each in fields(RestoreSettings)], "setting")
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
            parse_color(given["key"], "u1")
        given["detect"] = _as_kinds(recipe.mask.get("detect", []))
    file = given.pop("file", None)
    return MaskSpec(mask=None if file is None else path.parent / file, **given)


def _as_kinds(value: JsonValue) -> tuple[DamageKind, ...]:
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
    where = {"sources": list(sources)} | plain_marks(mask_spec, path.parent)
    text = pack_recipe(Recipe(plain_settings(settings), __version__, where))
    return PendingFile(path, lambda file: file.write(text))


def plain_settings(settings: RestoreSettings) -> dict[str, JsonValue]:
    """Return settings as JSON can hold them, for `recipe_settings`."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(settings).items()
        if name != "threads"  # the number of cores is this machine's
    }


def plain_marks(mask_spec: MaskSpec, folder: Path) -> dict[str, JsonValue]:
    """Return marks as JSON can hold them, for `recipe_mask_spec`; files are seen from a folder."""
    where: dict[str, JsonValue] = {}
    if mask_spec.mask is not None:
        where |= {"file": seen_from(folder, mask_spec.mask), "invert_mask": mask_spec.invert_mask}
    if mask_spec.trusts_mask:
        where["trusts_mask"] = True
    if not mask_spec.soft_edges:
        where["soft_edges"] = False
    if mask_spec.key is not None:
        where |= {"key": mask_spec.key, "tolerance": mask_spec.tolerance}
    if mask_spec.grow is not None:
        where["grow"] = mask_spec.grow
    if mask_spec.detect:
        where |= {"detect": list(mask_spec.detect), "sensitivity": mask_spec.sensitivity}
    return where


def seen_from(folder: Path, file: Path) -> str:
    """Return a relative path where there is one, so that both files can move together."""
    try:
        # Links are followed first: from a linked folder, ".." leads to where that really is.
        return Path(os.path.relpath(file.parent.resolve() / file.name, folder.resolve())).as_posix()
    except ValueError:  # another drive
        return str(file.resolve())


def pack_recipe(recipe: Recipe) -> bytes:
    """Return a recipe as JSON text; its numbers must be finite.

    Names of files may hold bytes that are not UTF-8; they are written as escapes that lead to them again.
    """
    contents = {
        "recipe": FORMAT,
        "version": recipe.version,
        "settings": dict(recipe.settings),
        "mask": dict(recipe.mask),
    }
    text = json.dumps(contents, indent=2, ensure_ascii=False, allow_nan=False)
    return _encoded(text) + b"\n"


def read_recipe(path: str | Path) -> Recipe:
    """Read a recipe.

    Which settings exist and what values they take is for the caller to check.
    """
    data, name = read_whole_file(Path(path), limit=_MAX_BYTES), printable_path(path)
    contents = parse_object(data, name, "recipe")
    if "recipe" not in contents:
        raise UserError(f"{name} is not a recipe", Remedy.GIVE_RECIPE)
    if contents["recipe"] != FORMAT or isinstance(contents["recipe"], bool):
        raise UserError(f"{name} is a recipe for another version of this program", "write it again")
    for key, kind in _KINDS.items():
        if not isinstance(contents.get(key), kind):
            what = "text" if kind is str else "names and values"
            raise UserError(f'{name} has no {what} under "{key}"', "write the recipe again")
    return Recipe(contents["settings"], contents["version"], contents["mask"])


def parse_object(data: bytes, name: str, what: str) -> dict[str, Any]:
    """Return the object of JSON text; `name` and `what` are for the sentence if there is none."""
    try:
        contents = json.loads(
            data.decode("utf-8-sig"),
            parse_constant=_refuse,
            parse_float=_finite,
            parse_int=_whole,
            object_pairs_hook=_distinct,
        )
        _encoded(json.dumps(contents, ensure_ascii=False))
    except (ValueError, RecursionError) as error:
        problem = f"{name} is not a {what} ({_place(error)})"
        raise UserError(problem, "correct it or write it again") from error
    if not isinstance(contents, dict):
        raise UserError(f"{name} is not a {what}", Remedy.GIVE_RECIPE)
    return contents


def _place(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} in line {error.lineno}"
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if isinstance(error, UnicodeEncodeError):
        return "it holds half of a character"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:_LONGEST_NUMBER]} is too large a number")
    return number


def _whole(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"{text[:_LONGEST_NUMBER]}... is too large a number")
    return int(text)


def _encoded(text: str) -> bytes:
    """Encode text; bytes of a file name that are no text are kept, other halves of characters refused."""
    text.encode("utf-8", "surrogateescape")
    return text.encode("utf-8", "backslashreplace")  # as JSON escapes them


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    contents = dict(pairs)
    if len(contents) < len(pairs):
        raise ValueError("a name occurs twice")
    return contents
