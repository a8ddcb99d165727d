"""The jobs of workers: each reads what one tile needs from the stores, and writes its result there."""

import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dictsel_core.restoration import (
    Fill,
    HoleRegion,
    Mosaic,
    Plan,
    Region,
    Survey,
    Tile,
    plan_from_bytes,
    plan_to_bytes,
)
from inpaint_app.engine.blocks.source import DamagedStore, MarkCounts
from inpaint_app.engine.blocks.workspace import Workspace
from inpaint_app.engine.control import Event
from inpaint_app.errors import UserError, clause, printable_path
from inpaint_app.io.chunked.zarr_array import ZarrImage
from inpaint_app.io.formats.shared.pixels import to_depth
from inpaint_app.model.missing import without_no_data
from inpaint_app.model.picture import Array, Mask, Metadata, Picture, Rect


@dataclass(frozen=True)
class FinishedBlock(Event):
    """Reported of a block that is written: the stage, the block, and the processor seconds it took.

    It took none if the block had been written before.
    """

    stage: str
    plane: int
    rect: Rect
    seconds: float


def count_marks(source: DamagedStore, rect: Rect) -> tuple[int, dict[str, MarkCounts]]:
    """Return the plane, and what mask, color and transparency mark in a block."""
    return source.plane, source.count_marks(rect)


def survey_tile(source: DamagedStore, mosaic: Mosaic, tile: Tile) -> tuple[int, tuple[Rect, Survey]]:
    """Return the plane, and what is known of a tile of it."""
    return source.plane, (rect_of(tile.region), mosaic.survey(*read_region(source, tile.outer), tile))


def make_plan(source: DamagedStore, mosaic: Mosaic, surveys: list[Survey]) -> tuple[int, bytes]:
    """Return the plane, and its plan: selects the dictionary."""
    return source.plane, plan_to_bytes(mosaic.plan(surveys, lambda region: read_region(source, region)))


def read_region(source: DamagedStore, region: Region) -> tuple[Array, Mask]:
    """Return pixels (h, w, C), and which of them are missing (h, w, c)."""
    rect = rect_of(region)
    return source.read("image", rect), np.ascontiguousarray(source.read_mask(rect))


def rect_of(region: Region) -> Rect:
    """Return a region as a rectangle."""
    return Rect.from_slices(*region)


@dataclass(frozen=True)
class PlaneContext:
    """What all tiles of a plane have in common."""

    workspace: Workspace  #: With the plan, and what wide holes are filled with.
    source: DamagedStore  #: The damaged picture.
    mosaic: Mosaic  #: How it is cut into tiles.
    digest: str  #: Of the plan.
    axes: tuple[int, ...]  #: Of the result.
    level: str  #: Where in the result its finest array is.
    threads: int | None  #: That a job may use.
    depth: int | None = None  #: Bits per value of the result, if these are not those of the picture.

    @property
    def plan(self) -> Plan:
        """The plan, kept in this process."""
        return _load_plan(self.workspace, self.mosaic, self.digest, self.threads)[0]

    def fills_near(self, region: Region, first_wave: int | None = None) -> list[Fill]:
        """Return what wide holes in a region are filled with; only those before some wave."""
        return [
            self.workspace.read_fill(hole.part.box)
            for hole in _load_plan(self.workspace, self.mosaic, self.digest, self.threads)[1]
            if hole.part.overlaps(region) and (first_wave is None or hole.wave < first_wave)
        ]

    @property
    def image(self) -> ZarrImage:
        """The finest array of the result."""
        return self.workspace.result_image(self.axes, self.level)

    def write_result(self, rect: Rect, values: Array) -> None:
        """Write restored pixels, (h, w, C), of which none has the value for "no data"."""
        pixels = values[..., 0] if values.shape[2] == 1 else values
        pixels = without_no_data(Picture(pixels, metadata=Metadata(no_data=self.source.no_data)), pixels)
        if self.depth is not None:
            pixels = to_depth(pixels, self.depth)
        self.image.write(rect, np.atleast_3d(pixels) if len(self.axes) == 3 else pixels)


def fill_hole(context: PlaneContext, hole: HoleRegion) -> FinishedBlock:
    """Fill a part of a wide hole."""
    workspace, start, rect = context.workspace, time.process_time(), rect_of(hole.part.box)
    if workspace.has_fill(hole.part.box):  # Dask repeats jobs after a worker has died
        return FinishedBlock("holes", workspace.plane, rect, 0.0)
    near = context.fills_near(hole.outer, hole.wave)
    parts = read_region(context.source, hole.outer)
    workspace.write_fill(context.mosaic.fill(*parts, hole, context.plan, near))
    return FinishedBlock("holes", workspace.plane, rect, time.process_time() - start)


def restore_tile(context: PlaneContext, tile: Tile) -> FinishedBlock:
    """Restore a tile."""
    plane, start, rect = context.workspace.plane, time.process_time(), rect_of(tile.region)
    if context.image.has_block(rect):
        return FinishedBlock("tiles", plane, rect, 0.0)
    plan, near = context.plan, context.fills_near(tile.outer)
    parts = read_region(context.source, tile.outer)
    context.write_result(rect, context.mosaic.restore(*parts, tile, plan, near))
    return FinishedBlock("tiles", plane, rect, time.process_time() - start)


def halve_block(
    workspace: Workspace, axes: tuple[int, ...], finer: str, level: str, rect: Rect
) -> FinishedBlock:
    """Compute one block of a level of the pyramid, from the next finer one."""
    start, above, below = time.process_time(), *(workspace.result_image(axes, n) for n in (finer, level))
    if below.has_block(rect):
        return FinishedBlock("pyramid", workspace.plane, rect, 0.0)
    below.write(rect, halved(above.read(finer_rect(rect, above.shape))))
    return FinishedBlock("pyramid", workspace.plane, rect, time.process_time() - start)


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


def parse_plan(data: bytes, threads: int | None) -> Plan:
    """Return a stored plan, which must be from the same program."""
    try:
        return plan_from_bytes(data, threads=threads)
    except ValueError as error:
        raise UserError(clause(error), "install the same dictsel wherever it runs") from error


@lru_cache(maxsize=4)
def _load_plan(
    workspace: Workspace, mosaic: Mosaic, digest: str, threads: int | None
) -> tuple[Plan, list[HoleRegion]]:
    """Return the plan of a workspace and its wide holes, kept in this process."""
    data = workspace.plan
    if data is None:
        raise UserError(
            f"{printable_path(workspace.folder)} is not visible to a worker",
            "put input and output on a file system that all machines share",
        )
    if workspace.digest(data) != digest:
        raise UserError("A worker has found another plan", "let only one run write a result at a time")
    plan = parse_plan(data, threads)
    return plan, mosaic.holes(plan)
