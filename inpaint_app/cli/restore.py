"""`inpaint restore`: one damaged picture becomes whole."""

import argparse
from pathlib import Path
from typing import Any

from dictsel_core import Restoration
from inpaint_app.cli import options
from inpaint_app.cli.choices import choices
from inpaint_app.cli.console import Console
from inpaint_app.cli.job import Job, Listener, run_job
from inpaint_app.cli.progress import Progress
from inpaint_app.cli.report import say_done, say_figures, say_found
from inpaint_app.errors import shown
from inpaint_app.recipe_contents import recipe_path
from inpaint_app.work import check_input
from inpaint_app.writing import default_output

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
    options.add_talk(parser)
    options.add_marks(parser)
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
            say_done(console, restoration)

        listener = Listener(progress.update, lambda source: say_found(console, source), done)
        outcome = run_job(job, listener)
    say_figures(console, outcome)
    if recipe is not None:
        console.say(f"Recipe:      {shown(recipe)}")
    console.document(outcome.document())
    return 0
