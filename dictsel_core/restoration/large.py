"""A large image in memory, restored tile by tile: planes of all of it would take many times its memory."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.arrays import Region, parts_of
from dictsel_core._util.parallel import GeneratorRun
from dictsel_core._util.validation import Bools
from dictsel_core.restoration.image import Image
from dictsel_core.restoration.mosaic import Fill, Mosaic, image_with_fills
from dictsel_core.restoration.plan import AtomSource, Plan
from dictsel_core.restoration.result import Restoration, RestoreStep, joint_figures
from dictsel_core.restoration.scales import fill_smoothly
from dictsel_core.restoration.settings import RestoreSettings
from dictsel_core.restoration.survey import Survey, Tile
from dictsel_core.restoration.tile import TileRestorer

#: Height and width of a tile: smaller ones take less memory, and more time for their halos.
TILE = 2048
#: Fraction of the work that is done once there is a plan, and what filling wide holes takes, if there are.
_PLANNED, _FILLED = 0.05, 0.25
#: Height and width of the parts of tiles that get smooth estimates at once, which takes little memory. They
#: begin at pixels of the coarse scale, as tiles do.
_SMOOTHED = 512
#: A tile, what renders its pixels, and fields of its `Restoration`.
_Made = tuple[Tile, Callable[[], NDArray[Any]], dict[str, Any]]


class LargeImage:
    """Restores an image tile by tile, with a halo around each.

    Partial results, in which tiles that are still to come have smooth estimates, and the last one are what
    `finish` makes of them.
    """

    def __init__(
        self,
        image: Image,
        settings: RestoreSettings,
        source: AtomSource,
        finish: Callable[[Restoration], Restoration],
    ) -> None:
        self._image, self._settings, self._source, self._finish = image, settings, source, finish
        shape = *image.shape, image.n_channels
        self._mosaic = Mosaic(shape, str(image.pixels.dtype), settings, TILE)
        self._seconds: dict[str, float] = {}
        self._fills: list[Fill] = []
        self._done = 0.0

    def steps(self) -> Generator[RestoreStep, None, Restoration]:
        """Yield the progress, and return the result."""
        start = time.perf_counter()
        plan = yield from self._planning()
        self._seconds["select"] = time.perf_counter() - start
        yield from self._filling(plan)
        if self._fills:
            self._seconds["texture"] = time.perf_counter() - start - self._seconds["select"]
        made: list[_Made] = []
        amounts = [self._amount(tile, plan) for tile in self._mosaic.tiles()]
        scale = (1 - self._done) / max(sum(amounts), 1)
        for tile, amount in zip(self._mosaic.tiles(), amounts, strict=True):
            for step in self._restoring(tile, plan, made) if amount else ():
                yield replace(step, fraction=self._done + scale * amount * step.fraction)
            self._done += scale * amount
        return self._result(plan, made)

    def _read(self, region: Region) -> tuple[NDArray[Any], Bools]:
        return self._image.pixels[region], self._image.missing[region]

    def _planning(self) -> Generator[RestoreStep, None, Plan]:
        tiles, surveys = self._mosaic.tiles(), list[Survey]()
        for tile in tiles:
            surveys.append(self._mosaic.survey(*self._read(tile.outer), tile))
            yield RestoreStep("select", _PLANNED * len(surveys) / len(tiles))
        self._done = _PLANNED
        return self._mosaic.plan(surveys, self._read, self._source)

    def _filling(self, plan: Plan) -> Iterator[RestoreStep]:
        """Fill wide holes, wave by wave."""
        holes, fills = self._mosaic.holes(plan), self._fills
        for hole in holes:
            before = [fill for other, fill in zip(holes, fills, strict=False) if other.wave < hole.wave]
            run = GeneratorRun(self._mosaic.filling(*self._read(hole.outer), hole, plan, before))
            for fraction in run:
                yield RestoreStep("texture", self._done + _FILLED * fraction / len(holes))
            fills.append(run.result)
            self._done += _FILLED / len(holes)

    def _amount(self, tile: Tile, plan: Plan) -> int:
        """Return the work on a tile: how much is missing; the same on all tiles if all is replaced."""
        if not plan.settings.keep_observed:
            return 1
        return int(np.count_nonzero(self._image.missing[tile.region]))

    def _restoring(self, tile: Tile, plan: Plan, made: list[_Made]) -> Iterator[RestoreStep]:
        """Restore a tile, and add it to what was made."""
        image = image_with_fills(*self._read(tile.outer), tile.outer, plan, self._fills)
        restorer = TileRestorer(image, replace(plan, fill_reach=0), tile.origin)
        part, keeps = self._image.part(tile.region), plan.settings.keep_observed

        def now() -> _Made:
            render = part.snapshot(restorer.planes[tile.inner], keep_observed=keeps)
            return tile, render, restorer.figures()

        for step in restorer.steps():
            make = partial(self._result, plan, [*made, now()]) if step.is_last else None
            yield RestoreStep(step.stage, step.fraction, make)
        made.append(now())

    def _result(self, plan: Plan, made: Sequence[_Made]) -> Restoration:
        pixels, are_made = self._image.pixels.copy(order="K"), [tile for tile, _, _ in made]
        for tile, render, _ in made:
            pixels[tile.region] = render()
        for tile in self._mosaic.tiles():
            if tile not in are_made:
                self._smooth(tile.region, plan, pixels[tile.region])
        figures = joint_figures((each for _, _, each in made), len(plan.dictionary), self._seconds)
        return self._finish(plan.result(self._settings.rounds, image=pixels, plan=plan, **figures))

    def _smooth(self, tile: Region, plan: Plan, out: NDArray[Any]) -> None:
        """Write smooth estimates of what is missing in a tile, and was not filled, part by part."""
        for part in parts_of(out.shape, _SMOOTHED):
            rows, columns = (
                slice(a.start + b.start, a.start + b.stop) for a, b in zip(tile, part, strict=True)
            )
            if not self._image.missing[rows, columns].any():
                continue
            image = image_with_fills(*self._read((rows, columns)), (rows, columns), plan, self._fills)
            coarsest = plan.coarsest((rows.start, columns.start), image.shape)
            planes, size = image.planes(), image.n_channels if image.shares_mask else 1
            for first in range(0, image.n_channels, size):
                channels = slice(first, first + size)
                own = np.ascontiguousarray(planes[:, :, channels])
                given = coarsest and replace(coarsest, planes=coarsest.planes[:, :, channels])
                fill_smoothly(own, image.mask(first), given)
                planes[:, :, channels] = own
            out[part] = self._image.part((rows, columns)).render(planes)
