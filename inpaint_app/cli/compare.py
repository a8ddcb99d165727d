"""`inpaint compare`: individual and average sparsity side by side."""

import argparse
from pathlib import Path
from typing import Any

from dictsel_core import CONSTRAINTS
from inpaint_app.cli import options
from inpaint_app.cli.console import Console
from inpaint_app.cli.progress import ProgressBar
from inpaint_app.cli.report import follow, print_source
from inpaint_app.cli.resolve_options import resolve_options
from inpaint_app.errors import printable_path
from inpaint_app.figures import comparison_size
from inpaint_app.formatting import format_decibels
from inpaint_app.jobs.export import Compared, Output, write_comparison
from inpaint_app.jobs.measure import Scores, damage_quality, quality
from inpaint_app.jobs.restore import RestoreRequest, compare
from inpaint_app.jobs.source import check_input, load_source

_EPILOG = """\
examples:
  inpaint compare damaged.png --reference original.png
  inpaint compare damaged.png --reference original.png --preset paper -o fig.png

The result is one picture: the input with missing pixels in black, the restoration
under individual sparsity and the one under average sparsity, each with its PSNR
over all pixels. Under individual sparsity every patch may use at most S atoms;
under average sparsity also at most A on average. Refinement, which would hide the
difference, is left out unless --rounds or --preset asks for it.

JSON keys: individual and average, each with psnr, psnr_missing and ssim; output."""


def add(commands: Any) -> None:  # noqa: ANN401  (a private class of argparse)
    """Add the command."""
    parser = commands.add_parser(
        "compare",
        help="individual and average sparsity side by side",
        usage="inpaint compare IN --reference REF [-o OUT] [options]",
        description="Restore under individual and under average sparsity, and draw both with their PSNR.",
        epilog=_EPILOG,
    )
    options.add_input(parser)
    parser.add_argument(
        "--reference",
        metavar="REF",
        type=Path,
        required=True,
        help="the undamaged picture, to measure against",
    )
    options.add_output(parser, "<name>_comparison.png beside IN")
    options.add_verbosity(parser)
    options.add_mask_options(parser)
    options.add_method(parser, constraint=False, auto=False)
    parser.set_defaults(run=run, constraint=None)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    console = Console(as_json=args.json, quiet=args.quiet)
    check_input(args.input)
    chosen = resolve_options(args)
    default = args.input.with_name(f"{args.input.stem}_comparison.png")
    output = Output(default if args.output is None else args.output, args.overwrite)
    given = (args.input, args.reference, chosen.mask_spec.mask)
    output.check(path for path in given if path is not None)
    source = load_source(args.input, chosen.mask_spec, args.reference)
    output.check_size(*comparison_size(source.picture, 3))
    assert source.reference is not None, "the option is required"
    print_source(console, source)
    pixels, mask, reference = source.picture.pixels, source.missing.mask, source.reference.pixels
    with ProgressBar(quiet=args.quiet) as bar:
        runs = compare(RestoreRequest(pixels, mask, chosen.settings), CONSTRAINTS, follow(console, bar))
    compared = [
        Compared(
            run.restoration.image,
            run.request.settings.constraint,
            quality(run.request, run.restoration.image, reference),
        )
        for run in runs
        if run.restoration is not None
    ]
    notes = write_comparison(source, mask, compared, output)
    before = damage_quality(pixels, mask, reference).scores
    console.say(f"Input:       {_psnr(before.psnr)} with missing pixels black")
    scores = {each.constraint: each.quality.scores for each in compared if each.quality is not None}
    for constraint, score in scores.items():
        name = f"{constraint.title()}:"
        console.say(
            f"{name:<12} {_psnr(score.psnr)} over all pixels, {_psnr(score.psnr_missing)} over missing ones"
        )
    console.say(f"Written:     {printable_path(output.path)}")
    for note in notes:
        console.note(note)
    console.document(
        {name: _document(score) for name, score in scores.items()} | {"output": str(output.path)}
    )
    return 0


def _psnr(value: float | None) -> str:
    return "-" if value is None else format_decibels(value)


def _document(score: Scores) -> dict[str, float | None]:
    return {"psnr": score.psnr, "psnr_missing": score.psnr_missing, "ssim": score.ssim}
