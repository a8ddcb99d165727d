"""`inpaint batch`: restore many pictures."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from dictsel_core.damage_kinds import USUAL_KINDS
from inpaint_app.cli import options
from inpaint_app.cli.arguments import Argument, BadValueError, Command, Option, Value
from inpaint_app.cli.options import whole_number
from inpaint_app.cli.remedies import REMEDIES
from inpaint_app.cli.report import Console, ProgressBar, as_document, print_details
from inpaint_app.cli.resolve_options import resolve_options
from inpaint_app.cli.streams import print_note
from inpaint_app.engine.batch import BatchRequest, BatchRow, plan_batch, run_batch
from inpaint_app.engine.control import Event, JobControl
from inpaint_app.errors import UserError, printable_path
from inpaint_app.io.batch_files import BatchItem
from inpaint_app.io.paths import is_visible
from inpaint_app.io.write import Output
from inpaint_app.text import describe_damage, format_decibels, format_percent


def _named(text: str) -> Path:
    if text == "-":
        raise BadValueError("needs files or folders, not '-'; 'inpaint restore -' takes standard input.")
    return Path(text)


_NAMED = Value(_named, is_path=True)
_PARAMETERS = [
    Argument("inputs", "DIR|FILE", _NAMED, "pictures, or folders of pictures", several=True, required=True),
    Option("-o, --output DIR", "folder for the results", _NAMED, required=True),
    options.OVERWRITE,
    Option("--jobs N", "number of pictures restored at a time (default 1)", whole_number(1, 64), default=1),
    options.scheduler_option("restore the pictures"),
    Option("--recursive", "also restore the pictures of inner folders"),
    Option(
        "--skip-existing", "leave out pictures whose result is already there, as after an interrupted run"
    ),
    Option("--dry-run", "print what would be done, and do nothing"),
    *options.ENCODING,
    Option("--no-estimate", "do not estimate the PSNR"),
    options.GRAIN,
    options.STRICT,
    Option("--write-recipe", "write a recipe beside each result"),
    *options.REPORTING,
    Option(
        "--repair",
        f"find damage and restore it with grain: short for --detect {','.join(USUAL_KINDS)} --grain",
    ),
    *options.mask_options("one picture for all, or a folder with one per picture; white = missing"),
    *options.method_options(can_tune=True),
]


def _run(args: SimpleNamespace) -> int:
    console = Console.of(args)
    request = BatchRequest(
        tuple(args.inputs),
        Output(args.output, args.overwrite, args.quality, args.depth),
        resolve_options(args),
        writes_recipes=args.write_recipe,
        recursive=args.recursive,
        skip_existing=args.skip_existing,
        n_jobs=args.jobs,
        scheduler=args.scheduler,
    )
    items = plan_batch(request)
    table = _Table(console, [item.path for item in items])
    if args.dry_run:
        return _print_plan(console, items, skip_existing=args.skip_existing)
    with ProgressBar(quiet=args.quiet) as bar:
        rows = run_batch(request, JobControl(_BatchProgress(bar, table)))
    table.print_end(rows)
    failed = [row for row in rows if row.error is not None]
    for row in failed if args.quiet else ():
        print_note(f"inpaint: {printable_path(row.path)}: {_sentence(row.error)}\n")
    console.print_json({"files": [_document(row) for row in rows]})
    return 1 if failed else 0


def _print_plan(console: Console, items: list[BatchItem], *, skip_existing: bool) -> int:
    """Print what would be done, without reading any picture."""
    documents = []
    for item in items:
        error = _sentence(item.error)
        exists = is_visible(item.output)
        status = error or ("exists" if exists and skip_existing else f"-> {printable_path(item.output)}")
        console.print(f"{printable_path(item.path)}  {status}")
        documents.append(
            {"input": str(item.path), "error": error, "output": str(item.output), "exists": exists}
        )
    console.print_json({"files": documents})
    return 1 if any(item.error is not None for item in items) else 0


class _Table:
    """Prints a line for every picture when it is done."""

    def __init__(self, console: Console, paths: list[Path]) -> None:
        self._console, self._has_header = console, False
        self._width = min(max(4, *(len(printable_path(path.name)) for path in paths)), 40)

    def print_row(self, row: BatchRow) -> None:
        """Print what became of a picture."""
        width, name = self._width, printable_path(row.path.name)
        if not self._has_header:
            self._has_header = True
            self._console.print(
                f"{'file':<{width}}  {'missing':>11}  {'PSNR (est.)':>11}  {'seconds':>7}  status"
            )
        shortened = name if len(name) <= width else f"{name[: width - 3]}..."
        missing = "-" if row.result is None else format_percent(row.result.missing_fraction)
        estimated = None if row.result is None else row.result.quality.estimated_psnr
        quality = "-" if estimated is None else format_decibels(estimated).partition(" (")[0]
        found = "" if row.result is None else describe_damage(row.result.found)
        done = f"restored: {found}" if found else row.skipped or "restored"
        status = done if row.error is None else f"FAILED: {_sentence(row.error)}"
        self._console.print(
            f"{shortened:<{width}}  {missing:>11}  {quality:>11}  {row.seconds or 0:>7.2f}  {status}"
        )
        if row.result is not None:
            print_details(self._console, row.result)

    def print_end(self, rows: tuple[BatchRow, ...]) -> None:
        """Print notes and the number of restored pictures."""
        for row in rows:
            for note in () if row.result is None else row.result.notes:
                self._console.note(note)
        good = sum(row.result is not None for row in rows)
        counts = [f"{good} of {len(rows)} pictures restored"]
        for skipped in ("intact", "exists"):
            n_skipped = sum(row.skipped == skipped for row in rows)
            if n_skipped:
                counts.append(f"{n_skipped} {'already there' if skipped == 'exists' else skipped}")
        self._console.print(f"{', '.join(counts)}.")


class _BatchProgress:
    """Shows the progress of a batch; called from several threads."""

    def __init__(self, bar: ProgressBar, table: _Table) -> None:
        self._bar, self._table, self._lock = bar, table, threading.Lock()
        self._rows: dict[int, BatchRow] = {}

    def __call__(self, row: Event) -> None:
        """Show the progress of one picture, and its line when it is done."""
        assert isinstance(row, BatchRow)
        with self._lock:
            if row.progress.is_compilation:
                self._bar.show_compilation(row.progress)
                return
            self._rows[row.number] = row
            if row.is_done:
                self._bar.clear()
                self._table.print_row(row)
            n_done = sum(each.is_done for each in self._rows.values())
            fraction = sum(each.progress.fraction or 0.0 for each in self._rows.values()) / row.count
            under_way = [each for each in self._rows.values() if not each.is_done]
            if len(under_way) == 1:
                (last,) = under_way
                name = printable_path(f"{last.number} of {row.count}, {last.path.name}")
                self._bar.update(f"{name}: {last.progress.stage}", fraction)
            else:
                self._bar.update(f"{n_done} of {row.count} pictures", fraction)


def _document(row: BatchRow) -> dict[str, Any]:
    error, skipped = _sentence(row.error), row.skipped or None
    return {"input": str(row.path), "error": error, "skipped": skipped, **as_document(row.result)}


def _sentence(error: UserError | None) -> str | None:
    return None if error is None else error.sentence(REMEDIES)


COMMAND = Command("batch DIR|FILE... -o DIR [options]", _PARAMETERS, _run)
