"""`inpaint repair`: find the damage of a photograph, and restore it."""

import argparse

from dictsel_core import RestoreSettings
from dictsel_core.restoration import PRESETS
from inpaint_app.cli import options
from inpaint_app.cli.command import Command
from inpaint_app.cli.console import Console
from inpaint_app.cli.parser import one_of
from inpaint_app.cli.report import as_document, print_details, terminal_control
from inpaint_app.cli.resolve_options import resolve_output
from inpaint_app.cluster.stores.opening import needs_blocks
from inpaint_app.errors import IntactError, UserError, printable_path
from inpaint_app.explanations import describe_damage
from inpaint_app.files.paths import is_stdout
from inpaint_app.files.write import Output, default_output
from inpaint_app.formatting import format_percent
from inpaint_app.image.mask_spec import MaskSpec
from inpaint_app.jobs.checks import check_input
from inpaint_app.jobs.restore_file import FileOptions, FileRequest, FileResult, restore_file

#: Those that leave sound pixels alone.
_PRESETS = tuple(preset for preset in PRESETS if RestoreSettings.preset(preset).keep_observed)
_DETAILS = """\
examples:
  inpaint repair photo.jpg
  inpaint repair photo.jpg -o whole.png --sensitivity 0.7
  inpaint repair film.tif --kinds dust --no-grain
  inpaint batch scans/ -o repaired/ --repair

Cracks, scratches, dust and hairs are found and restored; the result is photo_restored.jpg
beside the photograph. If something was missed, raise the sensitivity; if something
sound was changed, lower it, or look at the mask of 'inpaint detect' first. Restored
pixels get the grain of those around. Where no damage is found, nothing is
written, which is no error unless the result goes to standard output.

JSON keys: those of 'inpaint restore'; found is the number of regions by kind, and where
nothing was found, output is null."""


def _add_options(parser: argparse.ArgumentParser) -> None:
    options.add_input(parser, "the damaged photograph")
    options.add_output(parser, "the repaired one (default: <name>_restored beside IN)", required=False)
    options.add_kinds(parser)
    options.add_sensitivity(parser)
    parser.add_argument("--no-grain", action="store_true", help="leave restored pixels smooth")
    preset = "how to restore, as for 'inpaint restore' (default balanced)"
    parser.add_argument(
        "--preset", metavar="|".join(_PRESETS), type=one_of(_PRESETS), default="balanced", help=preset
    )
    options.add_encoding(parser)
    options.add_strict(parser)
    options.add_verbosity(parser)


def _run(args: argparse.Namespace) -> int:
    check_input(args.input)
    if needs_blocks(args.input):
        raise UserError(
            f"{printable_path(args.input)} is too large to find damage in it as a whole",
            "repair parts of it, or give a mask to 'inpaint restore'",
        )
    output = resolve_output(args.output, args.input, default_output(args.input))
    console = Console.of(args, output)
    sensitivity = 0.5 if args.sensitivity is None else args.sensitivity
    chosen = FileOptions(
        RestoreSettings.preset(args.preset),
        MaskSpec(detect=args.kinds, sensitivity=sensitivity),
        estimates=False,
        is_strict=args.strict,
        grain=not args.no_grain,
    )
    target = Output(output, args.overwrite, args.quality, args.depth)
    with terminal_control(console, brief=True) as control:
        try:
            result = restore_file(FileRequest(args.input, target, chosen), control)
        except IntactError:
            if is_stdout(output):
                raise
            result = None
    _print(console, args, result)
    return 0


def _print(console: Console, args: argparse.Namespace, result: FileResult | None) -> None:
    """Print what was found; None for nothing."""
    if result is None:
        console.print(
            f"No damage was found in {printable_path(args.input)}, and nothing was written; "
            "a higher --sensitivity finds more."
        )
        console.print_json(as_document(None) | {"found": dict.fromkeys(args.kinds, 0)})
        return
    console.print(
        f"Found:       {describe_damage(result.found) or 'no damage but missing pixels'}; "
        f"{format_percent(result.missing_fraction)} of the picture was restored."
    )
    print_details(console, result)
    console.print_written(result.output, result.notes)
    console.print_json(as_document(result))


COMMAND = Command(
    "repair IN [-o OUT] [--sensitivity S] [options]",
    "Find cracks, scratches and dust of a photograph, and restore them.",
    _DETAILS,
    _add_options,
    _run,
)
