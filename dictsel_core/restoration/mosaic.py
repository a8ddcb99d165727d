"""An image in several tiles: how it is cut, surveyed, planned, and restored tile by tile.

Whoever drives it reads regions, calls these functions wherever there is a processor, and writes what they
return: first `Mosaic.survey` for all tiles, then `Mosaic.plan`, then `Mosaic.fill` for the parts of wide
holes, wave by wave, then `Mosaic.restore` for all tiles.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.arrays import Region
from dictsel_core._support.threads import as_thread_count
from dictsel_core._support.validation import Bools
from dictsel_core.ground_set import GroundSet
from dictsel_core.restoration.canvas import Canvas
from dictsel_core.restoration.coding.dictionary import KnownDictionary, as_dictionary
from dictsel_core.restoration.damaged import check_channels
from dictsel_core.restoration.plan import Plan
from dictsel_core.restoration.planning import ReadPart, plan_tiles
from dictsel_core.restoration.settings import RestoreSettings
from dictsel_core.restoration.survey import Survey, survey_tile
from dictsel_core.restoration.tile import restore_tile
from dictsel_core.restoration.tiles import HALO, Tile, cut_tiles, grown, within
from dictsel_core.restoration.wide import completion_reach, pixels_to_complete

if TYPE_CHECKING:
    from dictsel_core.completion import HolePart

#: Restored pixels of a wide hole: where they are, their values (h, w, C), and which of these count (h, w).
Fill = tuple[Region, NDArray[Any], Bools]

#: Height and width of a tile by default, and what they are multiples of.
TILE, GRID = 1536, 64
#: The coarse scale of an image that all tiles share has about as many pixels at most.
_MAX_COARSE = 1 << 22
#: It is at least this coarse; halos begin at its pixels.
_MIN_LEVEL = 4


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
    >>> from dictsel_core.tiles import Mosaic
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
        return completion_reach(self.settings, self.dtype)

    def tiles(self) -> list[Tile]:
        """Return all tiles, row by row."""
        return list(cut_tiles(self.shape[:2], self.side, HALO, 1 << self.level))

    def survey(self, pixels: NDArray[Any], missing: Bools, tile: Tile) -> Survey:
        """Look at a tile, from the pixels (h, w, C) and the mask (h, w, c) of its halo."""
        return survey_tile(pixels, missing, tile, self.reach, self.level)

    def plan(
        self,
        surveys: Sequence[Survey],
        read: ReadPart,
        dictionary: tuple[GroundSet, KnownDictionary | None] | None = None,
    ) -> Plan:
        """Return the plan of the image, after all tiles were surveyed; `read` returns a region of it."""
        survey = reduce(add, surveys)
        if survey.missing_fraction == 1:
            raise ValueError("Every pixel of the image is missing: there is nothing to restore it from.")
        check_channels(len(survey.ranges), shares_mask=survey.shares_mask)
        sources = dictionary or as_dictionary(None, self.settings)
        place = self.shape[:2], self.level, self.reach
        return plan_tiles(survey, *place, read, self.settings, *sources)

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
        """Fill a part of a wide hole.

        Parameters
        ----------
        pixels : (h, w, C) ndarray
            The region that is needed.
        missing : (h, w, c) ndarray of bool
        hole : HoleRegion
        plan : Plan
        fills : sequence of Fill
            Those of earlier waves that touch the region.
        """
        image, part = _with_fills(pixels, missing, hole.outer, plan, fills), hole.part
        rough = replace(plan, settings=replace(plan.settings, rounds=0, keep_observed=True), reach=0)
        planes = restore_tile(image, rough, origin=(hole.outer[0].start, hole.outer[1].start))
        region = within(part.region, hole.outer)
        own, wide = planes[region].copy(), pixels_to_complete(missing, plan.reach)[region]
        observed = np.asarray(~image.missing[region].any(axis=2))
        threads = as_thread_count(plan.settings.threads)
        for _ in part.fill(own, wide, observed, plan.settings.seed, threads):
            pass
        box = within(part.box, part.region)
        return part.box, image.part(region).part(box).render(own[box]), wide[box]

    def restore(
        self, pixels: NDArray[Any], missing: Bools, tile: Tile, plan: Plan, fills: Sequence[Fill] = ()
    ) -> NDArray[Any]:
        """Return the restored pixels of a tile: (h, w, C).

        Parameters
        ----------
        pixels : (h, w, C) ndarray
            The halo of the tile.
        missing : (h, w, c) ndarray of bool
        tile : Tile
        plan : Plan
        fills : sequence of Fill
            Those that touch the halo.
        """
        image, keeps = _with_fills(pixels, missing, tile.outer, plan, fills), plan.settings.keep_observed
        if keeps and not image.missing[tile.inner].any():
            return np.ascontiguousarray(image.pixels[tile.inner])
        planes = restore_tile(image, replace(plan, reach=0), origin=tile.origin)
        return image.part(tile.inner).render(planes[tile.inner], keep_observed=keeps)


def _with_fills(
    pixels: NDArray[Any], missing: Bools, outer: Region, plan: Plan, fills: Sequence[Fill]
) -> Canvas:
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
    return Canvas(pixels, hidden, plan.ranges)
