"""A recipe: the settings of a restoration, to be used again."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inpaint_app.errors import Remedy, UserError, printable_path
from inpaint_app.files.whole_file import read_whole_file

FORMAT = 1
_MAX_BYTES = 1_000_000
_LONGEST_NUMBER = 40
_KINDS = {"version": str, "settings": dict, "mask": dict}

Plain = str | int | float | bool | None | list[Any] | dict[str, Any]
"""What JSON can hold."""


@dataclass(frozen=True)
class Recipe:
    """Settings with where they came from.

    Attributes
    ----------
    settings : Mapping
        Names and plain values.
    version : str
        Version of the program that wrote it.
    mask : Mapping
        How missing pixels were found, such as ``{"sources": ["alpha", "key"], "key": "#ff00ff"}``.
    """

    settings: Mapping[str, Plain]
    version: str
    mask: Mapping[str, Plain]


def pack_recipe(recipe: Recipe) -> bytes:
    """Return a recipe as JSON text.

    Names of files may hold bytes that are not UTF-8; they are written as escapes that lead to them again.

    Parameters
    ----------
    recipe : Recipe
        With finite numbers only.

    Raises
    ------
    ValueError, TypeError
        If the recipe holds something that is not JSON: a mistake of the program.
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
    path = Path(path)
    contents = _read_object(path)
    if "recipe" not in contents:
        raise UserError(f"{printable_path(path)} is not a recipe", Remedy.GIVE_RECIPE)
    if contents["recipe"] != FORMAT or isinstance(contents["recipe"], bool):
        raise UserError(
            f"{printable_path(path)} is a recipe for another version of this program", "write it again"
        )
    for key, kind in _KINDS.items():
        if not isinstance(contents.get(key), kind):
            what = "text" if kind is str else "names and values"
            raise UserError(f'{printable_path(path)} has no {what} under "{key}"', "write the recipe again")
    return Recipe(contents["settings"], contents["version"], contents["mask"])


def _read_object(path: Path) -> dict[str, Any]:
    data = read_whole_file(path, limit=_MAX_BYTES)
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
        raise UserError(
            f"{printable_path(path)} is not a recipe ({_place(error)})", "correct it or write it again"
        ) from error
    if not isinstance(contents, dict):
        raise UserError(f"{printable_path(path)} is not a recipe", Remedy.GIVE_RECIPE)
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
