"""`inpaint restore`: restore one picture."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from dictsel_core.restoration import MAX_NEIGHBOR_PLANES
from inpaint_app.cli import options
from inpaint_app.cli.arguments import PATH, Command, Option
from inpaint_app.cli.options import INPUT, whole_number
from inpaint_app.cli.report import Console, print_outcome, terminal_control
from inpaint_app.cli.resolve_options import resolve_options, resolve_output
from inpaint_app.cli.streams import print_note
from inpaint_app.engine.hole_fill import HoleFillFiles
from inpaint_app.engine.restore_file import FileRequest, restore_file
from inpaint_app.engine.source import check_input
from inpaint_app.errors import UserError
from inpaint_app.io.paths import is_stdout, is_zarr
from inpaint_app.io.write import Output, default_output

_PARAMETERS = [
    options.input_argument(),
    *options.output_options("the restored picture (default: <name>_restored beside IN)"),
    *options.ENCODING,
    options.reference_option(),
    options.DATA_RANGE,
    Option("--no-estimate", "do not estimate the PSNR"),
    options.GRAIN,
    Option(
        "--fill-from M",
        "picture of the same size, white = may be copied into wide holes (default: what is around them)",
        INPUT,
    ),
    options.STRICT,
    Option(
        "--write-recipe R",
        "write the settings as JSON, for --recipe (default name: that of OUT with .json)",
        PATH,
        flag_value=Path(),
        is_flag=False,
    ),
    Option(
        "--neighbor-planes N",
        "take the pages of IN for planes of a volume or frames of a film, and look for similar patches "
        "in N pages before and after each, too (default: every page by itself)",
        whole_number(0, MAX_NEIGHBOR_PLANES),
    ),
    *options.BLOCKS,
    *options.REPORTING,
    *options.mask_options(),
    *options.method_options(can_tune=True),
]


def _run(args: SimpleNamespace) -> int:
    if not is_zarr(args.input):
        check_input(args.input)
    output = resolve_output(args.output, args.input, default_output(args.input))
    console = Console.of(args, output)
    chosen = replace(resolve_options(args), neighbor_planes=args.neighbor_planes, data_range=args.data_range)
    recipe = output.with_suffix(".json") if args.write_recipe == Path() else args.write_recipe
    if args.write_recipe == Path() and is_stdout(output):
        raise UserError("The recipe of a picture on standard output has no default name", "give it one")
    fills_by_file = chosen.hole_fill != HoleFillFiles()
    if fills_by_file and args.neighbor_planes is not None:
        raise UserError("Pages of a stack are filled together", "leave out --neighbor-planes")
    if fills_by_file and args.write_recipe is not None:
        raise UserError("A recipe cannot say what files fill holes", "leave out --write-recipe")
    target = Output(output, args.overwrite, args.quality, args.depth)
    request = FileRequest(args.input, target, chosen, recipe, args.reference, args.scheduler, args.block)
    with terminal_control(console) as control:
        try:
            result = restore_file(request, control)
        except KeyboardInterrupt:
            if not control.if_stopped:
                raise
            print_note(f"inpaint: Stopped; {control.if_stopped}\n")
            return 130
    print_outcome(console, result, recipe)
    return 0


COMMAND = Command("restore IN [-o OUT] [options]", _PARAMETERS, _run)
