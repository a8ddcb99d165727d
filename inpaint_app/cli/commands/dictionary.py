"""`inpaint dictionary`: draw the selected atoms."""

from dataclasses import replace
from types import SimpleNamespace

from inpaint_app.cli import options
from inpaint_app.cli.arguments import Command
from inpaint_app.cli.report import Console, print_restoration, print_source, terminal_control
from inpaint_app.cli.resolve_options import resolve_options, resolve_output
from inpaint_app.engine.export import dictionary_figure, max_dictionary_size
from inpaint_app.engine.restore import restore
from inpaint_app.engine.source import check_input, load_source
from inpaint_app.io.write import Output

_PARAMETERS = [
    options.input_argument(),
    *options.output_options("the figure (default: <name>_dictionary.png beside IN)"),
    *options.VERBOSITY,
    *options.mask_options(),
    *options.method_options(),
]


def _run(args: SimpleNamespace) -> int:
    check_input(args.input)
    default = args.input.with_name(f"{args.input.stem}_dictionary.png")
    output = Output(resolve_output(args.output, args.input, default), args.overwrite)
    console = Console.of(args, output.path)
    chosen = resolve_options(args)
    source = load_source(args.input, chosen.mask_spec)
    output.check(source.files)
    settings = replace(chosen.settings, rounds=0)  # refinement uses no dictionary
    output.check_size(*max_dictionary_size(source, settings))
    print_source(console, source)
    with terminal_control(console) as control:
        restoration = restore(source.request(settings), control).restoration
    assert restoration is not None, "nobody stops it"
    print_restoration(console, restoration)
    notes = output.write(dictionary_figure(restoration), source.files)
    console.print_written(output.path, notes)
    return 0


COMMAND = Command("dictionary IN [-o OUT] [options]", _PARAMETERS, _run)
