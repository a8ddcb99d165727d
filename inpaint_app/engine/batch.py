"""Restore many files: several at once, one after the other, or on a cluster; a failure stops no other."""

import contextlib
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from inpaint_app.engine.control import Event, JobControl, Progress
from inpaint_app.engine.restore_file import FileOptions, FileRequest, FileResult, restore_file
from inpaint_app.errors import NothingMissingError, UserError, printable_path, writing_error
from inpaint_app.io.batch_files import BatchItem, find_items
from inpaint_app.io.paths import is_visible
from inpaint_app.io.write import Output
from inpaint_app.system import n_cores


@dataclass(frozen=True)
class BatchRequest:
    """Files to restore, how, and where the results go."""

    inputs: tuple[Path, ...]  #: Pictures, and folders of pictures.
    output: Output  #: How results are written; its path is their folder.
    options: FileOptions  #: How all of them are restored; the mask may be a folder of masks.
    writes_recipes: bool = False  #: Whether a recipe is written beside each result.
    recursive: bool = False  #: Whether the pictures of inner folders are restored too.
    skip_existing: bool = False  #: Whether pictures whose result exists are left out.
    n_jobs: int = 1  #: How many files are restored at a time,
    scheduler: str | None = None  #: or the cluster that restores them, see `blocks.workers.open_workers`.

    def with_threads(self, threads: int) -> "BatchRequest":
        """Return the request with so many threads for each file."""
        settings = replace(self.options.settings, threads=threads)
        return replace(self, options=replace(self.options, settings=settings))


@dataclass(frozen=True)
class BatchRow(Event):
    """The state of one file of a batch."""

    number: int  #: From 1.
    count: int  #: Of all files.
    path: Path  #: The damaged picture.
    progress: Progress  #: Of this file.
    result: FileResult | None = None  #: If it was restored.
    error: UserError | None = None  #: If it failed.
    skipped: str = ""  #: Why there was nothing to do: "intact" or "exists"; else empty.
    seconds: float | None = None  #: How long it took; None while it is under way.

    @property
    def is_done(self) -> bool:
        """Whether it was restored, skipped, or has failed."""
        return self.seconds is not None


def run_batch(request: BatchRequest, control: JobControl) -> tuple[BatchRow, ...]:
    """Restore all files; reports a `BatchRow` for every step of each.

    Raises `UserError` if there is nothing to restore, or results would collide. If the job is ended, what is
    written stays.
    """
    items = plan_batch(request)
    with _output_folders(request.output.path, items):
        run_rows = _rows_in_this_process if request.scheduler is None else _rows_on_cluster
        return tuple(sorted(run_rows(request, items, control), key=lambda row: row.number))


def _rows_in_this_process(
    request: BatchRequest, items: list[BatchItem], control: JobControl
) -> list[BatchRow]:
    if request.n_jobs > 1 and request.options.settings.threads is None:
        request = request.with_threads(max(1, n_cores() // request.n_jobs))
    places = [(item, (number, len(items))) for number, item in enumerate(items, start=1)]
    if request.n_jobs == 1:
        return [restore_row(request, item, place, control) for item, place in places]
    pool = ThreadPoolExecutor(request.n_jobs)
    try:
        futures = [pool.submit(restore_row, request, item, place, control) for item, place in places]
        return [_wait_for(future) for future in futures]
    except BaseException:
        control.cancel()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def plan_batch(request: BatchRequest) -> list[BatchItem]:
    """Return the files of a batch and where their results go.

    Raises `UserError` if there is nothing to restore, or results would collide.
    """
    inputs, output, spec = list(request.inputs), request.output, request.options.mask_spec
    return find_items(inputs, output.path, spec, overwrite=output.overwrite, recursive=request.recursive)


def _wait_for(future: Future[BatchRow]) -> BatchRow:
    """Return the row, waiting in small steps: on some systems Ctrl-C does not end a long wait."""
    while True:
        with contextlib.suppress(TimeoutError):
            return future.result(timeout=0.2)


def restore_row(
    request: BatchRequest, item: BatchItem, place: tuple[int, int], control: JobControl
) -> BatchRow:
    """Restore one file of a batch; reports a `BatchRow` for every step.

    Its place is its number, from 1, and the number of files.
    """
    control.check()
    start = time.perf_counter()
    row = BatchRow(*place, item.path, Progress("reading", 0.0))
    control.report(row)

    def on_report(event: Event) -> None:
        if isinstance(event, Progress):
            control.report(replace(row, progress=event))

    try:
        if request.skip_existing and item.error is None and is_visible(item.output):
            row = replace(row, skipped="exists")
        else:
            make_folder(item.output.parent)
            row = replace(row, result=restore_file(_file_request(request, item), control.child(on_report)))
    except NothingMissingError:
        row = replace(row, skipped="intact")
    except UserError as error:
        row = replace(row, error=error)
    except MemoryError:
        problem = f"{printable_path(item.path)} needs more memory than is available"
        row = replace(row, error=UserError(problem, "scale it down first"))
    row = replace(row, progress=Progress(row.skipped or "done", 1.0), seconds=time.perf_counter() - start)
    control.report(row)
    return row


def _file_request(request: BatchRequest, item: BatchItem) -> FileRequest:
    if item.error is not None:
        raise item.error
    options = replace(request.options, mask_spec=replace(request.options.mask_spec, mask=item.mask))
    recipe = item.recipe if request.writes_recipes else None
    return FileRequest(item.path, replace(request.output, path=item.output), options, recipe)


@contextlib.contextmanager
def _output_folders(path: Path, items: list[BatchItem]) -> Iterator[None]:
    """Make the folder of the results, and remove at the end all new folders in which nothing was put."""
    folders = {path, *(item.output.parent for item in items)}
    new = {each for folder in folders for each in (folder, *folder.parents) if not is_visible(each)}
    make_folder(path)
    try:
        yield
    finally:
        for folder in sorted(new, key=lambda each: len(each.parts), reverse=True):
            with contextlib.suppress(OSError):  # not empty
                folder.rmdir()


def make_folder(path: Path) -> None:
    """Make a folder, and those that it lies in, unless it exists."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise UserError(f"{printable_path(path)} is a file, not a folder", "choose a folder") from error
    except (OSError, ValueError) as error:
        raise writing_error(error, path) from error


_SHARE = "put input and output on a file system that all machines share"


@dataclass(frozen=True)
class _RestoreItem:
    """Restores one file of a batch on a worker; its place is its number and the number of files."""

    request: BatchRequest
    item: BatchItem
    place: tuple[int, int]

    def __call__(self) -> BatchRow:
        """Return what became of it."""
        item = self.item
        for path in (item.path, item.mask, item.output.parent) if item.error is None else ():
            if path is not None and not is_visible(path):
                return self.failed(UserError(f"A worker cannot see {printable_path(path)}", _SHARE))
        return restore_row(self.request, item, self.place, JobControl())

    def failed(self, error: UserError) -> BatchRow:
        """Return the row of a file that could not be restored."""
        return BatchRow(*self.place, self.item.path, Progress("done", 1.0), error=error, seconds=0.0)


def _rows_on_cluster(
    request: BatchRequest, items: list[BatchItem], control: JobControl
) -> Iterator[BatchRow]:
    from inpaint_app.engine.blocks.workers import open_workers  # noqa: PLC0415  (an extra)

    alone = request.with_threads(1)
    for folder in {item.output.parent for item in items}:
        make_folder(folder)
    jobs = [
        _RestoreItem(alone, _absolute(item), (number, len(items)))
        for number, item in enumerate(items, start=1)
    ]
    with open_workers(request.scheduler, control.child(lambda _event: None)) as workers:
        for row in workers.run(jobs, lambda job, error: cast("_RestoreItem", job).failed(error)):
            here = _as_seen_here(row, items[row.number - 1])
            control.report(here)
            yield here


def _absolute(item: BatchItem) -> BatchItem:
    """Return a file with names that do not depend on the folder that a worker was started in."""
    absolute = replace(item, path=item.path.absolute(), output=item.output.absolute())
    mask = None if item.mask is None else item.mask.absolute()
    return replace(absolute, recipe=item.recipe.absolute(), mask=mask)


def _as_seen_here(row: BatchRow, item: BatchItem) -> BatchRow:
    """Return a row with the names that the user gave, if its result can be seen from here."""
    row = replace(row, path=item.path)
    if row.error is not None:
        there, here = printable_path(item.path.absolute()), printable_path(item.path)
        row = replace(row, error=UserError(row.error.problem.replace(there, here), row.error.remedy))
    if row.result is None:
        return row
    if not is_visible(item.output):
        problem = f"A worker has written {printable_path(item.output.absolute())} on its own disk"
        return replace(row, result=None, error=UserError(problem, _SHARE))
    return replace(row, result=replace(row.result, output=item.output))
