"""From options and recipe to settings and marks."""

import argparse
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dictsel_core import RestoreSettings, __version__, standard_ground_set
from inpaint_app.errors import UserError, shown
from inpaint_app.recipe import Plain, Recipe, read_recipe, write_recipe

_OPTIONS = {
    "constraint": "constraint",
    "atoms": "n_atoms",
    "sparsity": "sparsity",
    "budget": "budget",
    "coding_sparsity": "coding_sparsity",
    "patch_size": "patch_size",
    "bases": "bases",
    "rounds": "rounds",
    "seed": "seed",
    "threads": "threads",
}
_TUNED = ("atoms", "sparsity", "budget", "coding_sparsity")


@dataclass(frozen=True)
class Marks:
    """How missing pixels are marked, besides alpha = 0 and NaN.

    Attributes
    ----------
    mask : Path or None
        A mask image, white = missing (black with `invert_mask`).
    key : str or None
        A colour, found with `tolerance`.
    """

    mask: Path | None = None
    invert_mask: bool = False
    key: str | None = None
    tolerance: float = 0.0


@dataclass(frozen=True)
class Choices:
    """What the user wants done.

    Attributes
    ----------
    settings : RestoreSettings
        Of the restoration.
    marks : Marks
        Of the missing pixels.
    auto : bool
        Whether to tune the settings first.
    """

    settings: RestoreSettings
    marks: Marks
    auto: bool = False


def choices(args: argparse.Namespace) -> Choices:
    """Return what the options ask for; a recipe gives what they leave open."""
    recipe = None if args.recipe is None else read_recipe(args.recipe)
    _refuse_contradictions(args)
    if recipe is None:
        settings, marks = RestoreSettings.preset(args.preset or "balanced"), Marks()
    else:
        settings, marks = recipe_settings(recipe, args.recipe), recipe_marks(recipe, args.recipe)
    chosen = Choices(_with_options(settings, args), _with_marks(marks, args), getattr(args, "auto", False))
    _check_budget(chosen.settings, args)
    check_ground_set(chosen.settings)
    return chosen


def _refuse_contradictions(args: argparse.Namespace) -> None:
    if args.recipe is not None and args.preset is not None:
        raise UserError("--recipe and --preset both say every setting; give one of them.")
    tuner = "--auto" if getattr(args, "auto", False) else "inpaint tune" if args.command == "tune" else ""
    if tuner == "--auto" and args.recipe is not None:
        raise UserError("--auto chooses what --recipe already says; give one of them.")
    for name in _TUNED if tuner else ():
        if getattr(args, name) is not None:
            raise UserError(f"{tuner} chooses --{name.replace('_', '-')} itself; leave one of them out.")


def _check_budget(settings: RestoreSettings, args: argparse.Namespace) -> None:
    if args.budget is not None and settings.constraint == "individual":
        raise UserError("--budget has no meaning under individual sparsity; use --constraint average.")


def _with_options(settings: RestoreSettings, args: argparse.Namespace) -> RestoreSettings:
    given = {field: getattr(args, name, None) for name, field in _OPTIONS.items()}
    changes: dict[str, Any] = {field: value for field, value in given.items() if value is not None}
    if args.decay:
        changes["decay"] = True
    if args.replace_observed:
        changes["keep_observed"] = False
        changes.setdefault("rounds", 0)  # refinement would keep them
    if args.every_window:
        changes["every_window"] = True
    try:
        return replace(settings, **changes)
    except (ValueError, TypeError) as error:
        raise UserError(f"These settings do not work: {clause(error)}; change them.") from error


def _with_marks(marks: Marks, args: argparse.Namespace) -> Marks:
    if args.mask is not None:
        marks = replace(marks, mask=args.mask, invert_mask=False)
    if args.invert_mask:
        if marks.mask is None:
            raise UserError("--invert-mask needs a mask; give one with --mask.")
        marks = replace(marks, invert_mask=True)
    if args.key is not None:
        marks = replace(marks, key=args.key, tolerance=0.0)
    if args.tolerance is not None:
        if marks.key is None:
            raise UserError("--tolerance needs a colour; give one with --key.")
        marks = replace(marks, tolerance=args.tolerance)
    return marks


def check_ground_set(settings: RestoreSettings) -> None:
    """Refuse bases that do not exist or do not fit the patch size, before any work."""
    size = settings.patch_size
    wavelets = [name for name in settings.bases if name != "dct"]
    if size % 2 and wavelets:
        raise UserError(
            f"A patch size of {size} is odd, which {wavelets[0]} cannot be; give an even --patch-size "
            "or --bases dct."
        )
    try:
        standard_ground_set((size, size), settings.bases)
    except (ValueError, TypeError) as error:
        raise UserError(f"These bases do not work: {clause(error)}; change --bases.") from error


def clause(error: Exception) -> str:
    """Return the message of a library's exception as part of a sentence."""
    return str(error).strip().rstrip(".")


def recipe_settings(recipe: Recipe, path: Path) -> RestoreSettings:
    """Return the settings of a recipe; those it does not name have their defaults."""
    try:
        values: dict[str, Any] = {"rounds": 0, **recipe.settings}  # early recipes know no refinement
        return RestoreSettings(**values)
    except TypeError as error:
        known = RestoreSettings.__dataclass_fields__
        strange = next((name for name in recipe.settings if name not in known), None)
        problem = clause(error) if strange is None else f"there is no setting {strange!r}"
        raise UserError(f"{shown(path)} does not work: {problem}; mend it or write it anew.") from error
    except ValueError as error:
        raise UserError(f"{shown(path)} does not work: {clause(error)}; mend it or write it anew.") from error


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
) -> None:
    """Write settings and marks so that `choices` finds them again."""
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
