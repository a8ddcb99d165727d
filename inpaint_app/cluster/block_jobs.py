"""The jobs of workers: each reads what one block needs from the stores, and writes its result there."""

import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dictsel_core import (
    DetailStatistics,
    DetailSurvey,
    PictureStatistics,
    PictureSurvey,
    PlanStage,
    RestorePlan,
)
from inpaint_app.cluster.blocks import regions
from inpaint_app.cluster.source import DamagedStore, MarkCounts
from inpaint_app.cluster.workspace import Workspace
from inpaint_app.errors import UserError, clause, printable_path
from inpaint_app.files.formats.shared.scaling import to_depth
from inpaint_app.image.missing import without_no_data
from inpaint_app.image.picture import Array, Picture
from inpaint_app.image.rect import Rect


@dataclass(frozen=True)
class FinishedBlock:
    """What a job reports of its block: the stage, the block, and the processor seconds it took.

    It took none if the block had been written before.
    """

    stage: str
    plane: int
    rect: Rect
    seconds: float


def count_marks(source: DamagedStore, rect: Rect) -> tuple[int, dict[str, MarkCounts]]:
    """Return the plane, and what mask, color and transparency mark in a block."""
    return source.plane, source.count_marks(rect)


def survey_block(
    source: DamagedStore, survey: PictureSurvey | DetailSurvey, rect: Rect
) -> tuple[int, PictureStatistics | DetailStatistics]:
    """Return the plane, and the statistics of a block, which can be added to those of others."""
    blocks = [source.read(*region) for region in regions(survey.reads(*rect.slices))]
    return source.plane, survey.measure(blocks, *rect.slices)


def make_plan(plane: int, survey: DetailSurvey, statistics: DetailStatistics) -> tuple[int, str]:
    """Return the plane, and its plan as JSON: selects the dictionary."""
    return plane, survey.plan(statistics).to_json()


@dataclass(frozen=True)
class PlaneContext:
    """What all blocks of a plane have in common."""

    workspace: Workspace  #: Of the arrays, and with the plan.
    source: DamagedStore  #: The damaged picture.
    digest: str  #: Of the plan.
    axes: tuple[int, ...]  #: Of the result.
    level: str  #: Where in the result its finest array is.
    threads: int | None  #: That a job may use.
    depth: int | None = None  #: Bits per value of the result, if these are not those of the picture.

    def read(self, array: str, rect: Rect) -> Array:
        """Return a part of the picture, of its mask, or of an array of the workspace."""
        store = self.source if array in ("image", "mask") else self.workspace
        return store.read(array, rect)

    def write_result(self, rect: Rect, values: Array) -> None:
        """Write restored pixels, (h, w, C), of which none has the value for "no data"."""
        pixels = values[..., 0] if values.shape[2] == 1 else values
        pixels = without_no_data(Picture(pixels, no_data=self.source.no_data), pixels)
        if self.depth is not None:
            pixels = to_depth(pixels, self.depth)
        image = self.workspace.result_image(self.axes, self.level)
        image.write(rect, np.atleast_3d(pixels) if len(self.axes) == 3 else pixels)


def restore_block(plane: PlaneContext, name: str, rect: Rect) -> FinishedBlock:
    """Compute one block of one stage."""
    workspace, start = plane.workspace, time.process_time()
    if workspace.is_done(name, rect):  # also where Dask repeats a job after a worker has died
        return FinishedBlock(name, workspace.plane, rect, 0.0)
    plan, stages = _load_plan(workspace, plane.digest, plane.threads)
    stage = stages[name]
    blocks = [plane.read(*region) for region in regions(stage.reads(*rect.slices))]
    for spec, values in zip(stage.writes, stage.apply(blocks, *rect.slices), strict=True):
        if spec.name == plan.output:
            plane.write_result(rect, values)
        else:
            workspace.write(spec.name, rect, values)
    workspace.mark_done(name, rect)
    return FinishedBlock(name, workspace.plane, rect, time.process_time() - start)


def halve_block(
    workspace: Workspace, axes: tuple[int, ...], finer: str, level: str, rect: Rect
) -> FinishedBlock:
    """Compute one block of a level of the pyramid, from the next finer one."""
    stage, start = f"pyramid-{level}", time.process_time()
    if workspace.is_done(stage, rect):
        return FinishedBlock(stage, workspace.plane, rect, 0.0)
    image = workspace.result_image(axes, finer)
    values = image.read(finer_rect(rect, image.shape))
    workspace.result_image(axes, level).write(rect, halved(values))
    workspace.mark_done(stage, rect)
    return FinishedBlock(stage, workspace.plane, rect, time.process_time() - start)


def finer_rect(rect: Rect, shape: tuple[int, ...]) -> Rect:
    """Return the pixels, on the next finer level of this shape, of a rectangle."""
    return Rect(*(2 * side for side in rect)).clipped(shape)


def halved(values: Array) -> Array:
    """Return pixels at half the size: means of 2 x 2, of fewer at an odd border."""
    padding = [(0, side % 2) for side in values.shape[:2]] + [(0, 0)] * (values.ndim - 2)
    even = np.pad(values, padding, mode="edge")
    height, width = even.shape[:2]
    means = even.reshape(height // 2, 2, width // 2, 2, *even.shape[2:]).mean(axis=(1, 3), dtype=np.float64)
    rounded: Array = (np.rint(means) if values.dtype.kind in "ui" else means).astype(values.dtype)
    return rounded


def parse_plan(text: str, threads: int | None) -> RestorePlan:
    """Return a stored plan, which must be from a program that computes the same bits as this one."""
    try:
        return RestorePlan.from_json(text, threads=threads)
    except ValueError as error:
        raise UserError(clause(error), "install the same version of dictsel wherever it runs") from error


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
