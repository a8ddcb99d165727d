"""`inpaint score`: compare two pictures."""

from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

from inpaint_app.cli import options
from inpaint_app.cli.arguments import Argument, Command, Option
from inpaint_app.cli.options import INPUT
from inpaint_app.cli.report import Console, score_lines
from inpaint_app.engine.measure import measure
from inpaint_app.engine.source import check_comparable, read_single_page
from inpaint_app.errors import UserError, printable_path
from inpaint_app.model.missing import check_missing, collect_missing
from inpaint_app.model.picture import Picture

_PARAMETERS = [
    Argument("reference", "A", INPUT, "the original"),
    Argument("picture", "B", INPUT, "the picture to compare with it"),
    Option("--mask M", "also measure over the white pixels of this picture alone", INPUT),
    Option("--invert-mask", "black = missing instead"),
    options.DATA_RANGE,
    *options.REPORTING,
]


def _run(args: SimpleNamespace) -> int:
    if args.invert_mask and args.mask is None:
        raise UserError("--invert-mask needs a mask", "give one with --mask")
    console = Console.of(args)
    reference, picture = _read_known(args.reference), _read_known(args.picture)
    check_comparable(reference, picture, printable_path(args.reference), printable_path(args.picture))
    mask = None
    if args.mask is not None:
        plain = Picture(reference.pixels)
        missing = collect_missing(plain, mask=read_single_page(args.mask), invert_mask=args.invert_mask)
        check_missing(missing.fraction, has_mask=True)
        mask = missing.mask
    scores = measure(reference.pixels, picture.pixels, mask, args.data_range)
    for line in score_lines(scores):
        console.print(line)
    console.print_json(asdict(scores))
    return 0


def _read_known(path: Path) -> Picture:
    """Read a picture, all values of which must be known."""
    picture = read_single_page(path)
    if not {"nan", "nodata"}.isdisjoint(collect_missing(picture).sources):
        raise UserError(
            f'{printable_path(path)} holds NaN, infinity or "no data", which cannot be compared',
            "restore it first",
        )
    return picture


COMMAND = Command("score A B [options]", _PARAMETERS, _run)
