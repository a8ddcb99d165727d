"""`inpaint damage`: a whole picture becomes a test case."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from inpaint_app.cli import options
from inpaint_app.cli.console import Console
from inpaint_app.cli.parser import part
from inpaint_app.errors import UserError, printable_path
from inpaint_app.files.atomic import check_distinct, write_files
from inpaint_app.files.encodable import Facts, check_encodable, facts_of
from inpaint_app.files.read import read_picture
from inpaint_app.files.registry import format_of
from inpaint_app.files.write import check_output, picture_output
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

_QUALITY = 100
"""WebP without loss: observed pixels must be the original's."""


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
        "--seed",
        metavar="N",
        type=options.setting("seed"),
        default=0,
        help="for every random choice (default 0)",
    )
    parser.add_argument("--mask-out", metavar="M", type=Path, help="also write the mask, white = missing")
    parser.add_argument("--quiet", action="store_true", help="print nothing")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    console = Console(quiet=args.quiet)
    paths = [args.output] if args.mask_out is None else [args.output, args.mask_out]
    for path in paths:
        if not check_output(path, overwrite=args.overwrite, protect=[args.input]).has_alpha:
            raise UserError(
                f"{printable_path(path)} cannot keep which pixels are missing", "write PNG, TIFF or WebP"
            )
    check_distinct(paths)
    picture = read_picture(args.input)
    facts = replace(facts_of(picture), has_alpha=True, is_transparent=True)
    check_encodable(facts, format_of(args.output), quality=_QUALITY)
    if args.mask_out is not None:
        plain = Facts(picture.width, picture.height, is_color=False)
        check_encodable(plain, format_of(args.mask_out), quality=_QUALITY)
    for notice in picture.notices:
        console.note(notice)
    mask = _mask(args, picture)
    if mask.all():
        raise UserError("This would leave no pixel of the picture", "damage less or give a larger picture")
    outputs = [picture_output(damaged(picture, mask), args.output, quality=_QUALITY)]
    if args.mask_out is not None:
        outputs.insert(0, picture_output(mask_picture(mask), args.mask_out, quality=_QUALITY))
    notes = write_files(outputs, overwrite=args.overwrite)
    console.say(
        f"Missing:     {format_percent(float(mask.mean()))} of {picture.width} x {picture.height} pixels"
    )
    console.say(f"Written:     {printable_path(args.output)}")
    if args.mask_out is not None:
        console.say(f"Mask:        {printable_path(args.mask_out)}")
    for note in notes:
        console.note(note)
    return 0


def _mask(args: argparse.Namespace, picture: Picture) -> Mask:
    shape = picture.height, picture.width
    if args.missing is not None:
        return random_mask(shape, args.missing, args.seed)
    if args.text is not None:
        return text_mask(shape, args.text, args.seed)
    return scratch_mask(shape, args.seed)
