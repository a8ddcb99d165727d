"""The jobs of workers: each reads what one block needs from the stores, and writes its result there."""

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dictsel_core import DetailStatistics, DetailSurvey, PlanStage, RestorePlan
from inpaint_app.cluster.source import DamagedStore, MarkCounts
from inpaint_app.cluster.workspace import Workspace
from inpaint_app.errors import UserError, clause, printable_path
from inpaint_app.files.formats.shared.scaling import to_depth
from inpaint_app.image.picture import Array
from inpaint_app.image.rect import Rect


@dataclass(frozen=True)
class BlockDone:
    """What a job reports of its block: the pass, the block, and the processor seconds it took.

    It took none if the block had been written before.
    """

    stage: str
    plane: int
    rect: Rect
    seconds: float


@dataclass(frozen=True)
class CountMarks:
    """Counts what mask, color and transparency mark in a block."""

    source: DamagedStore
    rect: Rect

    def __call__(self) -> tuple[int, dict[str, MarkCounts]]:
        """Return the plane and the counts."""
        return self.source.plane, self.source.count_marks(self.rect)


@dataclass(frozen=True)
class SurveyBlock:
    """Measures a block for one of the two surveys that a plan is made from."""

    source: DamagedStore
    survey: Any
    rect: Rect

    def __call__(self) -> tuple[int, Any]:
        """Return the plane, and the statistics, which can be added to those of other blocks."""
        rows, columns = self.rect.slices
        blocks = [
            _read_source(self.source, read.array, Rect.from_slices(read.rows, read.columns))
            for read in self.survey.reads(rows, columns)
        ]
        return self.source.plane, self.survey.measure(blocks, rows, columns)


@dataclass(frozen=True)
class MakePlan:
    """Makes the plan of a picture that was surveyed: selects its dictionary."""

    plane: int
    survey: DetailSurvey
    statistics: DetailStatistics

    def __call__(self) -> tuple[int, str]:
        """Return the plane, and the plan as JSON."""
        return self.plane, self.survey.plan(self.statistics).to_json()


@dataclass(frozen=True)
class PlaneJob:
    """What all blocks of a plane have in common.

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
    depth : int or None
        Bits per value of the result, if these are not those of the picture.
    """

    workspace: Workspace
    source: DamagedStore
    digest: str
    axes: tuple[int, ...]
    level: str
    threads: int | None
    depth: int | None = None


@dataclass(frozen=True)
class RestoreBlock:
    """Computes one block of one stage."""

    shared: PlaneJob
    stage: str
    rect: Rect

    def __call__(self) -> BlockDone:
        """Return what it took."""
        workspace, start = self.shared.workspace, time.process_time()
        if workspace.is_done(self.stage, self.rect):  # also where Dask repeats a job after a worker has died
            return BlockDone(self.stage, workspace.plane, self.rect, 0.0)
        plan, stages = _load_plan(workspace, self.shared.digest, self.shared.threads)
        stage = stages[self.stage]
        rows, columns = self.rect.slices
        blocks = [
            self._read(read.array, Rect.from_slices(read.rows, read.columns))
            for read in stage.reads(rows, columns)
        ]
        for spec, values in zip(stage.writes, stage.apply(blocks, rows, columns), strict=True):
            self._write(spec.name, values, is_result=spec.name == plan.output)
        workspace.mark_done(self.stage, self.rect)
        return BlockDone(self.stage, workspace.plane, self.rect, time.process_time() - start)

    def _read(self, name: str, rect: Rect) -> Array:
        if name in ("image", "mask"):
            return _read_source(self.shared.source, name, rect)
        return self.shared.workspace.read(name, rect)

    def _write(self, name: str, values: Array, *, is_result: bool) -> None:
        if not is_result:
            self.shared.workspace.write(name, self.rect, values)
            return
        image = self.shared.workspace.result_image(self.shared.axes, self.shared.level)
        if self.shared.depth is not None:
            values = to_depth(values, self.shared.depth)
        image.write(self.rect, values if len(self.shared.axes) == 3 else values[..., 0])


@dataclass(frozen=True)
class HalveBlock:
    """Computes one block of a level of the pyramid, from the next finer one."""

    workspace: Workspace
    axes: tuple[int, ...]
    finer: str
    level: str
    rect: Rect

    def __call__(self) -> BlockDone:
        """Return what it took."""
        stage, workspace, start = f"pyramid-{self.level}", self.workspace, time.process_time()
        if workspace.is_done(stage, self.rect):
            return BlockDone(stage, workspace.plane, self.rect, 0.0)
        finer = workspace.result_image(self.axes, self.finer)
        values = finer.read(finer_rect(self.rect, finer.shape))
        workspace.result_image(self.axes, self.level).write(self.rect, halved(values))
        workspace.mark_done(stage, self.rect)
        return BlockDone(stage, workspace.plane, self.rect, time.process_time() - start)


def finer_rect(rect: Rect, shape: tuple[int, ...]) -> Rect:
    """Return the pixels, on the next finer level of this shape, of a rectangle."""
    row, column, height, width = (2 * side for side in rect)
    return Rect(row, column, height, width).clipped(shape[:2])


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


@lru_cache(maxsize=4)
def _load_plan(
    workspace: Workspace, digest: str, threads: int | None
) -> tuple[RestorePlan, dict[str, PlanStage]]:
    """Return the plan of a workspace and its stages by name, kept in this process."""
    text = workspace.plan
    if text is None:
        raise UserError(
            f"{printable_path(workspace.folder)} is not visible to a worker",
            "put input and output on a file system that all machines share",
        )
    plan = parse_plan(text, threads)
    if plan.digest != digest:
        raise UserError("A worker has found another plan", "let only one run write a result at a time")
    return plan, {stage.name: stage for stage in plan.stages}
