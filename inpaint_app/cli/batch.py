"""`inpaint batch`: many pictures, one after the other or several at once."""

import argparse
import contextlib
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from inpaint_app.cli import options
from inpaint_app.cli.console import Console
from inpaint_app.cli.job import Job, Listener, run_job
from inpaint_app.cli.parser import whole
from inpaint_app.cli.progress import Progress
from inpaint_app.cli.report import KEYS, Outcome
from inpaint_app.cli.resolve_options import ResolvedOptions, choices
from inpaint_app.cli.streams import print_note
from inpaint_app.errors import UserError, printable_path, writing_error
from inpaint_app.files.batch_files import Item, find_items
from inpaint_app.files.paths import is_visible
from inpaint_app.formatting import format_decibels, format_percent
from inpaint_app.jobs.work import Report

_EPILOG = """\
examples:
  inpaint batch scans/ -o restored/
  inpaint batch a.png b.png c.tif -o restored/ --mask dust.png
  inpaint batch scans/ -o restored/ --mask masks/ --jobs 2
  inpaint batch frames/ -o out/ --recipe best.json --json

Of a folder, the pictures directly inside are taken; masks/ holds <name>.png or
<name>_mask.png for each <name>. Results keep their names; what cannot be written
in its own format (BMP, PNM) becomes PNG. A file that fails does not stop the
others. Exit code: 0 if all are restored, 1 if some failed, 2 if the call itself
is wrong.

--write-recipe writes <name>.json beside each result; where two results share
their <name>, such as a.png and a.tif, a.png.json and a.tif.json.

JSON: {"files": [...]}, each with input, error (null if restored) and the keys of
'inpaint restore'."""


def add(commands: Any) -> None:  # noqa: ANN401  (a private class of argparse)
    """Add the command."""
    parser = commands.add_parser(
        "batch",
        help="restore many pictures",
        usage="inpaint batch DIR|FILE... -o DIR [options]",
        description="Restore the missing pixels of many pictures.",
        epilog=_EPILOG,
    )
    parser.add_argument("inputs", metavar="DIR|FILE", nargs="+", type=Path, help="folders or pictures")
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        required=True,
        help="folder for the results",
    )
    options.add_overwrite(parser)
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=whole(1, 64),
        default=1,
        help="pictures at a time (default 1)",
    )
    options.add_encoding(parser)
    parser.add_argument("--no-estimate", action="store_true", help="do not estimate the PSNR")
    parser.add_argument("--write-recipe", action="store_true", help="write a recipe beside each result")
    options.add_verbosity(parser)
    options.add_mask_options(
        parser, mask_help="one picture for all, or a folder with one per picture; white = missing"
    )
    options.add_method(parser)
    parser.set_defaults(run=run)


@dataclass(frozen=True)
class _Row:
    """How one picture fared."""

    item: Item
    outcome: Outcome | None
    error: str | None
    seconds: float

    def document(self) -> dict[str, Any]:
        outcome = dict.fromkeys(KEYS) if self.outcome is None else self.outcome.document()
        return {"input": str(self.item.path), "error": self.error, **outcome}


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    console = Console(as_json=args.json, quiet=args.quiet)
    chosen = choices(args)
    items = find_items(args.inputs, args.output, chosen.mask_spec, overwrite=args.overwrite)
    if args.jobs > 1 and chosen.settings.threads is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = max(1, cores // args.jobs)
        chosen = replace(chosen, settings=replace(chosen.settings, threads=threads))
    with _folder(args.output), Progress(quiet=args.quiet) as progress:
        rows = _restore_all(items, chosen, args, progress)
    _say_table(console, rows)
    if args.quiet:
        for row in rows:
            if row.error is not None:
                print_note(f"inpaint: {row.error}\n")
    console.document({"files": [row.document() for row in rows]})
    return 1 if any(row.error is not None for row in rows) else 0


@contextlib.contextmanager
def _folder(path: Path) -> Iterator[None]:
    """Make a folder, and remove it again if nothing was put there."""
    made = not is_visible(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise UserError(f"{printable_path(path)} is a file, not a folder; choose another with -o.") from error
    except (OSError, ValueError) as error:
        raise writing_error(error, path) from error
    try:
        yield
    finally:
        if made:
            with contextlib.suppress(OSError):  # not empty
                path.rmdir()


def _restore_all(
    items: list[Item], chosen: ResolvedOptions, args: argparse.Namespace, progress: Progress
) -> list[_Row]:
    stop, parts = threading.Event(), dict.fromkeys(range(len(items)), 0.0)

    def work(number: int) -> _Row:
        def report(stage: str, fraction: float | None) -> None:
            parts[number] = fraction or 0.0
            if args.jobs == 1:
                done = f"{number + 1} of {len(items)}, {items[number].path.name}"
                progress.update(f"{printable_path(done)}: {stage}", sum(parts.values()) / len(items))

        row = _restore_one(items[number], chosen, args, report, stop)
        parts[number] = 1.0
        return row

    if args.jobs == 1:
        return [work(number) for number in range(len(items))]
    pool = ThreadPoolExecutor(args.jobs)
    try:
        futures = [pool.submit(work, number) for number in range(len(items))]
        _watch(futures, parts, progress)
        return [future.result() for future in futures]
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _watch(futures: list[Future[_Row]], parts: dict[int, float], progress: Progress) -> None:
    """Show how far several pictures are, until all are done."""
    waiting = set(futures)
    while waiting:
        with contextlib.suppress(TimeoutError):
            for future in as_completed(waiting, timeout=0.2):
                waiting.discard(future)
                break
        done = len(futures) - len(waiting)
        progress.update(f"{done} of {len(futures)} pictures", sum(parts.values()) / len(parts))


def _restore_one(
    item: Item, chosen: ResolvedOptions, args: argparse.Namespace, report: Report, stop: threading.Event
) -> _Row:
    start = time.perf_counter()
    outcome, problem = None, None
    try:
        if item.error is not None:
            raise UserError(item.error)
        marked = replace(chosen, mask_spec=replace(chosen.mask_spec, mask=item.mask))
        recipe = item.recipe if args.write_recipe else None
        outcome = run_job(Job(item.path, item.output, marked, args, recipe), Listener(report), stop)
    except UserError as error:
        problem = str(error)
    except MemoryError:
        problem = f"{printable_path(item.path)} needs more memory than there is; scale it down first."
    return _Row(item, outcome, problem, time.perf_counter() - start)


def _say_table(console: Console, rows: list[_Row]) -> None:
    names = [printable_path(row.item.path.name) for row in rows]
    width = min(max(4, *(len(name) for name in names)), 40)
    console.say(f"{'file':<{width}}  {'missing':>11}  {'PSNR (est.)':>11}  {'seconds':>7}  status")
    for name, row in zip(names, rows, strict=True):
        shortened = name if len(name) <= width else f"{name[: width - 3]}..."
        missing = "-" if row.outcome is None else format_percent(row.outcome.missing_fraction)
        estimated = None if row.outcome is None else row.outcome.estimated_psnr
        quality = "-" if estimated is None else format_decibels(estimated).partition(" (")[0]
        status = "restored" if row.error is None else f"FAILED: {row.error}"
        console.say(f"{shortened:<{width}}  {missing:>11}  {quality:>11}  {row.seconds:>7.2f}  {status}")
    for row in rows:
        for note in () if row.outcome is None else row.outcome.notes:
            console.note(note)
    good = sum(row.error is None for row in rows)
    console.say(f"{good} of {len(rows)} pictures restored.")
