"""`inpaint compare`: draw what every constraint gives, side by side."""

from dataclasses import asdict
from types import SimpleNamespace

from dictsel_core import RestoreSettings
from dictsel_core.restoration import CONSTRAINTS
from inpaint_app.cli import options
from inpaint_app.cli.arguments import Command
from inpaint_app.cli.report import Console, print_source, terminal_control
from inpaint_app.cli.resolve_options import resolve_options, resolve_output
from inpaint_app.engine.export import ComparedImage, write_comparison
from inpaint_app.engine.measure import damage_quality, quality
from inpaint_app.engine.restore import compare
from inpaint_app.engine.source import check_drawable, check_input, load_source
from inpaint_app.errors import printable_path
from inpaint_app.figures import comparison_size
from inpaint_app.io.write import Output
from inpaint_app.text import CONSTRAINT_EXPLANATIONS, constraint_title, format_decibels

_WORDS = {
    "constraints": ", ".join(CONSTRAINTS),
    "explained": "\n".join(f"  {name:<12}{CONSTRAINT_EXPLANATIONS[name]}" for name in CONSTRAINTS),
}
#: Refinement would hide what the constraints do.
_UNREFINED = RestoreSettings(rounds=0)
_PARAMETERS = [
    options.input_argument(),
    options.reference_option(required=True),
    *options.output_options("the figure (default: <name>_comparison.png beside IN)"),
    *options.REPORTING,
    *options.mask_options(),
    *options.method_options(without="constraint", default="balanced with --rounds 0"),
]


def _run(args: SimpleNamespace) -> int:
    check_input(args.input)
    default = args.input.with_name(f"{args.input.stem}_comparison.png")
    output = Output(resolve_output(args.output, args.input, default), args.overwrite)
    console = Console.of(args, output.path)
    chosen = resolve_options(args, default=_UNREFINED)
    source = load_source(args.input, chosen.mask_spec, args.reference)
    check_drawable(source.picture, printable_path(args.input))
    output.check(source.files)
    output.check_size(*comparison_size(source.picture, 1 + len(CONSTRAINTS)))
    assert source.reference is not None, "the option is required"
    print_source(console, source)
    pixels, mask, reference = source.picture.pixels, source.missing.mask, source.reference.pixels
    with terminal_control(console) as control:
        runs = compare(source.request(chosen.settings), CONSTRAINTS, control)
    compared: dict[str, ComparedImage] = {
        run.request.settings.constraint: ComparedImage(
            run.restoration.image,
            constraint_title(run.request.settings.constraint),
            quality(run.request, run.restoration.image, reference),
        )
        for run in runs
        if run.restoration is not None
    }
    notes = write_comparison(source, mask, list(compared.values()), output)
    before = damage_quality(pixels, mask, reference).scores
    console.print(f"Input:       {_psnr(before.psnr)} with missing pixels black")
    scores = {name: each.quality.scores for name, each in compared.items() if each.quality is not None}
    for constraint, score in scores.items():
        name = f"{constraint.title()}:"
        console.print(
            f"{name:<12} {_psnr(score.psnr)} over all pixels, {_psnr(score.psnr_missing)} over missing ones"
        )
    console.print_written(output.path, notes)
    figures = {name: asdict(score) for name, score in scores.items()}
    console.print_json({**figures, "output": str(output.path)})
    return 0


def _psnr(value: float | None) -> str:
    return "-" if value is None else format_decibels(value)


COMMAND = Command("compare IN --reference REF [-o OUT] [options]", _PARAMETERS, _run, _WORDS)
