"""Arrays of Dask, which may be larger than memory: restored tile by tile."""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.arrays import Region
from dictsel_core._util.layout import Layout
from dictsel_core._util.validation import Bools, as_bool_mask
from dictsel_core.restoration.damaged import NO_MASK, check_dtype
from dictsel_core.restoration.dictionary import AtomSource, Dictionary
from dictsel_core.restoration.mosaic import GRID, TILE, HoleRegion, Mosaic
from dictsel_core.restoration.result import Restoration, RestoreStep
from dictsel_core.restoration.settings import RestoreSettings
from dictsel_core.restoration.tile import Plan


def lazy_steps(
    image: Any,  # noqa: ANN401  (an array of Dask)
    mask: Any,  # noqa: ANN401
    settings: RestoreSettings,
    layout: Layout,
    source: AtomSource,
) -> Generator[RestoreStep, None, Restoration]:
    """Plan the restoration of an array of Dask, and return one whose image is an array of Dask too."""
    import dask  # noqa: PLC0415  (an extra)
    import dask.array as da  # noqa: PLC0415

    if layout.is_stack:
        raise ValueError("Images of Dask are restored one by one; pass one image of the stack at a time.")
    check_dtype(image.dtype)
    if mask is None and image.dtype.kind != "f":
        raise TypeError(NO_MASK)
    pixels = image[:, :, None] if layout.channel is None else da.moveaxis(image, layout.channel, 2)
    missing = da.isnan(image) if mask is None else da.asarray(mask)
    if missing.dtype != bool:  # blocks are checked when they are read
        missing = missing.map_blocks(as_bool_mask, dtype=bool)
    if missing.shape == image.shape and layout.channel is not None:
        missing = da.moveaxis(missing, layout.channel, 2)
    missing = missing[:, :, None] if missing.ndim == 2 else missing
    if missing.shape not in (pixels.shape, (*pixels.shape[:2], 1)):
        raise ValueError(f"mask must have the shape of the image, {image.shape}, not {np.shape(mask)}.")
    # Tasks run side by side, so each has one thread.
    alone = replace(settings, threads=settings.threads or 1)
    mosaic = Mosaic(pixels.shape, str(pixels.dtype), alone, _side(pixels))
    yield RestoreStep("select", 0.0)

    def read(region: Region) -> tuple[NDArray[Any], Bools]:
        return dask.compute(pixels[region], missing[region])  # type: ignore[no-any-return]

    look = dask.delayed(mosaic.survey)
    surveys = [look(pixels[each.outer], missing[each.outer], each) for each in mosaic.tiles()]
    plan = mosaic.plan(dask.compute(*surveys), read, source)
    restored = _restored(pixels, missing, mosaic, plan) if plan.missing_fraction else pixels
    restored = restored[:, :, 0] if layout.channel is None else da.moveaxis(restored, 2, layout.channel)
    atoms = plan.dictionary.atoms
    yield RestoreStep("select", 1.0)
    return Restoration(
        restored,
        replace(plan.settings, rounds=settings.rounds),
        plan.missing_fraction,
        plan.dictionary.selection,
        plan.dictionary.positions,
        np.zeros(len(atoms), np.intp),
        0,
        plan.n_rounds,
        {},
        atoms,
    )


def _restored(pixels: Any, missing: Any, mosaic: Mosaic, plan: Plan) -> Any:  # noqa: ANN401  (arrays of Dask)
    """Return the restored image (H, W, C), to be computed."""
    import dask  # noqa: PLC0415  (an extra)
    import dask.array as da  # noqa: PLC0415

    # No tile needs the patches that the dictionary was selected on.
    small = replace(plan, dictionary=Dictionary(plan.dictionary.atoms))
    shared = dask.delayed(small, traverse=False)
    fill, restore = dask.delayed(mosaic.fill), dask.delayed(mosaic.restore)
    fills: list[tuple[HoleRegion, Any]] = []
    for hole in mosaic.holes(plan):
        near = [each for other, each in fills if other.wave < hole.wave and other.part.overlaps(hole.outer)]
        fills.append((hole, fill(pixels[hole.outer], missing[hole.outer], hole, shared, near)))
    rows: dict[int, list[Any]] = {}
    for tile in mosaic.tiles():
        near = [each for hole, each in fills if hole.part.overlaps(tile.outer)]
        task = restore(pixels[tile.outer], missing[tile.outer], tile, shared, near)
        shape = *(each.stop - each.start for each in tile.region), pixels.shape[2]
        block = da.from_delayed(task, shape, dtype=pixels.dtype)
        rows.setdefault(tile.region[0].start, []).append(block)
    return da.concatenate([da.concatenate(row, axis=1) for row in rows.values()])


def _side(pixels: Any) -> int:  # noqa: ANN401  (an array of Dask)
    """Return the side of tiles: that of square chunks, if these may be tiles."""
    height, width = pixels.chunksize[:2]
    return int(height) if height == width and height % GRID == 0 else TILE
