"""`inpaint damage`: a whole picture becomes a test case."""

import argparse
from pathlib import Path
from typing import Any

from inpaint_app.cli import options
from inpaint_app.cli.console import Console
from inpaint_app.cli.parser import part, whole
from inpaint_app.errors import UserError, printable_path
from inpaint_app.files.read import read_picture
from inpaint_app.files.write import check_output, write_picture
from inpaint_app.formatting import format_percent
from inpaint_app.image.damage import damaged, mask_picture, random_mask, scratch_mask, text_mask
from inpaint_app.image.missing import Mask
from inpaint_app.image.picture import Picture

_EPILOG = """\
examples:
  inpaint damage photo.png -o damaged.png --missing 0.8
  inpaint damage photo.png -o scratched.png --scratches --seed 3
  inpaint damage photo.jpg -o stamped.png --text "SAMPLE" --mask-out letters.png

OUT keeps bit depth and metadata; missing pixels get alpha = 0 and the colour 0,
so that nothing of the original is left in them. The same seed makes the same
damage."""


def add(commands: Any) -> None:  # noqa: ANN401  (a private class of argparse)
    """Add the command."""
    parser = commands.add_parser(
        "damage",
        help="make a test case: drop pixels, scratch, stamp a text",
        usage="inpaint damage IN -o OUT (--missing PART | --scratches | --text STR) [options]",
        description="Damage a whole picture on purpose, to see how well it can be restored.",
        epilog=_EPILOG,
    )
    options.add_input(parser, "a whole picture")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=Path,
        required=True,
        help="PNG, TIFF or WebP: formats with alpha",
    )
    options.add_overwrite(parser)
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--missing", metavar="PART", type=part, help="part of the pixels to drop: 0.8 or 80%%")
    kind.add_argument("--scratches", action="store_true", help="a handful of thin curved scratches")
    kind.add_argument("--text", metavar="STR", help="a text all over the picture")
    parser.add_argument(
        "--seed", metavar="N", type=whole(0), default=0, help="for every random choice (default 0)"
    )
    parser.add_argument("--mask-out", metavar="M", type=Path, help="also write the mask, white = missing")
    parser.add_argument("--quiet", action="store_true", help="print nothing")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    console = Console(quiet=args.quiet)
    for path in [args.output] if args.mask_out is None else [args.output, args.mask_out]:
        if check_output(path, overwrite=args.overwrite, protect=[args.input]) == "JPEG":
            raise UserError(
                f"{printable_path(path)} cannot keep which pixels are missing", "write PNG, TIFF or WebP"
            )
    if args.mask_out is not None and args.mask_out.absolute() == args.output.absolute():
        raise UserError("--output and --mask-out name the same file", "give two names")
    picture = read_picture(args.input)
    check_output(args.output, overwrite=args.overwrite, bits=picture.depth)
    for notice in picture.notices:
        console.note(notice)
    mask = _mask(args, picture)
    if mask.all():
        raise UserError("This would leave no pixel of the picture", "damage less or give a larger picture")
    # Quality 100 is WebP without loss: observed pixels must be the original's.
    write_picture(damaged(picture, mask), args.output, overwrite=args.overwrite, quality=100)
    console.say(
        f"Missing:     {format_percent(float(mask.mean()))} of {picture.width} x {picture.height} pixels"
    )
    console.say(f"Written:     {printable_path(args.output)}")
    if args.mask_out is not None:
        write_picture(mask_picture(mask), args.mask_out, overwrite=args.overwrite, quality=100)
        console.say(f"Mask:        {printable_path(args.mask_out)}")
    return 0


def _mask(args: argparse.Namespace, picture: Picture) -> Mask:
    shape = picture.height, picture.width
    if args.missing is not None:
        return random_mask(shape, args.missing, args.seed)
    if args.text is not None:
        return text_mask(shape, args.text, args.seed)
    return scratch_mask(shape, args.seed)
