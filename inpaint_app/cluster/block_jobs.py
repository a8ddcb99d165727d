"""The jobs of workers: each reads what one block needs from the stores, and writes its result there."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dictsel_core import RestorePlan
from inpaint_app.cluster.blocks import rect_of, widened
from inpaint_app.cluster.source import DamagedStore, Marks
from inpaint_app.cluster.workspace import Workspace
from inpaint_app.errors import UserError, clause, printable_path
from inpaint_app.image.picture import Array
from inpaint_app.image.rect import Rect


@dataclass(frozen=True)
class CountMarks:
    """Counts what mask and color mark in a block."""

    source: DamagedStore
    rect: Rect

    def __call__(self) -> dict[str, Marks]:
        """Return the counts."""
        return self.source.count_marks(self.rect)


@dataclass(frozen=True)
class Measure:
    """Measures a block: the statistics of a survey, which can be added."""

    source: DamagedStore
    survey: Any
    rect: Rect

    def __call__(self) -> Any:  # noqa: ANN401  (what the survey returns)
        """Return the statistics."""
        rows, columns = self.rect.slices
        blocks = [
            _read_source(self.source, read.array, rect_of(read.rows, read.columns))
            for read in self.survey.reads(rows, columns)
        ]
        return self.survey.measure(blocks, rows, columns)


@dataclass(frozen=True)
class Restoring:
    """What all jobs of a restoration share.

    Attributes
    ----------
    workspace : Workspace
        Of the arrays, and with the plan.
    source : DamagedStore
        The damaged picture.
    digest : str
        Of the plan.
    axes : tuple of int
        Of the result.
    level : str
        Where in the result its finest array is.
    threads : int or None
        That a job may use.
    """

    workspace: Workspace
    source: DamagedStore
    digest: str
    axes: tuple[int, ...]
    level: str
    threads: int | None


@dataclass(frozen=True)
class RestoreBlock:
    """Computes one block of one stage."""

    shared: Restoring
    stage: str
    rect: Rect

    def __call__(self) -> bool:
        """Return whether it was computed now, not before."""
        workspace = self.shared.workspace
        if workspace.is_done(self.stage, self.rect):  # also where Dask repeats a job after a worker has died
            return False
        plan = _load_plan(workspace, self.shared.digest, self.shared.threads)
        stage = next(each for each in plan.stages if each.name == self.stage)
        rows, columns = self.rect.slices
        blocks = [
            self._read(read.array, rect_of(read.rows, read.columns)) for read in stage.reads(rows, columns)
        ]
        for spec, values in zip(stage.writes, stage.apply(blocks, rows, columns), strict=True):
            self._write(spec.name, values, is_result=spec.name == plan.output)
        workspace.mark_done(self.stage, self.rect)
        return True

    def _read(self, name: str, rect: Rect) -> Array:
        if name in ("image", "mask"):
            return _read_source(self.shared.source, name, rect)
        return self.shared.workspace.read(name, rect)

    def _write(self, name: str, values: Array, *, is_result: bool) -> None:
        if not is_result:
            self.shared.workspace.write(name, self.rect, values)
            return
        image = self.shared.workspace.result_image(self.shared.axes, self.shared.level)
        image.write(self.rect, values if len(self.shared.axes) == 3 else values[..., 0])


@dataclass(frozen=True)
class HalveBlock:
    """Computes one block of a level of the pyramid, from the next finer one."""

    workspace: Workspace
    axes: tuple[int, ...]
    finer: str
    level: str
    rect: Rect

    def __call__(self) -> bool:
        """Return whether it was computed now, not before."""
        stage = f"pyramid-{self.level}"
        if self.workspace.is_done(stage, self.rect):
            return False
        finer = self.workspace.result_image(self.axes, self.finer)
        row, column, height, width = (2 * side for side in self.rect)
        values = finer.read(widened(Rect(row, column, height, width), 0, finer.shape))
        self.workspace.result_image(self.axes, self.level).write(self.rect, halved(values))
        self.workspace.mark_done(stage, self.rect)
        return True


def halved(values: Array) -> Array:
    """Return pixels at half the size: means of 2 x 2, of fewer at an odd border."""
    padding = [(0, side % 2) for side in values.shape[:2]] + [(0, 0)] * (values.ndim - 2)
    even = np.pad(values, padding, mode="edge")
    height, width = even.shape[:2]
    means = even.reshape(height // 2, 2, width // 2, 2, *even.shape[2:]).mean(axis=(1, 3), dtype=np.float64)
    rounded: Array = (np.rint(means) if values.dtype.kind in "ui" else means).astype(values.dtype)
    return rounded


def _read_source(source: DamagedStore, name: str, rect: Rect) -> Array:
    return source.read_mask(rect) if name == "mask" else source.read_pixels(rect)


def parse_plan(text: str, threads: int | None) -> RestorePlan:
    """Return a stored plan, which must be from a program that computes the same bits as this one."""
    try:
        return RestorePlan.from_json(text, threads=threads)
    except ValueError as error:
        raise UserError(
            clause(error), "install the same dictsel, with or without Numba, wherever it runs"
        ) from error


@lru_cache(maxsize=2)
def _load_plan(workspace: Workspace, digest: str, threads: int | None) -> RestorePlan:
    """Return the plan of a workspace, kept in this process."""
    text = workspace.plan
    if text is None:
        raise UserError(
            f"{printable_path(workspace.folder)} is not visible to a worker",
            "put input and output on a file system that all machines share",
        )
    plan = parse_plan(text, threads)
    if plan.digest != digest:
        raise UserError("A worker has found another plan", "let only one run write a result at a time")
    return plan
