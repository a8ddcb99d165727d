"""An image in several tiles: how it is cut, surveyed, planned, and restored tile by tile.

Whoever drives it reads regions, calls these functions wherever there is a processor, and writes what they
return: first `Mosaic.survey` for all tiles, then `Mosaic.plan`, then `Mosaic.fill` for the parts of wide
holes, wave by wave, then `Mosaic.restore` for all tiles.
"""

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.arrays import Region
from dictsel_core._util.parallel import as_thread_count
from dictsel_core._util.runs import GeneratorRun
from dictsel_core._util.validation import Bools
from dictsel_core.atoms import AtomOrigin, GroundSet
from dictsel_core.restoration.damaged import check_channels
from dictsel_core.restoration.dictionary import AtomSource, Dictionary, as_atom_source
from dictsel_core.restoration.image import Image, ValueRange, unit_ranges
from dictsel_core.restoration.plan import Sample, complete_plan
from dictsel_core.restoration.regions import HALO, Tile, cut_tiles, evenly_spaced, grown, within
from dictsel_core.restoration.repeats import NOT_ENLARGED, repeat_of
from dictsel_core.restoration.settings import ResolvedSettings, RestoreSettings
from dictsel_core.restoration.survey import Survey, survey_tile
from dictsel_core.restoration.tile import Plan, restore_tile
from dictsel_core.restoration.wide import wide_pixels

if TYPE_CHECKING:
    from dictsel_core.completion import HolePart

#: Returns a region of an image (h, w, C), and of its mask (h, w, c).
ReadRegion = Callable[[Region], tuple[NDArray[Any], Bools]]
#: Restored pixels of a wide hole: where they are, their values (h, w, C), and which of these count (h, w).
Fill = tuple[Region, NDArray[Any], Bools]

#: Height and width of a tile by default, and what they are multiples of.
TILE, GRID = 1536, 64
#: The coarse scale of an image that all tiles share has about as many pixels at most.
_MAX_COARSE = 1 << 22
#: It is at least this coarse; halos begin at its pixels.
_MIN_LEVEL = 4
#: How many samples the plan is made from, and how many in which nothing is missing are used besides, if
#: channels have masks of their own.
_N_SAMPLES, _N_INTACT = 16, 4
#: Fields of a plan that are not kept as text, or not kept.
_APART = ("settings", "ranges", "dictionary", "coarse")


@dataclass(frozen=True)
class HoleRegion:
    """A part of a wide hole, and the region of the image that is needed to fill it.

    Attributes
    ----------
    part : HolePart
    outer : (slice, slice)
    """

    part: "HolePart"
    outer: Region

    @property
    def wave(self) -> int:
        """Parts of the same wave do not depend on each other; those of later waves do on earlier ones."""
        return self.part.wave


@dataclass(frozen=True)
class Mosaic:
    """An image in several tiles.

    Attributes
    ----------
    shape : (int, int, int)
        Height, width and number of channels.
    dtype : str
    settings : RestoreSettings
    side : int
        Height and width of a tile, a multiple of 64.

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

    shape: tuple[int, int, int]
    dtype: str
    settings: RestoreSettings
    side: int = TILE

    def __post_init__(self) -> None:
        """Refuse tiles that do not begin at pixels of the coarse scale."""
        if self.side < GRID or self.side % GRID:
            raise ValueError(f"side must be a multiple of {GRID}, but is {self.side}.")

    @property
    def level(self) -> int:
        """How often the coarse scale is halved that all tiles share."""
        level, n_pixels = _MIN_LEVEL, self.shape[0] * self.shape[1]
        # Tiles begin at its pixels too.
        while n_pixels >> 2 * level > _MAX_COARSE and self.side % (2 << level) == 0:
            level += 1
        return level

    @property
    def reach(self) -> int:
        """Pixels farther than this from all observed ones are completed by example; 0 if none are."""
        return self.settings.completion_reach(self.dtype)

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
        source = source or as_atom_source(None, self.settings)
        ranges = unit_ranges(survey.ranges)
        n_layers = 1 if survey.shares_mask else len(ranges)
        observed = [count < survey.n_pixels for count in survey.n_missing[:n_layers]]
        plan = Plan(
            self.settings.resolved(1 - survey.missing_fraction, len(source)),
            ranges,
            source.dictionary or Dictionary(source.candidates),
            survey.missing_fraction,
            survey.shares_mask,
            tuple(observed * (len(ranges) // n_layers)),
            reach=self.reach,
            level=self.level,
        )

        def sample(region: Region) -> Sample:
            pixels, missing = read(region)
            layers = missing[:, :, :1] if survey.shares_mask else missing
            return (region[0].start, region[1].start), Image(pixels, layers, ranges)

        samples = [sample(each) for each in evenly_spaced(survey.damaged or survey.intact, _N_SAMPLES)]
        # Where a channel is missing in all of a sample, only others tell how it is related to the rest.
        n_intact = _N_INTACT if survey.damaged and not survey.shares_mask else 0
        intact = [sample(each)[1] for each in evenly_spaced(survey.intact, n_intact)]
        candidates = None if source.dictionary else source.candidates
        plan = GeneratorRun(complete_plan(plan, samples, candidates, shape, intact)).finish()
        return self._with_whole(plan, survey)

    def _with_whole(self, plan: Plan, survey: Survey) -> Plan:
        """Return a plan with what only all tiles tell: repeats, a coarse scale, and wide holes."""
        # All tiles must be enlarged, not only the samples.
        plan = replace(plan, repeats=(repeat_of(survey.changes[0]), repeat_of(survey.changes[1])))
        height, width = (-(-length >> self.level) for length in self.shape[:2])
        coarse = survey.coarse_image((height, width), plan.ranges)
        if coarse.missing.any():
            rough = replace(plan.with_rounds(0), reach=0, repeats=NOT_ENLARGED)
            plan = replace(plan, coarse=restore_tile(coarse, rough))
        if len(survey.cells):
            from dictsel_core.completion import hole_boxes  # noqa: PLC0415  (scipy is slow to import)

            plan = replace(plan, holes=hole_boxes(survey.cells, self.shape[:2]))
        return plan

    def holes(self, plan: Plan) -> list[HoleRegion]:
        """Return the parts of wide holes, those of the first wave first."""
        if not plan.holes:
            return []
        from dictsel_core.completion import hole_parts  # noqa: PLC0415  (scipy is slow to import)

        parts = hole_parts(plan.holes, self.shape[:2], self.shape[2])
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
        image, part = _with_fills(pixels, missing, hole.outer, plan, fills), hole.part
        rough = replace(plan, settings=replace(plan.settings, rounds=0, keep_observed=True), reach=0)
        planes = restore_tile(image, rough, origin=(hole.outer[0].start, hole.outer[1].start))
        region = within(part.region, hole.outer)
        own, wide = planes[region].copy(), wide_pixels(missing, plan.reach)[region]
        observed = np.asarray(~image.missing[region].any(axis=2))
        threads = as_thread_count(plan.settings.threads)
        is_filled = GeneratorRun(part.fill(own, wide, observed, plan.settings.seed, threads)).finish()
        box = within(part.box, part.region)
        return part.box, image.part(region).part(box).render(own[box]), wide[box] & is_filled

    def restore(
        self, pixels: NDArray[Any], missing: Bools, tile: Tile, plan: Plan, fills: Sequence[Fill] = ()
    ) -> NDArray[Any]:
        """Return the restored pixels of a tile (h, w, C), from the pixels and the mask of its halo.

        `fills` are those that touch the halo.
        """
        image, keeps = _with_fills(pixels, missing, tile.outer, plan, fills), plan.settings.keep_observed
        if keeps and not image.missing[tile.inner].any():
            return np.ascontiguousarray(image.pixels[tile.inner])
        planes = restore_tile(image, replace(plan, reach=0), origin=tile.origin)
        return image.part(tile.inner).render(planes[tile.inner], keep_observed=keeps)


def _with_fills(
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


def plan_to_bytes(plan: Plan) -> bytes:
    """Return what tiles need of a plan, for `plan_from_bytes`: a file of NumPy, without the threads.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import restore
    >>> from dictsel_core.restoration import plan_from_bytes, plan_to_bytes
    >>> image = np.add.outer(np.arange(32.0), np.arange(32.0))
    >>> image[::5] = np.nan
    >>> plan = restore(image).plan
    >>> plan_from_bytes(plan_to_bytes(plan)).settings == plan.settings
    True
    """
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
    """Return a plan from what `plan_to_bytes` returned, which has an example; ValueError if that was not so.

    Examples
    --------
    >>> from dictsel_core.restoration import plan_from_bytes
    >>> plan_from_bytes(b"something else")
    Traceback (most recent call last):
    ValueError: This is not a plan, or not one of this version.
    """
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
    """Return lists, and lists within them, as tuples."""
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
