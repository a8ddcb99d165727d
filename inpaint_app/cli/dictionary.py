"""`inpaint dictionary`: the selected atoms as a picture."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from inpaint_app.cli import options
from inpaint_app.cli.console import Console
from inpaint_app.cli.progress import ProgressBar
from inpaint_app.cli.report import follow, print_restoration, print_source
from inpaint_app.cli.resolve_options import resolve_options
from inpaint_app.errors import printable_path
from inpaint_app.jobs.export import Output, write_dictionary
from inpaint_app.jobs.restore import RestoreRequest, restore
from inpaint_app.jobs.source import load_source

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
    chosen = resolve_options(args)
    output = Output(args.output, args.overwrite)
    given = (args.input, chosen.mask_spec.mask)
    output.check(path for path in given if path is not None)
    source = load_source(args.input, chosen.mask_spec)
    print_source(console, source)
    settings = replace(chosen.settings, rounds=0)  # refinement uses no dictionary
    with ProgressBar(quiet=args.quiet) as bar:
        request = RestoreRequest(source.picture.pixels, source.missing.mask, settings)
        restoration = restore(request, follow(console, bar)).restoration
    assert restoration is not None, "nobody stops it"
    print_restoration(console, restoration)
    notes = write_dictionary(source, restoration, output)
    console.say(f"Written:     {printable_path(output.path)}")
    for note in notes:
        console.note(note)
    return 0
