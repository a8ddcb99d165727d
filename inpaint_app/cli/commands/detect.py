"""`inpaint detect`: find the damage of a picture."""

from types import SimpleNamespace

from dictsel_core.damage_kinds import DAMAGE_KINDS
from inpaint_app.cli import options
from inpaint_app.cli.arguments import Command
from inpaint_app.cli.report import Console, terminal_control
from inpaint_app.cli.resolve_options import resolve_output
from inpaint_app.engine.detect import DetectRequest, DetectResult, detect_file
from inpaint_app.engine.source import check_input
from inpaint_app.errors import printable_path
from inpaint_app.io.write import Output
from inpaint_app.text import format_percent

_PARAMETERS = [
    options.input_argument(),
    *options.output_options("the mask (default: <name>_mask.png beside IN)"),
    *options.DETECTION,
    *options.REPORTING,
]


def _run(args: SimpleNamespace) -> int:
    check_input(args.input)
    default = args.input.with_name(f"{args.input.stem}_mask.png")
    output = resolve_output(args.output, args.input, default)
    console = Console.of(args, output)
    request = DetectRequest(args.input, Output(output, args.overwrite), args.kinds, args.sensitivity)
    with terminal_control(console) as control:
        result = detect_file(request, control)
    _print(console, request, result)
    document = {
        "found": {
            kind: {"regions": found.n_regions, "pixels": found.n_pixels}
            for kind, found in result.found.items()
        },
        "missing_fraction": float(result.mask.mean()),
        "sensitivity": request.sensitivity,
        "output": str(output),
    }
    console.print_json(document)
    return 0


def _print(console: Console, request: DetectRequest, result: DetectResult) -> None:
    picture = result.picture
    console.print(
        f"Picture:     {printable_path(request.path)}, {picture.width} x {picture.height} pixels, "
        f"{picture.mode}"
    )
    for kind, found in result.found.items():
        name, part = kind.replace("_", " ").capitalize() + ":", found.n_pixels / result.mask.size
        console.print(f"{name:<12} {found.n_regions} found, {found.n_pixels} pixels ({format_percent(part)})")
    for notice in picture.notices:
        console.note(notice)
    console.print_written(request.output.path, result.notes, label="Mask")


COMMAND = Command(
    "detect IN [-o MASK] [--kinds KINDS] [--sensitivity S] [options]",
    _PARAMETERS,
    _run,
    {"kinds": ", ".join(DAMAGE_KINDS)},
)
