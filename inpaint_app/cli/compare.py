"""`inpaint compare`: individual and average sparsity side by side."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from inpaint_app.cli import options
from inpaint_app.cli.console import Console
from inpaint_app.cli.progress import Progress
from inpaint_app.cli.report import print_source
from inpaint_app.cli.resolve_options import choices
from inpaint_app.errors import printable_path
from inpaint_app.figures import Panel, comparison_figure, comparison_size
from inpaint_app.files.formats.shared.capabilities import Facts, check_encodable
from inpaint_app.files.write import check_output, format_of, write_picture
from inpaint_app.formatting import format_decibels, format_percent
from inpaint_app.image.picture import Picture
from inpaint_app.jobs.work import Scores, check_input, load, load_reference, measure, restore_source

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
    chosen = choices(args)
    default: Path = args.input.with_name(f"{args.input.stem}_comparison.png")
    output: Path = default if args.output is None else args.output
    sources = [path for path in (args.input, args.reference, chosen.mask_spec.mask) if path is not None]
    check_output(output, overwrite=args.overwrite, protect=sources)
    source = load(args.input, chosen.mask_spec)
    check_encodable(Facts(*comparison_size(source.picture, 3)), format_of(output))
    reference = load_reference(args.reference, source)
    print_source(console, source)
    before = measure(reference.pixels, _blackened(source.picture, source.missing.mask), None)
    panels = [
        Panel(
            source.picture, "Input", f"{format_percent(source.missing.fraction)} missing", source.missing.mask
        )
    ]
    scores: dict[str, Scores] = {}
    with Progress(quiet=args.quiet) as progress:
        for constraint in ("individual", "average"):
            restoration = restore_source(
                source, replace(chosen.settings, constraint=constraint), progress.update
            )
            score = measure(reference.pixels, restoration.image, source.missing.mask)
            scores[constraint] = score
            panels.append(
                Panel(Picture(restoration.image), f"{constraint.title()} sparsity", _psnr(score.psnr))
            )
    notes = write_picture(comparison_figure(panels), output, overwrite=args.overwrite)
    console.say(f"Input:       {_psnr(before.psnr)} with missing pixels black")
    for constraint, score in scores.items():
        name = f"{constraint.title()}:"
        console.say(
            f"{name:<12} {_psnr(score.psnr)} over all pixels, {_psnr(score.psnr_missing)} over missing ones"
        )
    console.say(f"Written:     {printable_path(output)}")
    for note in notes:
        console.note(note)
    console.document({name: _document(score) for name, score in scores.items()} | {"output": str(output)})
    return 0


def _psnr(value: float | None) -> str:
    return "-" if value is None else format_decibels(value)


def _blackened(picture: Picture, mask: Any) -> Any:  # noqa: ANN401  (arrays)
    pixels = picture.pixels.copy()
    pixels[mask] = 0
    return pixels


def _document(score: Scores) -> dict[str, float | None]:
    return {"psnr": score.psnr, "psnr_missing": score.psnr_missing, "ssim": score.ssim}
