"""`inpaint restore`: one damaged picture becomes whole."""

import argparse
from pathlib import Path
from typing import Any

from dictsel_core import Restoration
from inpaint_app.cli import options
from inpaint_app.cli.console import Console
from inpaint_app.cli.job import Job, Listener, run_job
from inpaint_app.cli.progress import Progress
from inpaint_app.cli.report import print_outcome, print_restoration, print_source
from inpaint_app.cli.resolve_options import choices
from inpaint_app.errors import printable_path
from inpaint_app.files.recipe_contents import recipe_path
from inpaint_app.files.write import default_output
from inpaint_app.jobs.work import check_input

_EPILOG = """\
examples:
  inpaint restore photo.png
  inpaint restore scan.tif -o whole.tif --mask scratches.png
  inpaint restore shot.jpg --key magenta --tolerance 20 --quality 98
  inpaint restore damaged.png --reference original.png --json
  inpaint restore damaged.png --preset paper --constraint individual
  inpaint restore damaged.png --auto --write-recipe best.json
  inpaint restore another.png --recipe best.json

Bit depth, EXIF and colour profile are kept. Without --reference the PSNR is
estimated by restoring observed pixels that were held out, which takes a little
longer (--no-estimate leaves it out).

JSON keys: psnr, psnr_missing and ssim (with --reference), estimated_psnr
(without), missing_fraction, seconds (by stage), settings, output. What does not
apply, or is infinite, is null."""


def add(commands: Any) -> None:  # noqa: ANN401  (a private class of argparse)
    """Add the command."""
    parser = commands.add_parser(
        "restore",
        help="restore one picture",
        usage="inpaint restore IN [-o OUT] [options]",
        description="Restore the missing pixels of one picture.",
        epilog=_EPILOG,
    )
    options.add_input(parser)
    options.add_output(parser, "<name>_restored beside IN")
    options.add_encoding(parser)
    parser.add_argument("--reference", metavar="REF", type=Path, help="the undamaged picture, to measure by")
    parser.add_argument("--no-estimate", action="store_true", help="do not estimate the PSNR")
    parser.add_argument(
        "--write-recipe",
        metavar="R",
        nargs="?",
        type=Path,
        const=Path(),
        help="write the settings as JSON, for --recipe (default name: that of OUT with .json)",
    )
    options.add_verbosity(parser)
    options.add_mask_options(parser)
    options.add_method(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    console = Console(as_json=args.json, quiet=args.quiet)
    check_input(args.input)
    output = default_output(args.input) if args.output is None else args.output
    recipe = None
    if args.write_recipe is not None:
        recipe = recipe_path(args.write_recipe if args.write_recipe != Path() else None, output)
    job = Job(args.input, output, choices(args), args, recipe, args.reference)
    with Progress(quiet=args.quiet) as progress:

        def done(restoration: Restoration) -> None:
            progress.clear()
            print_restoration(console, restoration)

        listener = Listener(progress.update, lambda source: print_source(console, source), done)
        outcome = run_job(job, listener)
    print_outcome(console, outcome)
    if recipe is not None:
        console.say(f"Recipe:      {printable_path(recipe)}")
    console.document(outcome.document())
    return 0
