"""`inpaint repair`: find the damage of a photograph, and restore it."""

from types import SimpleNamespace

from dictsel_core import RestoreSettings
from dictsel_core.restoration import PRESETS
from inpaint_app.cli import options
from inpaint_app.cli.arguments import Command, Option
from inpaint_app.cli.options import one_of
from inpaint_app.cli.report import Console, as_document, print_details, terminal_control
from inpaint_app.cli.resolve_options import resolve_output
from inpaint_app.engine.restore_file import FileOptions, FileRequest, FileResult, restore_file
from inpaint_app.engine.source import check_input
from inpaint_app.errors import NothingMissingError, printable_path
from inpaint_app.io.paths import is_stdout
from inpaint_app.io.write import Output, default_output
from inpaint_app.model.missing import MaskSpec
from inpaint_app.text import describe_damage, format_percent

#: Those that leave sound pixels alone.
_PRESETS = tuple(preset for preset in PRESETS if RestoreSettings.preset(preset).keep_observed)

_PARAMETERS = [
    options.input_argument("the damaged photograph"),
    *options.output_options("the repaired one (default: <name>_restored beside IN)"),
    *options.DETECTION,
    Option("--no-grain", "leave restored pixels smooth"),
    Option(
        f"--preset {'|'.join(_PRESETS)}",
        "how to restore, as for 'inpaint restore' (default balanced)",
        one_of(_PRESETS),
        default="balanced",
    ),
    *options.ENCODING,
    options.STRICT,
    *options.REPORTING,
]


def _run(args: SimpleNamespace) -> int:
    check_input(args.input)
    output = resolve_output(args.output, args.input, default_output(args.input))
    console = Console.of(args, output)
    chosen = FileOptions(
        RestoreSettings.preset(args.preset),
        MaskSpec(detect=args.kinds, sensitivity=args.sensitivity),
        estimates=False,
        is_strict=args.strict,
        grain=not args.no_grain,
    )
    target = Output(output, args.overwrite, args.quality, args.depth)
    with terminal_control(console, brief=True) as control:
        try:
            result = restore_file(FileRequest(args.input, target, chosen), control)
        except NothingMissingError:
            if is_stdout(output):
                raise
            result = None
    _print(console, args, result)
    return 0


def _print(console: Console, args: SimpleNamespace, result: FileResult | None) -> None:
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


COMMAND = Command("repair IN [-o OUT] [--sensitivity S] [options]", _PARAMETERS, _run)
