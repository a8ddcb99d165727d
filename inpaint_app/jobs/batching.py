"""A batch: the pictures of a folder, one after the other; no Qt."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from dictsel_core import RestoreSettings, iter_restore
from inpaint_app.errors import UserError, printable_path, writing_error
from inpaint_app.files.batch_files import Item, find_items
from inpaint_app.files.write import check_output, write_picture
from inpaint_app.image.mask_spec import MaskSpec
from inpaint_app.jobs.work import (
    check_restorable,
    estimate,
    format_stage,
    load,
    restored_picture,
    translate_errors,
)
from inpaint_app.window.plain_words import plain_sentence, without_folders
from inpaint_app.window.session.task import Task


@dataclass(frozen=True)
class BatchRequest:
    """What to restore, how, and where results go.

    Attributes
    ----------
    folder, output : Path
        Of the damaged pictures and of the results.
    settings : RestoreSettings
        For all of them.
    mask_spec : MaskSpec
        How missing pixels are marked; its mask may be a folder of masks.
    overwrite : bool
        Whether existing results may be replaced.
    """

    folder: Path
    output: Path
    settings: RestoreSettings
    mask_spec: MaskSpec
    overwrite: bool = False


@dataclass(frozen=True)
class BatchRow:
    """What became of one picture.

    Attributes
    ----------
    number, count : int
        Which one of how many, from 1 on.
    name : str
        Of the file.
    status : str
        "restored", or a sentence about what went wrong, or what is being done.
    is_done, is_restored : bool
        Whether it is over, and whether it went well.
    missing, estimated_psnr, seconds : float or None
        None where it is not known.
    """

    number: int
    count: int
    name: str
    status: str
    is_done: bool = False
    is_restored: bool = False
    missing: float | None = None
    estimated_psnr: float | None = None
    seconds: float | None = None
    fraction: float = 0.0


def run_batch(task: Task, request: BatchRequest) -> tuple[BatchRow, ...]:
    """Restore all pictures; a failure does not stop the others. Reports `BatchRow` values."""
    items = find_items([request.folder], request.output, request.mask_spec, overwrite=request.overwrite)
    try:
        request.output.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise writing_error(error, request.output) from error
    rows = []
    for number, item in enumerate(items, 1):
        task.check()
        rows.append(
            _one(task, request, item, BatchRow(number, len(items), printable_path(item.path.name), "reading"))
        )
        task.report(rows[-1])
    return tuple(rows)


def _one(task: Task, request: BatchRequest, item: Item, row: BatchRow) -> BatchRow:
    start = time.perf_counter()
    try:
        task.report(row)
        if item.error is not None:
            raise UserError(item.error)
        check_output(item.output, overwrite=request.overwrite, protect=[item.path])
        source = load(item.path, replace(request.mask_spec, mask=item.mask))
        check_restorable(source, item.output)
        row = replace(row, missing=source.missing.fraction)

        def seen(stage: str, fraction: float) -> None:
            task.report(replace(row, status=format_stage(stage), fraction=fraction))

        with translate_errors():
            run = iter_restore(source.picture.pixels, source.missing.mask, request.settings)
            restoration = task.drain(run, lambda step: seen(step.stage, step.fraction))
        picture = restored_picture(source, restoration)
        notes = write_picture(picture, item.output, overwrite=request.overwrite, protect=[item.path])
        estimated = estimate(source, restoration.settings)
        status = "restored" if not notes else f"restored; {without_folders(' '.join(notes), item.output)}"
        row = replace(row, status=status, is_restored=True, estimated_psnr=estimated)
    except UserError as error:
        sentence = without_folders(plain_sentence(str(error)), item.path, item.output, item.mask)
        row = replace(row, status=sentence)
    except (ValueError, MemoryError):
        row = replace(row, status="It does not fit the settings or the memory; scale it down first.")
    return replace(row, is_done=True, fraction=1.0, seconds=time.perf_counter() - start)
