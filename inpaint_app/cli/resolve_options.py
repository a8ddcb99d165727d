"""From options and recipe to settings, marks and outputs."""

from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

from dictsel_core import RestoreSettings, standard_ground_set
from dictsel_core.damage_kinds import USUAL_KINDS
from inpaint_app.cli.options import SETTING_OPTIONS
from inpaint_app.engine.hole_fill import HoleFillFiles
from inpaint_app.engine.restore_file import FileOptions
from inpaint_app.engine.source import load_recipe
from inpaint_app.errors import UserError, clause
from inpaint_app.io.paths import STDIN, is_folder, stdout_path
from inpaint_app.io.read import peek_stdin
from inpaint_app.io.registry import find_writable, recognize
from inpaint_app.io.write import default_output
from inpaint_app.model.missing import MaskSpec

_MARKS = frozenset(field.name for field in fields(MaskSpec))
#: Marks that mean nothing without another.
_NEEDS = {
    "invert_mask": ("mask", "--invert-mask needs a mask", "give one with --mask"),
    "trusts_mask": ("mask", "--trust-mask needs a mask", "give one with --mask"),
    "tolerance": ("key", "--tolerance needs a color", "give one with --key"),
    "sensitivity": ("detect", "--sensitivity needs damage to detect", "name its kinds with --detect"),
}
_TUNED = ("n_atoms", "sparsity", "mean_sparsity", "coding_sparsity")


def resolve_options(
    args: SimpleNamespace, *, default: RestoreSettings | None = None, tuner: str = ""
) -> FileOptions:
    """Return what the options ask for; a recipe, or else a preset, gives what they leave open.

    `default` is what the command uses if neither is named; `tuner` is the command, if it tunes the settings.
    """
    recipe = None if args.recipe is None else load_recipe(args.recipe)
    tunes = getattr(args, "auto", False)
    _refuse_contradictions(args, "--auto" if tunes else tuner)
    if recipe is None:
        preset = RestoreSettings.preset(args.preset or "balanced")
        settings, mask_spec = preset if args.preset else default or preset, MaskSpec()
    else:
        settings, mask_spec = recipe.settings, recipe.mask_spec
    settings, hole_fill = _with_options(settings, args), _hole_fill(args)
    if hole_fill.fill_from is not None and settings.fill == "smooth":
        raise UserError("--fill-from says what to copy, but --fill smooth copies nothing", "give one of them")
    if "mean_sparsity" in args.settings and not settings.uses_budget:
        raise UserError(
            f"--mean-sparsity has no meaning under {settings.constraint} sparsity", "use --constraint average"
        )
    estimates, is_strict = not getattr(args, "no_estimate", False), getattr(args, "strict", False)
    mask_spec, repairs = _with_mask_options(mask_spec, args), getattr(args, "repair", False)
    grain = repairs or getattr(args, "grain", False)
    return FileOptions(settings, mask_spec, tunes, estimates, is_strict, grain=grain, hole_fill=hole_fill)


def resolve_output(output: Path | None, source: Path, default: Path) -> Path:
    """Return where a picture goes: by default to a file, or to standard output if it comes from stdin.

    Into a folder it goes with the name of the default.

    To standard output it is written in the format of the default, or in PNG if that cannot be written. What
    `write.default_output` returns for standard input has the format of what comes from there.
    """
    if output is None and source != STDIN:
        return default
    if output is not None and output != stdout_path(""):
        is_store = ".zarr" in (output.suffix.lower(), default.suffix.lower())
        return output / default.name if not is_store and is_folder(output) else output
    read = recognize(peek_stdin()) if default == default_output(STDIN) else None
    suffix = default.suffix if read is None else read.suffixes[0]
    return stdout_path(".png" if find_writable(stdout_path(suffix)) is None else suffix)


def _refuse_contradictions(args: SimpleNamespace, tuner: str) -> None:
    if args.recipe is not None and args.preset is not None:
        raise UserError("--recipe and --preset both set every parameter", "give one of them")
    if tuner == "--auto" and args.recipe is not None:
        raise UserError("--auto chooses parameters that --recipe already sets", "give one of them")
    if args.settings.get("mask") == STDIN and getattr(args, "write_recipe", None):
        raise UserError("A recipe cannot name a mask from standard input", "save the mask as a file first")
    for option in SETTING_OPTIONS if tuner else ():
        if option.name in _TUNED and option.name in args.settings:
            raise UserError(f"{tuner} chooses {option.opts[0]} itself", "leave one of them out")
    given = RestoreSettings(rounds=0) if args.preset is None else RestoreSettings.preset(args.preset)
    named = f"--preset {args.preset}"
    replacing = (
        "--replace-observed" if "keep_observed" in args.settings else "" if given.keep_observed else named
    )
    refining = "--rounds" if "rounds" in args.settings else named
    if replacing and args.settings.get("rounds", given.rounds) != 0:
        raise UserError(
            f"{replacing} replaces observed pixels, which {refining} keeps", "leave one of them out"
        )


def _with_options(settings: RestoreSettings, args: SimpleNamespace) -> RestoreSettings:
    changes = {name: value for name, value in args.settings.items() if name not in _MARKS}
    if isinstance(changes.get("fill"), Path):
        del changes["fill"]  # a network, see `_hole_fill`
    if "keep_observed" in changes:
        changes.setdefault("rounds", 0)  # refinement would keep them
    try:
        changed = replace(settings, **changes)
        standard_ground_set((changed.patch_size, changed.patch_size), changed.bases)
    except (ValueError, TypeError) as error:
        raise UserError(f"Invalid settings: {clause(error)}", "change them") from error
    return changed


def _hole_fill(args: SimpleNamespace) -> HoleFillFiles:
    """Return the files that say how wide holes are filled; only commands that have --fill-from take any."""
    fill = args.settings.get("fill")
    network = fill if isinstance(fill, Path) else None
    if network is not None and not hasattr(args, "fill_from"):
        raise UserError("Networks fill holes in 'inpaint restore' only", "give --fill another value")
    fill_from = getattr(args, "fill_from", None)
    if network is not None and fill_from is not None:
        raise UserError("A network copies nothing, so --fill-from has no meaning", "give one of them")
    return HoleFillFiles(fill_from, network)


def _with_mask_options(mask_spec: MaskSpec, args: SimpleNamespace) -> MaskSpec:
    given = {name: value for name, value in args.settings.items() if name in _MARKS}
    if "mask" in given:
        mask_spec = replace(mask_spec, invert_mask=False, trusts_mask=False)
    if "key" in given:
        mask_spec = replace(mask_spec, tolerance=None)
    if getattr(args, "repair", False):
        given.setdefault("detect", USUAL_KINDS)
    mask_spec = replace(mask_spec, **given)
    for name, (needed, problem, remedy) in _NEEDS.items():
        if name in given and not getattr(mask_spec, needed):
            raise UserError(problem, remedy)
    return mask_spec
