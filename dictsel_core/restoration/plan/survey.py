"""The first look at an image, block by block: what is missing, and the range of what is not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._support.arrays import Region
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.ground_set import GroundSet
from dictsel_core.restoration.canvas import channel_ranges, planes_ranges
from dictsel_core.restoration.coding.dictionary import KnownDictionary, as_dictionary
from dictsel_core.restoration.coding.sampling import Counts, PatchGrid
from dictsel_core.restoration.damaged import MAX_SEPARATE, MAX_SHARED
from dictsel_core.restoration.plan.details import DetailSurvey
from dictsel_core.restoration.plan.regions import (
    ImageSpec,
    Read,
    as_block,
    check_blocks,
    grown,
    reads_of,
    within,
)
from dictsel_core.restoration.plan.scales import SURVEY_GRID
from dictsel_core.restoration.plan.trial import crops_of
from dictsel_core.restoration.refinement.density import damage_density
from dictsel_core.restoration.settings import PresetName, RestoreSettings, as_settings
from dictsel_core.restoration.value_range import ValueRange, common_range
from dictsel_core.restoration.wide import completion_reach, pixels_to_complete
from dictsel_core.selection import Selection


@dataclass(frozen=True, eq=False)
class PictureStatistics:
    """What is known of some blocks of an image. The sum of all blocks is what is known of the image.

    Attributes
    ----------
    n_pixels : int
    ranges : tuple of ValueRange or None
        Of the observed values of each channel.
    n_missing : tuple of int
        Missing pixels of each layer of the mask.
    shares_mask : bool
        Whether all layers are equal.
    helped : frozenset of (int, int)
        Pairs of layers of which the second is observed somewhere where the first is missing.
    counts : tuple of (int, int, arrays)
        First row and column of adjacent patches, and how many pixels of each are observed, by layer.
    cells : (N, 6) ndarray of int
        Cells with wide holes; see `hole_cells`.
    """

    n_pixels: int
    ranges: tuple[ValueRange | None, ...]
    n_missing: tuple[int, ...]
    shares_mask: bool
    helped: frozenset[tuple[int, int]]
    counts: tuple[tuple[int, int, tuple[Counts, ...]], ...]
    cells: Ints

    def __add__(self, other: "PictureStatistics") -> "PictureStatistics":
        """Return what is known of the blocks of both."""
        return PictureStatistics(
            self.n_pixels + other.n_pixels,
            tuple(_joint_range(*pair) for pair in zip(self.ranges, other.ranges, strict=True)),
            tuple(a + b for a, b in zip(self.n_missing, other.n_missing, strict=True)),
            self.shares_mask and other.shares_mask,
            self.helped | other.helped,
            self.counts + other.counts,
            np.concatenate([self.cells, other.cells]),
        )


class PictureSurvey:
    """The first of two looks at all blocks of an image, from which a `RestorePlan` is made.

    Parameters
    ----------
    spec : ImageSpec
    settings : RestoreSettings or str, optional
        As for `restore`. Default is "balanced".
    dictionary : (d, k) array_like, GroundSet or Selection, optional
        As for `restore`.

    Attributes
    ----------
    grid : int
        Blocks begin at multiples of this.

    See Also
    --------
    RestorePlan : What it leads to, with an example.
    """

    grid = SURVEY_GRID

    def __init__(
        self,
        spec: ImageSpec,
        settings: RestoreSettings | PresetName | None = "balanced",
        *,
        dictionary: "ArrayLike | GroundSet | Selection | KnownDictionary | None" = None,
    ) -> None:
        if not isinstance(spec, ImageSpec):
            raise TypeError(f"spec must be an ImageSpec, not {type(spec).__name__}.")
        _check_channels(spec.n_channels, MAX_SHARED)
        self.spec, self.settings = spec, as_settings(settings)
        self._dictionary = as_dictionary(dictionary, self.settings)
        self._reach = completion_reach(self.settings, spec.dtype)
        self._patches = PatchGrid(*spec.shape, self.settings.patch_size)

    def reads(self, rows: slice, columns: slice) -> tuple[Read, ...]:
        """Return the regions of "image" and "mask" that a block needs.

        Parameters
        ----------
        rows, columns : slice
            Of the block. ValueError if it does not begin and end at multiples of `grid`, or at the end.
        """
        return reads_of(self._outer(as_block(rows, columns, self.spec.shape, self.grid)), "image", "mask")

    def measure(self, blocks: Sequence[NDArray[Any]], rows: slice, columns: slice) -> PictureStatistics:
        """Return what is known of a block.

        Parameters
        ----------
        blocks : sequence of ndarray
            What `reads` says: image (h, w, C) and mask (h, w, c).
        rows, columns : slice
        """
        region = as_block(rows, columns, self.spec.shape, self.grid)
        check_blocks(blocks, self.reads(rows, columns), self.spec)
        image, mask = blocks
        inner = within(region, self._outer(region))
        return self.measure_mask(mask, region, channel_ranges(image[inner], mask[inner]))

    def measure_mask(
        self, mask: Bools, region: Region, ranges: tuple[ValueRange | None, ...]
    ) -> PictureStatistics:
        """Return what is known of a block with known ranges."""
        outer = self._outer(region)
        inner = within(region, outer)
        missing = mask[inner]
        layers = range(mask.shape[2])
        patches = self._patches.numbers(region)
        counts = tuple(self._patches.observed_counts(mask[:, :, layer], region, outer) for layer in layers)
        return PictureStatistics(
            missing.shape[0] * missing.shape[1],
            ranges,
            tuple(int(np.count_nonzero(missing[:, :, layer])) for layer in layers),
            all(bool((missing[:, :, layer] == missing[:, :, 0]).all()) for layer in layers[1:]),
            frozenset(
                (a, b)
                for a in layers
                for b in layers
                if a != b and (missing[:, :, a] > missing[:, :, b]).any()
            ),
            ((patches[0].start, patches[1].start, counts),),
            self._cells(mask, inner, region),
        )

    def details(
        self, statistics: PictureStatistics, ranges: tuple[ValueRange, ...] | None = None
    ) -> DetailSurvey:
        """Return the second look, once all blocks have been measured.

        Parameters
        ----------
        statistics : PictureStatistics
            The sum of all blocks; ValueError if one is absent or counted twice, or every pixel is missing.
        ranges : tuple of ValueRange, optional
            What becomes the unit range of each channel; by default what was observed.
        """
        spec, n_pixels = self.spec, self.spec.height * self.spec.width
        if all(count == n_pixels for count in statistics.n_missing):
            raise ValueError("Every pixel of the image is missing: there is nothing to restore it from.")
        if not statistics.shares_mask:
            _check_channels(spec.n_channels, MAX_SEPARATE)
        counts = self._all_counts(statistics)[: 1 if statistics.shares_mask else None]
        n_missing = statistics.n_missing[: len(counts)]
        ground_set, known = self._dictionary
        fraction = sum(n_missing) / (n_pixels * len(n_missing))
        n_candidates = len(ground_set if known is None else known.atoms)
        choice = None
        if known is None and any(n_missing):
            choice = self._patches.choose(counts, spec.n_channels, self.settings.seed)
        observed = [count < n_pixels for count in n_missing] * (spec.n_channels // len(n_missing))
        return DetailSurvey(
            spec,
            self.settings.resolved(1 - fraction, n_candidates),
            ranges or planes_ranges(statistics.ranges),
            statistics.shares_mask,
            tuple(observed),
            fraction,
            self._boxes(statistics.cells),
            damage_density(counts, self.settings.patch_size**2),
            statistics.helped,
            ground_set,
            known,
            choice,
            crops_of(counts, spec.shape, self.settings.patch_size) if self.settings.rounds is None else (),
        )

    def _outer(self, region: Region) -> Region:
        margin = self.settings.patch_size
        if self._reach:
            from dictsel_core.completion import wide_margin  # noqa: PLC0415  (scipy is slow to import)

            margin = max(margin, wide_margin(self._reach))
        return grown(region, margin, self.spec.shape)

    def _cells(self, mask: Bools, inner: Region, region: Region) -> Ints:
        """Return the cells of a block with wide holes."""
        wide = pixels_to_complete(mask, self._reach)[inner]
        if not wide.any():
            return np.zeros((0, 6), np.intp)
        from dictsel_core.completion import hole_cells  # noqa: PLC0415  (scipy is slow to import)

        return hole_cells(wide, region[0].start, region[1].start)

    def _boxes(self, cells: Ints) -> tuple[tuple[int, int, int, int], ...]:
        if not len(cells):
            return ()
        from dictsel_core.completion import hole_boxes  # noqa: PLC0415  (scipy is slow to import)

        return hole_boxes(cells, self.spec.shape)

    def _all_counts(self, statistics: PictureStatistics) -> list[Counts]:
        """Put the counts of all blocks together."""
        parts = statistics.counts
        if len(parts) == 1 and parts[0][2][0].shape == self._patches.shape:
            return list(parts[0][2])
        shape, dtype = self._patches.shape, parts[0][2][0].dtype
        layers = [np.zeros(shape, dtype) for _ in parts[0][2]]
        seen = np.zeros(shape, np.uint8)
        for top, left, counts in parts:
            height, width = counts[0].shape
            place = np.s_[top : top + height, left : left + width]
            seen[place] += 1
            for layer, each in zip(layers, counts, strict=True):
                layer[place] = each
        if (seen != 1).any() or statistics.n_pixels != self.spec.height * self.spec.width:
            raise ValueError("Statistics of all blocks of the image are needed, each of them once.")
        return layers


def _check_channels(n_channels: int, most: int) -> None:
    if n_channels > most:
        own = " that miss pixels of their own" if most == MAX_SEPARATE else ""
        raise ValueError(
            f"There are {n_channels} channels{own}, and at most {most} are restored together; take fewer."
        )


def _joint_range(first: ValueRange | None, second: ValueRange | None) -> ValueRange | None:
    known = [each for each in (first, second) if each is not None]
    return common_range(known) if known else None
