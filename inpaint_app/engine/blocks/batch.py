"""The files of a batch as jobs of a cluster."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from inpaint_app.engine.batch import BatchRequest, BatchRow, RunRows, make_folder, restore_row
from inpaint_app.engine.blocks.executors import open_executor
from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.errors import UserError, printable_path
from inpaint_app.io.batch_files import BatchItem
from inpaint_app.io.paths import is_visible

_SHARE = "put input and output on a file system that all machines share"


@dataclass(frozen=True)
class RestoreItem:
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


def rows_on_cluster(scheduler: str) -> RunRows:
    """Return a function that restores the files of a batch on a cluster; see `open_executor`."""

    def run_rows(request: BatchRequest, items: list[BatchItem], control: JobControl) -> Iterator[BatchRow]:
        alone = request.with_threads(1)
        for folder in {item.output.parent for item in items}:
            make_folder(folder)
        jobs = [
            RestoreItem(alone, _absolute(item), (number, len(items)))
            for number, item in enumerate(items, start=1)
        ]
        with open_executor(scheduler, control.child(lambda _report: None)) as executor:
            for row in executor.run(jobs, lambda job, error: cast("RestoreItem", job).failed(error)):
                here = _as_seen_here(row, items[row.number - 1])
                control.report(here)
                yield here

    return run_rows


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
