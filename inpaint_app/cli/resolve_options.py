"""From options and recipe to settings and marks."""

import argparse
from dataclasses import dataclass, replace
from typing import Any

from dictsel_core import PresetName, RestoreSettings, standard_ground_set
from inpaint_app.errors import UserError, clause
from inpaint_app.image.mask_spec import MaskSpec
from inpaint_app.jobs.recipe import load_recipe

_OPTIONS = {
    "constraint": "constraint",
    "atoms": "n_atoms",
    "sparsity": "sparsity",
    "budget": "budget",
    "coding_sparsity": "coding_sparsity",
    "patch_size": "patch_size",
    "bases": "bases",
    "rounds": "rounds",
    "selector": "selector",
    "seed": "seed",
    "threads": "threads",
}
_TUNED = ("atoms", "sparsity", "budget", "coding_sparsity")


@dataclass(frozen=True)
class ResolvedOptions:
    """What the user wants done.

    Attributes
    ----------
    settings : RestoreSettings
        Of the restoration.
    mask_spec : MaskSpec
        Of the missing pixels.
    auto : bool
        Whether to tune the settings first.
    """

    settings: RestoreSettings
    mask_spec: MaskSpec
    auto: bool = False


def resolve_options(args: argparse.Namespace) -> ResolvedOptions:
    """Return what the options ask for; a recipe gives what they leave open."""
    recipe = None if args.recipe is None else load_recipe(args.recipe)
    _refuse_contradictions(args)
    if recipe is None:
        # Refinement would hide what the constraints do.
        usual: PresetName = "fast" if args.command == "compare" else "balanced"
        settings, mask_spec = RestoreSettings.preset(args.preset or usual), MaskSpec()
    else:
        settings, mask_spec = recipe.settings, recipe.mask_spec
    chosen = ResolvedOptions(
        _with_options(settings, args), _with_mask_options(mask_spec, args), getattr(args, "auto", False)
    )
    _check_budget(chosen.settings, args)
    check_ground_set(chosen.settings)
    return chosen


def _refuse_contradictions(args: argparse.Namespace) -> None:
    if args.recipe is not None and args.preset is not None:
        raise UserError("--recipe and --preset both say every setting", "give one of them")
    replaces = args.replace_observed or args.preset == "paper"
    refines = bool(args.rounds) or (args.rounds is None and args.preset in ("balanced", "best"))
    if replaces and refines:
        who = "--replace-observed" if args.replace_observed else "--preset paper"
        whom = "--rounds" if args.rounds else f"--preset {args.preset}"
        raise UserError(f"{who} replaces observed pixels, which {whom} keeps", "leave one of them out")
    tuner = "--auto" if getattr(args, "auto", False) else "inpaint tune" if args.command == "tune" else ""
    if tuner == "--auto" and args.recipe is not None:
        raise UserError("--auto chooses what --recipe already says", "give one of them")
    for name in _TUNED if tuner else ():
        if getattr(args, name) is not None:
            raise UserError(f"{tuner} chooses --{name.replace('_', '-')} itself", "leave one of them out")


def _check_budget(settings: RestoreSettings, args: argparse.Namespace) -> None:
    if args.budget is not None and settings.constraint == "individual":
        raise UserError("--budget has no meaning under individual sparsity", "use --constraint average")


def _with_options(settings: RestoreSettings, args: argparse.Namespace) -> RestoreSettings:
    given = {field: getattr(args, name, None) for name, field in _OPTIONS.items()}
    changes: dict[str, Any] = {field: value for field, value in given.items() if value is not None}
    if args.rounds == "auto":
        changes["rounds"] = None
    if args.replace_observed:
        changes["keep_observed"] = False
        changes.setdefault("rounds", 0)  # refinement would keep them
    if args.every_patch:
        changes["every_patch"] = True
    try:
        return replace(settings, **changes)
    except (ValueError, TypeError) as error:
        raise UserError(f"These settings do not work: {clause(error)}", "change them") from error


def _with_mask_options(mask_spec: MaskSpec, args: argparse.Namespace) -> MaskSpec:
    if args.mask is not None:
        mask_spec = replace(mask_spec, mask=args.mask, invert_mask=False)
    if args.invert_mask:
        if mask_spec.mask is None:
            raise UserError("--invert-mask needs a mask", "give one with --mask")
        mask_spec = replace(mask_spec, invert_mask=True)
    if args.key is not None:
        mask_spec = replace(mask_spec, key=args.key, tolerance=0.0)
    if args.tolerance is not None:
        if mask_spec.key is None:
            raise UserError("--tolerance needs a colour", "give one with --key")
        mask_spec = replace(mask_spec, tolerance=args.tolerance)
    return mask_spec


def check_ground_set(settings: RestoreSettings) -> None:
    """Refuse bases that do not exist or do not fit the patch size, before any work."""
    size = settings.patch_size
    wavelets = [name for name in settings.bases if name != "dct"]
    if size % 2 and wavelets:
        raise UserError(
            f"A patch size of {size} is odd, which {wavelets[0]} cannot be",
            "give an even --patch-size or --bases dct",
        )
    try:
        standard_ground_set((size, size), settings.bases)
    except (ValueError, TypeError) as error:
        raise UserError(f"These bases do not work: {clause(error)}", "change --bases") from error
