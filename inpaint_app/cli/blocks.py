"""Restore a picture in blocks, from the command line."""

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from inpaint_app.cli.console import Console
from inpaint_app.cli.progress import ProgressBar
from inpaint_app.cli.report import print_outcome
from inpaint_app.cli.resolve_options import resolve_options
from inpaint_app.cli.streams import print_note
from inpaint_app.engine.blocks.cutting import DEFAULT_BLOCK
from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.errors import UserError, printable_path
from inpaint_app.io.write import Output

if TYPE_CHECKING:
    from inpaint_app.engine.blocks.restore_store import StoreSummary

_NOT_IN_BLOCKS = {
    "reference": ("--reference", "compare the results with 'inpaint score', part by part"),
    "neighbor_planes": ("--neighbor-planes", "leave it out: planes are restored one by one"),
    "grain": ("--grain", "leave it out: it is measured in the picture as a whole"),
    "fill_from": ("--fill-from", "leave it out: holes are filled from what is around them"),
    "auto": ("--auto", "run 'inpaint tune' on a part of the picture, and give its recipe with --recipe"),
}


def restore_in_blocks(args: SimpleNamespace) -> int:
    """Restore a picture in blocks, print the report and return the exit code."""
    from inpaint_app.engine.blocks.restore_store import StoreRequest, StoreSummary, restore_store

    for name, (flag, remedy) in _NOT_IN_BLOCKS.items():
        if getattr(args, name):
            raise UserError(f"{flag} is not for pictures that are restored in blocks", remedy)
    output = default_store(args.input) if args.output is None else args.output
    chosen, console = resolve_options(args), Console.of(args, output)
    if chosen.hole_fill.network is not None:
        raise UserError(
            "Networks are not for pictures that are restored in blocks", "give --fill another value"
        )
    recipe = output.with_suffix(".json") if args.write_recipe == Path() else args.write_recipe
    request = StoreRequest(
        args.input,
        Output(output, args.overwrite, depth=args.depth),
        chosen,
        recipe,
        scheduler=args.scheduler,
        block=args.block or DEFAULT_BLOCK,
    )
    with ProgressBar(quiet=args.quiet) as bar:

        def show(report: object) -> None:
            if isinstance(report, Progress) and report.is_compilation:
                bar.show_compilation(report)
            elif isinstance(report, Progress):
                bar.update(report.stage, report.fraction)
            elif isinstance(report, StoreSummary):
                bar.clear()
                _print_summary(console, report)

        try:
            result = restore_store(request, JobControl(show))
        except KeyboardInterrupt:
            bar.clear()
            print_note("inpaint: Stopped; the same command continues with the blocks that are left.\n")
            return 130
    print_outcome(console, result, recipe)
    return 0


def default_store(path: Path) -> Path:
    """Return where the restored picture goes: `<name>_restored` beside it."""
    suffix = ".ome.zarr" if path.name.lower().endswith(".ome.zarr") else path.suffix
    return path.with_name(f"{path.name.removesuffix(suffix)}_restored{suffix}")


def _print_summary(console: Console, summary: "StoreSummary") -> None:
    height, width, *channels = summary.shape
    bands = f", {channels[0]} channels" if channels else ""
    bands += f", {summary.n_planes} planes" if summary.n_planes > 1 else ""
    name = printable_path(summary.path)
    console.print(f"Picture:     {name}, {width} x {height} pixels{bands}, {summary.dtype}")
    console.print(f"Blocks:      {summary.n_blocks}")
    if summary.is_resumed:
        console.note("Continuing an earlier run; blocks that were finished are kept.")
