"""`inpaint dictionary`: the selected atoms as a picture."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from inpaint_app.cli import options
from inpaint_app.cli.console import Console
from inpaint_app.cli.progress import Progress
from inpaint_app.cli.report import print_restoration, print_source
from inpaint_app.cli.resolve_options import choices
from inpaint_app.errors import printable_path
from inpaint_app.figures import atoms_figure
from inpaint_app.files.write import check_output, write_picture
from inpaint_app.jobs.work import load, restore_source

_EPILOG = """\
examples:
  inpaint dictionary damaged.png -o atoms.png
  inpaint dictionary damaged.png -o atoms.png --atoms 60 --bases dct,haar

Atoms are grouped by basis, the most used ones first; below each is the part of
the windows that use it."""


def add(commands: Any) -> None:  # noqa: ANN401  (a private class of argparse)
    """Add the command."""
    parser = commands.add_parser(
        "dictionary",
        help="draw the atoms that are selected for a picture",
        usage="inpaint dictionary IN -o OUT [options]",
        description="Draw the dictionary that is selected to restore a picture.",
        epilog=_EPILOG,
    )
    options.add_input(parser)
    parser.add_argument(
        "-o", "--output", metavar="OUT", type=Path, required=True, help="the picture to write"
    )
    options.add_overwrite(parser)
    parser.add_argument("--quiet", action="store_true", help="print no report, no notes and no progress bar")
    options.add_mask_options(parser)
    options.add_method(parser, auto=False)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    console = Console(quiet=args.quiet)
    chosen = choices(args)
    sources = [path for path in (args.input, chosen.mask_spec.mask) if path is not None]
    check_output(args.output, overwrite=args.overwrite, protect=sources)
    source = load(args.input, chosen.mask_spec)
    print_source(console, source)
    settings = replace(chosen.settings, rounds=0)  # refinement uses no dictionary
    with Progress(quiet=args.quiet) as progress:
        restoration = restore_source(source, settings, progress.update)
    print_restoration(console, restoration)
    size = restoration.settings.patch_size
    figure = atoms_figure(
        restoration.dictionary,
        restoration.origins,
        (size, size),
        shares=restoration.usage_fractions,
        title=f"A dictionary of {len(restoration.origins)} atoms of {size} x {size} pixels",
        subtitle="Gray is zero. Below each atom: the fraction of the patches that use it.",
    )
    notes = write_picture(figure, args.output, overwrite=args.overwrite)
    console.say(f"Written:     {printable_path(args.output)}")
    for note in notes:
        console.note(note)
    return 0
