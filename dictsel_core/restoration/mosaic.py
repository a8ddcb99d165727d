"""An image in several tiles: how it is cut, surveyed, planned, and restored tile by tile.

The caller reads regions, runs these methods on any worker, and writes their results: first `Mosaic.survey`
for all tiles, then `Mosaic.plan`, then `Mosaic.fill` for the parts of wide holes, wave by wave, then
`Mosaic.restore` for all tiles. `LargeImage` (large.py) does this for images in memory, `lazy_steps` for Dask
arrays.
"""

import io
import json
import zipfile
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core import completion
from dictsel_core._util.arrays import Layout, Region, evenly_spaced, grown, within
from dictsel_core._util.parallel import GeneratorRun
from dictsel_core._util.validation import Bools, as_bool_mask
from dictsel_core.atoms import AtomOrigin, GroundSet
from dictsel_core.restoration.damaged import NO_MASK, check_channels, check_dtype, wide_pixels
from dictsel_core.restoration.image import Image, ValueRange, unit_ranges
from dictsel_core.restoration.plan import (
    AtomSource,
    Dictionary,
    Plan,
    Sample,
    as_atom_source,
    make_plan,
)
from dictsel_core.restoration.result import Restoration, RestoreStep
from dictsel_core.restoration.settings import ResolvedSettings, RestoreSettings
from dictsel_core.restoration.survey import HALO, Survey, Tile, cut_tiles, survey_tile
from dictsel_core.restoration.tile import restore_tile

#: Returns a region of an image (h, w, C), and of its mask (h, w, c).
ReadRegion = Callable[[Region], tuple[NDArray[Any], Bools]]
#: Restored pixels of a wide hole: where they are, their values (h, w, C), and which of these count (h, w).
Fill = tuple[Region, NDArray[Any], Bools]

#: Height and width of a tile by default, and what they are multiples of.
TILE, GRID = 1536, 64
#: Approximate upper limit on the pixels of the coarse scale that all tiles share: 16 MB for each channel.
_MAX_COARSE = 1 << 22
#: Least number of times that the image is halved to get it; halos begin at its pixels.
_MIN_LEVEL = 4
#: How many samples the plan is made from, and how many in which nothing is missing are used besides, if
#: channels have masks of their own.
_N_SAMPLES, _N_INTACT = 16, 4
#: Fields of a plan that are not kept as text, or not kept.
_APART = ("settings", "ranges", "dictionary", "coarse")


@dataclass(frozen=True)
class HoleRegion:
    """A part of a wide hole, and the region of the image that is needed to fill it."""

    part: "completion.HolePart"
    outer: Region

    @property
    def wave(self) -> int:
        """Parts of the same wave do not depend on each other; those of later waves do on earlier ones."""
        return self.part.wave


@dataclass(frozen=True)
class Mosaic:
    """An image in several tiles.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import RestoreSettings
    >>> from dictsel_core.restoration import Mosaic
    >>> image = np.add.outer(np.arange(96), np.arange(96)).astype(np.uint8)[:, :, None]
    >>> mask = np.random.default_rng(0).random(image.shape) < 0.5
    >>> def read(region):
    ...     return image[region], mask[region]
    >>> mosaic = Mosaic(image.shape, "uint8", RestoreSettings(rounds=0), side=64)
    >>> surveys = [mosaic.survey(*read(tile.outer), tile) for tile in mosaic.tiles()]
    >>> plan = mosaic.plan(surveys, read)
    >>> fills = []
    >>> for hole in mosaic.holes(plan):  # there is none
    ...     fills.append(mosaic.fill(*read(hole.outer), hole, plan, fills))
    >>> restored = np.empty_like(image)
    >>> for tile in mosaic.tiles():
    ...     restored[tile.region] = mosaic.restore(*read(tile.outer), tile, plan, fills)
    >>> int(np.abs(restored.astype(int) - image).max()) <= 2
    True
    """

    shape: tuple[int, int, int]  #: height, width and number of channels
    dtype: str
    settings: RestoreSettings
    side: int = TILE  #: height and width of a tile, a multiple of 64

    def __post_init__(self) -> None:
        """Refuse tiles that do not begin at pixels of the coarse scale."""
        if self.side < GRID or self.side % GRID:
            raise ValueError(f"side must be a multiple of {GRID}, but is {self.side}.")

    @property
    def level(self) -> int:
        """Number of times that the image is halved to get the coarse scale that all tiles share."""
        level, n_pixels = _MIN_LEVEL, self.shape[0] * self.shape[1]
        # Tiles begin at its pixels too.
        while n_pixels >> 2 * level > _MAX_COARSE and self.side % (2 << level) == 0:
            level += 1
        return level

    @property
    def reach(self) -> int:
        """Pixels farther than this from all observed ones are in wide holes, to be filled; 0: no filling."""
        return self.settings.fill_reach(self.dtype)

    def tiles(self) -> list[Tile]:
        """Return all tiles, row by row."""
        return list(cut_tiles(self.shape, self.side, 1 << self.level))

    def survey(self, pixels: NDArray[Any], missing: Bools, tile: Tile) -> Survey:
        """Look at a tile, from the pixels (h, w, C) and the mask (h, w, c) of its halo."""
        return survey_tile(pixels, missing, tile, self.reach, self.level)

    def plan(self, surveys: Sequence[Survey], read: ReadRegion, source: AtomSource | None = None) -> Plan:
        """Return the plan of the image, after all tiles were surveyed; `read` returns a region of it.

        The dictionary, the density of the damage and whatever else depends on details are decided on samples.
        """
        survey, shape = reduce(add, surveys), self.shape[:2]
        if survey.n_pixels != shape[0] * shape[1]:
            raise ValueError("A survey of all tiles of the image is needed, each of them once.")
        if survey.missing_fraction == 1:
            raise ValueError("Every pixel of the image is missing: there is nothing to restore it from.")
        check_channels(len(survey.ranges), shares_mask=survey.shares_mask)
        ranges = unit_ranges(survey.ranges)

        def sample(region: Region) -> Sample:
            pixels, missing = read(region)
            layers = missing[:, :, :1] if survey.shares_mask else missing
            return (region[0].start, region[1].start), Image(pixels, layers, ranges)

        # Where a channel is missing in all of a sample, only others tell how it is related to the rest.
        n_intact = _N_INTACT if survey.damaged and not survey.shares_mask else 0
        run = GeneratorRun(
            make_plan(
                [sample(each) for each in evenly_spaced(survey.damaged or survey.intact, _N_SAMPLES)],
                shape,
                survey.missing_fraction,
                self.settings,
                as_atom_source(None, self.settings) if source is None else source,
                [sample(each)[1] for each in evenly_spaced(survey.intact, n_intact)],
                observed_channels=survey.observed_channels,
                repeats=survey.repeats,
                level=self.level,
            )
        )
        plan = run.finish()
        if len(survey.cells):
            plan = replace(plan, holes=completion.hole_boxes(survey.cells, shape))
        height, width = (-(-length >> self.level) for length in shape)
        coarse = survey.coarse_image((height, width), ranges)
        if coarse.missing.any():
            plan = replace(plan, coarse=restore_tile(coarse, plan.for_coding()))
        return plan

    def holes(self, plan: Plan) -> list[HoleRegion]:
        """Return the parts of wide holes, those of the first wave first."""
        if not plan.holes:
            return []
        parts = completion.hole_parts(plan.holes, self.shape[:2], self.shape[2])
        return [
            HoleRegion(part, grown(part.region, HALO, self.shape, 1 << self.level))
            for part in sorted(parts, key=lambda each: each.wave)
        ]

    def fill(
        self, pixels: NDArray[Any], missing: Bools, hole: HoleRegion, plan: Plan, fills: Sequence[Fill] = ()
    ) -> Fill:
        """Fill a part of a wide hole, from the pixels and the mask of the region that is needed.

        `fills` are those of earlier waves that touch the region.
        """
        return GeneratorRun(self.filling(pixels, missing, hole, plan, fills)).finish()

    def filling(
        self, pixels: NDArray[Any], missing: Bools, hole: HoleRegion, plan: Plan, fills: Sequence[Fill] = ()
    ) -> Generator[float, None, Fill]:
        """Yield the fraction that is done, and return what `fill` does."""
        image, part = image_with_fills(pixels, missing, hole.outer, plan, fills), hole.part
        origin = hole.outer[0].start, hole.outer[1].start
        planes = restore_tile(image, plan.for_coding(), origin=origin)
        region = within(part.region, hole.outer)
        own, wide = planes[region].copy(), wide_pixels(missing, plan.fill_reach)[region]
        observed = np.asarray(~image.missing[region].any(axis=2))
        run = GeneratorRun(completion.fill_part(part, own, wide, observed, plan.settings.seed, plan.threads))
        for fraction, _ in run:
            yield fraction
        box = within(part.box, part.region)
        return part.box, image.part(region).part(box).render(own[box]), wide[box] & run.result

    def restore(
        self, pixels: NDArray[Any], missing: Bools, tile: Tile, plan: Plan, fills: Sequence[Fill] = ()
    ) -> NDArray[Any]:
        """Return the restored pixels of a tile (h, w, C), from the pixels and the mask of its halo.

        `fills` are those that touch the halo.
        """
        image, keeps = image_with_fills(pixels, missing, tile.outer, plan, fills), plan.settings.keep_observed
        if keeps and not image.missing[tile.inner].any():
            return np.ascontiguousarray(image.pixels[tile.inner])
        planes = restore_tile(image, replace(plan, fill_reach=0), origin=tile.origin)
        return image.part(tile.inner).render(planes[tile.inner], keep_observed=keeps)


def image_with_fills(
    pixels: NDArray[Any], missing: Bools, outer: Region, plan: Plan, fills: Sequence[Fill]
) -> Image:
    """Return a region of the image in which what was filled counts as observed."""
    hidden = missing[:, :, :1] if plan.shares_mask else missing
    if fills:
        pixels, hidden = pixels.copy(), hidden.copy()
    for box, values, wide in fills:
        rows, columns = (
            slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(box, outer, strict=True)
        )
        if rows.start >= rows.stop or columns.start >= columns.stop:
            continue  # it does not touch the region
        there, source = within((rows, columns), outer), within((rows, columns), box)
        chosen = wide[source]
        pixels[there][chosen] = values[source][chosen]
        hidden[there][chosen] = False
    return Image(pixels, hidden, plan.ranges)


def lazy_steps(
    image: Any,  # noqa: ANN401  (a Dask array)
    mask: Any,  # noqa: ANN401
    settings: RestoreSettings,
    layout: Layout,
    source: AtomSource,
) -> Generator[RestoreStep, None, Restoration]:
    """Plan the restoration of a Dask array, and return one whose image is a Dask array too."""
    import dask  # noqa: PLC0415  (an extra)
    import dask.array as da  # noqa: PLC0415

    if layout.is_stack:
        raise ValueError("A Dask array must hold a single image; pass the images of a stack one by one.")
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
    unknown_usage = np.zeros(len(plan.dictionary.atoms), np.intp)
    yield RestoreStep("select", 1.0)
    return plan.result(settings.rounds, image=restored, usage=unknown_usage, n_rounds=plan.n_rounds)


def _restored(pixels: Any, missing: Any, mosaic: Mosaic, plan: Plan) -> Any:  # noqa: ANN401  (Dask arrays)
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


def _side(pixels: Any) -> int:  # noqa: ANN401  (a Dask array)
    """Return the side of tiles: that of square chunks, if these may be tiles."""
    height, width = pixels.chunksize[:2]
    return int(height) if height == width and height % GRID == 0 else TILE


def plan_to_bytes(plan: Plan) -> bytes:
    """Return what tiles need of a plan, without the number of threads: an .npz file for `plan_from_bytes`."""
    settings = asdict(plan.settings)
    del settings["threads"]
    plain = {each.name: getattr(plan, each.name) for each in fields(plan) if each.name not in _APART}
    values = plain | {"settings": settings}
    values["ranges"] = [asdict(each) for each in plan.ranges]
    values["origins"] = [asdict(each) for each in plan.dictionary.atoms.origins]
    text = json.dumps(values, sort_keys=True, allow_nan=False)
    arrays = {"atoms": plan.dictionary.atoms.atoms, "values": np.array(text)}
    if plan.coarse is not None:
        arrays["coarse"] = plan.coarse
    with io.BytesIO() as file:
        np.savez(file, allow_pickle=False, **arrays)
        return file.getvalue()


def plan_from_bytes(data: bytes, *, threads: int | None = None) -> Plan:
    """Return the plan that `plan_to_bytes` wrote; ValueError if the bytes are something else."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = dict(file)
        values = json.loads(str(arrays["values"]))
        settings = values["settings"] | {"bases": tuple(values["settings"]["bases"]), "threads": threads}
        size = settings["patch_size"]
        origins = tuple(AtomOrigin(**each) for each in values.pop("origins"))
        values |= {
            "settings": ResolvedSettings(**settings),
            "ranges": tuple(ValueRange(**each) for each in values["ranges"]),
            "dictionary": Dictionary(GroundSet(arrays["atoms"], origins, (size, size))),
            "coarse": arrays.get("coarse"),
        }
        for name in ("observed_channels", "differences", "repeats", "holes"):
            values[name] = _as_tuples(values[name])
        return Plan(**values)
    except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, zipfile.BadZipFile):
        raise ValueError("This is not a plan, or not one of this version.") from None


def _as_tuples(value: Any) -> Any:  # noqa: ANN401  (whatever JSON knows)
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
