"""`inpaint score`: how near two pictures are."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from inpaint_app.cli import options
from inpaint_app.cli.console import Console
from inpaint_app.cli.report import score_lines
from inpaint_app.errors import UserError, printable_path
from inpaint_app.files.read import read_picture
from inpaint_app.image.missing import check_missing, detect_missing
from inpaint_app.image.picture import Picture
from inpaint_app.jobs.measure import measure
from inpaint_app.jobs.source import check_comparable

_EPILOG = """\
examples:
  inpaint score original.png restored.png
  inpaint score original.png restored.png --mask missing.png --json

Alpha channels are left out of the comparison. JSON keys: psnr, psnr_missing,
ssim, ssim_missing; the missing ones need --mask. Infinite values are null."""


def add(commands: Any) -> None:  # noqa: ANN401  (a private class of argparse)
    """Add the command."""
    parser = commands.add_parser(
        "score",
        help="measure how near two pictures are (PSNR, SSIM)",
        description="Measure how near picture B is to its original A: PSNR in decibels, and SSIM.",
        epilog=_EPILOG,
    )
    parser.add_argument("reference", metavar="A", type=Path, help="the original")
    parser.add_argument("picture", metavar="B", type=Path, help="the picture to judge")
    parser.add_argument(
        "--mask", metavar="M", type=Path, help="also count only the pixels white in this picture"
    )
    parser.add_argument("--invert-mask", action="store_true", help="black = missing instead")
    options.add_verbosity(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.invert_mask and args.mask is None:
        raise UserError("--invert-mask needs a mask", "give one with --mask")
    console = Console(as_json=args.json, quiet=args.quiet)
    reference, picture = _whole(args.reference), _whole(args.picture)
    check_comparable(reference, picture, printable_path(args.reference), printable_path(args.picture))
    mask = None
    if args.mask is not None:
        plain = Picture(reference.pixels)
        missing = detect_missing(plain, mask=read_picture(args.mask), invert_mask=args.invert_mask)
        check_missing(missing, has_mask=True)
        mask = missing.mask
    scores = measure(reference.pixels, picture.pixels, mask)
    for line in score_lines(scores):
        console.say(line)
    console.document(
        {
            "psnr": scores.psnr,
            "psnr_missing": scores.psnr_missing,
            "ssim": scores.ssim,
            "ssim_missing": scores.ssim_missing,
        }
    )
    return 0


def _whole(path: Path) -> Picture:
    picture = read_picture(path)
    if not bool(np.isfinite(picture.pixels).all()):
        raise UserError(
            f"{printable_path(path)} holds NaN or infinity, which cannot be compared", "restore it first"
        )
    return picture
