"""`inpaint batch`: restore many pictures."""

import argparse
import threading
from pathlib import Path
from typing import Any

from inpaint_app.cli import options
from inpaint_app.cli.command import Command
from inpaint_app.cli.console import Console
from inpaint_app.cli.parser import whole_number
from inpaint_app.cli.progress import ProgressBar
from inpaint_app.cli.remedies import REMEDIES
from inpaint_app.cli.report import as_document
from inpaint_app.cli.resolve_options import resolve_options
from inpaint_app.cli.streams import print_note
from inpaint_app.errors import printable_path
from inpaint_app.formatting import format_decibels, format_percent
from inpaint_app.jobs.batch import BatchRequest, BatchRow, run_batch
from inpaint_app.jobs.control import JobControl

_DETAILS = """\
examples:
  inpaint batch scans/ -o restored/
  inpaint batch a.png b.png c.tif -o restored/ --mask dust.png
  inpaint batch scans/ -o restored/ --mask masks/ --jobs 2
  inpaint batch scans/ -o restored/ --detect scratches,dust
  inpaint batch frames/ -o out/ --recipe best.json --json

Of a folder, only the pictures directly inside are restored; masks/ holds
<name>.png or <name>_mask.png for each <name>. Results keep their names; formats
that cannot be written (BMP, PNM) become PNG. A file that fails does not stop the
others. Exit code: 0 if all are restored, 1 if some failed, 2 if the command line
is wrong.

JSON: {"files": [...]}, each with input, error (null if restored) and the keys of
'inpaint restore'."""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "inputs", metavar="DIR|FILE", nargs="+", type=Path, help="pictures, or folders of pictures"
    )
    options.add_output(parser, "folder for the results", metavar="DIR", required=True)
    jobs = "number of pictures restored at a time (default 1)"
    parser.add_argument("--jobs", metavar="N", type=whole_number(1, 64), default=1, help=jobs)
    options.add_encoding(parser)
    parser.add_argument("--no-estimate", action="store_true", help="do not estimate the PSNR")
    parser.add_argument("--write-recipe", action="store_true", help="write a recipe beside each result")
    options.add_verbosity(parser)
    options.add_mask_options(parser, "one picture for all, or a folder with one per picture; white = missing")
    options.add_method(parser, can_tune=True)


def _run(args: argparse.Namespace) -> int:
    console = Console(as_json=args.json, quiet=args.quiet)
    chosen = resolve_options(args)
    request = BatchRequest(
        tuple(args.inputs),
        args.output,
        chosen.settings,
        chosen.mask_spec,
        args.overwrite,
        args.quality,
        args.depth,
        tunes=chosen.tunes,
        estimates=not args.no_estimate,
        writes_recipes=args.write_recipe,
        n_jobs=args.jobs,
    )
    with ProgressBar(quiet=args.quiet) as bar:
        rows = run_batch(request, JobControl(_BatchProgress(bar)))
    _print_table(console, rows)
    if args.quiet:
        for row in rows:
            if row.error is not None:
                print_note(f"inpaint: {row.error.sentence(REMEDIES)}\n")
    console.print_json({"files": [_document(row) for row in rows]})
    return 1 if any(row.error is not None for row in rows) else 0


class _BatchProgress:
    """Shows the progress of a batch; called from several threads."""

    def __init__(self, bar: ProgressBar) -> None:
        self._bar, self._lock = bar, threading.Lock()
        self._rows: dict[int, BatchRow] = {}

    def __call__(self, row: BatchRow) -> None:
        """Show the progress of one picture."""
        with self._lock:
            self._rows[row.number] = row
            n_done = sum(each.is_done for each in self._rows.values())
            fraction = sum(each.progress.fraction or 0.0 for each in self._rows.values()) / row.count
            under_way = [each for each in self._rows.values() if not each.is_done]
            if len(under_way) == 1:
                name = printable_path(f"{row.number} of {row.count}, {row.path.name}")
                self._bar.update(f"{name}: {row.progress.stage}", fraction)
            else:
                self._bar.update(f"{n_done} of {row.count} pictures", fraction)


def _document(row: BatchRow) -> dict[str, Any]:
    error = None if row.error is None else row.error.sentence(REMEDIES)
    return {"input": str(row.path), "error": error, **as_document(row.result)}


def _print_table(console: Console, rows: tuple[BatchRow, ...]) -> None:
    names = [printable_path(row.path.name) for row in rows]
    width = min(max(4, *(len(name) for name in names)), 40)
    console.print(f"{'file':<{width}}  {'missing':>11}  {'PSNR (est.)':>11}  {'seconds':>7}  status")
    for name, row in zip(names, rows, strict=True):
        shortened = name if len(name) <= width else f"{name[: width - 3]}..."
        missing = "-" if row.result is None else format_percent(row.result.missing_fraction)
        estimated = None if row.result is None else row.result.quality.estimated_psnr
        quality = "-" if estimated is None else format_decibels(estimated).partition(" (")[0]
        status = "restored" if row.error is None else f"FAILED: {row.error.sentence(REMEDIES)}"
        console.print(
            f"{shortened:<{width}}  {missing:>11}  {quality:>11}  {row.seconds or 0:>7.2f}  {status}"
        )
    for row in rows:
        for note in () if row.result is None else row.result.notes:
            console.note(note)
    good = sum(row.error is None for row in rows)
    console.print(f"{good} of {len(rows)} pictures restored.")


COMMAND = Command(
    "batch DIR|FILE... -o DIR [options]",
    "Restore the missing pixels of many pictures.",
    _DETAILS,
    _add_options,
    _run,
)
