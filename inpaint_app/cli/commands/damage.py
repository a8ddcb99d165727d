"""`inpaint damage`: make a test case out of an intact picture."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from inpaint_app.cli import options
from inpaint_app.cli.arguments import Command, Option
from inpaint_app.cli.options import FRACTION, OUTPUT, value_of_setting
from inpaint_app.cli.report import Console
from inpaint_app.cli.resolve_options import resolve_output
from inpaint_app.engine.source import read_single_page
from inpaint_app.errors import UserError, join_names, printable_path
from inpaint_app.io.atomic import check_distinct, write_files
from inpaint_app.io.format import Format
from inpaint_app.io.registry import format_names, format_of, writable
from inpaint_app.io.write import Output, check_storable, properties_of
from inpaint_app.model.damage import Damage, damaged, mask_picture
from inpaint_app.text import format_percent

#: Lossless: observed pixels must be those of the original.
_QUALITY = 100


def _suitable() -> list[Format]:
    return [each for each in writable() if each.is_exact and each.has_alpha]


_PARAMETERS = [
    options.input_argument("an intact picture"),
    *options.output_options(
        f"an exact format with alpha such as {format_names(_suitable()[:3])}", required=True
    ),
    Option("--missing FRACTION", "fraction of the pixels to drop: 0.8 or 80%", FRACTION),
    Option("--scratches", "draw a few thin curved scratches"),
    Option("--text STR", "stamp a text all over the picture"),
    Option("--seed N", "seed of the random generator (default 0)", value_of_setting("seed"), default=0),
    Option("--mask-out M", "also write the mask, white = missing", OUTPUT),
    *options.VERBOSITY,
]


def _run(args: SimpleNamespace) -> int:
    args.output = resolve_output(args.output, args.input, Path("damaged.png"))
    if args.mask_out is not None:
        args.mask_out = resolve_output(args.mask_out, args.input, Path("mask.png"))
    console, damage = Console.of(args, args.output, args.mask_out), _damage(args)
    paths = [args.output] if args.mask_out is None else [args.output, args.mask_out]
    outputs = [Output(path, args.overwrite, _QUALITY) for path in paths]
    for output in outputs:
        output.check([args.input])
        if format_of(output.path) not in _suitable():
            raise UserError(
                f"{printable_path(output.path)} cannot store exactly which pixels are missing",
                f"write {format_names(_suitable())}",
            )
    check_distinct(paths)
    picture = read_single_page(args.input)
    properties = replace(properties_of(picture), has_alpha=True, is_transparent=True)
    check_storable(properties, format_of(args.output), quality=_QUALITY)
    for output in outputs[1:]:
        output.check_size(picture.width, picture.height)
    for notice in picture.notices:
        console.note(notice)
    mask = damage.mask((picture.height, picture.width))
    if mask.all():
        raise UserError("This would leave no observed pixel", "damage less or give a larger picture")
    pictures = (damaged(picture, mask), mask_picture(mask))
    files = [output.pending(each) for output, each in zip(outputs, pictures, strict=False)]
    notes = write_files(files[::-1], overwrite=args.overwrite, source=args.input)  # the damaged picture last
    console.print(
        f"Missing:     {format_percent(float(mask.mean()))} of {picture.width} x {picture.height} pixels"
    )
    console.print_written(args.output, ())
    if args.mask_out is not None:
        console.print_written(args.mask_out, (), label="Mask")
    for note in notes:
        console.note(note)
    return 0


def _damage(args: SimpleNamespace) -> Damage:
    kinds = {
        "--missing": None if args.missing is None else Damage("random", args.missing, seed=args.seed),
        "--scratches": Damage("scratches", seed=args.seed) if args.scratches else None,
        "--text": None if args.text is None else Damage("text", text=args.text, seed=args.seed),
    }
    given = [damage for damage in kinds.values() if damage is not None]
    if len(given) == 1:
        return given[0]
    names = [name for name, damage in kinds.items() if damage is not None] or list(kinds)
    if given:
        raise UserError(f"{join_names(names)} exclude each other", "give one of them")
    raise UserError("The kind of damage is missing", f"give one of {join_names(names)}")


COMMAND = Command(
    "damage IN -o OUT (--missing FRACTION | --scratches | --text STR) [options]",
    _PARAMETERS,
    _run,
)
