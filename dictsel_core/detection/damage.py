"""Detected damage: regions with a kind and a confidence, and the mask for a sensitivity."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._util.arrays import read_only
from dictsel_core._util.validation import Bools, Ints, as_nonnegative
from dictsel_core.damage_kinds import DAMAGE_KINDS, DamageKind
from dictsel_core.detection.plane import prepare
from dictsel_core.detection.regions import Regions, joined, no_regions

#: How far from each pixel of a region its surroundings are looked at, in the four directions.
_AWAY = 5


@dataclass(frozen=True, eq=False)
class Detection:
    """Damage that was detected.

    Attributes
    ----------
    mask : (H, W) ndarray of bool
        True = damaged.
    confidence : (H, W) ndarray of float32
        Of the region that a pixel belongs to, 0 to 1; 0 outside of all regions. Also of regions that were
        not confident enough to be in the mask.
    labels : (H, W) ndarray of int32
        Number of the region that a pixel of the mask belongs to, from 1 on; 0 elsewhere. Where regions
        overlap, of the most confident.
    kinds : tuple of str
        Kind of each region; region i is ``kinds[i - 1]``.
    """

    mask: Bools
    confidence: NDArray[np.float32]
    labels: NDArray[np.int32]
    kinds: tuple[DamageKind, ...]


@dataclass(frozen=True)
class Found:
    """Number of regions, and of pixels, of one kind."""

    n_regions: int
    n_pixels: int


@dataclass(frozen=True, eq=False)
class DamageAnalysis:
    """All candidates for damage, from which the mask for a sensitivity follows at once.

    A region has an identity: its number, from 0 on, is the same for all sensitivities. It is part of the
    mask if its confidence is at least 1 - sensitivity, so that a larger sensitivity never loses a pixel.

    Attributes
    ----------
    shape : (int, int)
        Height and width.
    candidates : mapping of str to Regions
        By kind, in the order of the numbers.
    """

    shape: tuple[int, int]
    candidates: Mapping[DamageKind, Regions]

    @property
    def kinds(self) -> tuple[DamageKind, ...]:
        """The kinds of damage that were looked for."""
        return tuple(self.candidates)

    @cached_property
    def regions(self) -> Regions:
        """The candidates of all kinds."""
        return joined([no_regions(self.shape), *self.candidates.values()])

    @property
    def n_regions(self) -> int:
        """Number of candidates of all kinds."""
        return len(self.regions)

    @property
    def confidences(self) -> NDArray[np.float32]:
        """Confidence of each candidate."""
        return self.regions.confidence

    @property
    def areas(self) -> Ints:
        """Number of pixels of each candidate."""
        return self.regions.areas

    def kind_of(self, number: int) -> DamageKind:
        """Return the kind of a region."""
        return self.kinds[int(self._kind_numbers[self._checked(number)])]

    def mask(
        self,
        sensitivity: float = 0.5,
        *,
        kinds: Iterable[DamageKind] | None = None,
        removed: Iterable[int] = (),
    ) -> Bools:
        """Return the damaged pixels, (H, W), True = damaged.

        Parameters
        ----------
        sensitivity : float
            From 0, only what is certain, to 1, all candidates.
        kinds : iterable of str, optional
            Some of the kinds that were looked for.
        removed : iterable of int
            Regions to leave out, as `regions_at` names them; IndexError if there is no such region.
        """
        mask, regions = np.zeros(self.shape, np.bool_), self.regions
        chosen = self._chosen(sensitivity, kinds, removed)
        mask.reshape(-1)[regions.pixels[np.repeat(chosen, regions.areas)]] = True
        return mask

    def regions_at(self, row: int, column: int, sensitivity: float = 0.5) -> tuple[int, ...]:
        """Return the numbers of the regions of the mask that hold a pixel, the most confident first."""
        found, confidence = self.regions_near(row, column, 0, sensitivity), self.confidences
        return tuple(sorted(found, key=lambda each: -confidence[each]))

    def regions_near(self, row: int, column: int, radius: int, sensitivity: float = 0.5) -> tuple[int, ...]:
        """Return the numbers of the regions of the mask within a radius of a pixel, the nearest first."""
        chosen = self._chosen(sensitivity, None, ())
        (height, width), (pixels, regions) = self.shape, self._placed
        rows = np.arange(max(0, row - radius), min(height, row + radius + 1))
        first, last = max(0, column - radius), min(width - 1, column + radius)
        if not len(rows) or first > last:
            return ()
        begin = np.searchsorted(pixels, rows * width + first)
        end = np.searchsorted(pixels, rows * width + last, side="right")
        entries = np.concatenate([np.arange(a, b) for a, b in zip(begin, end, strict=True)])
        y, x = np.divmod(pixels[entries], width)
        away = np.hypot(y - row, x - column)
        order = np.argsort(away, kind="stable")
        numbers = regions[entries][order][away[order] <= radius]
        return tuple(each for each in dict.fromkeys(numbers.tolist()) if chosen[each])

    @cached_property
    def _placed(self) -> tuple[Ints, Ints]:
        """All pixels in the order of the picture, and the region of each."""
        order = np.argsort(self.regions.pixels, kind="stable")
        return self.regions.pixels[order], self.regions.numbers()[order]

    @cached_property
    def _kind_numbers(self) -> Ints:
        """The place of the kind of each region."""
        return np.repeat(np.arange(len(self.candidates)), [len(each) for each in self.candidates.values()])

    def region_pixels(self, number: int) -> Ints:
        """Return the pixels of a region as indices into the flattened picture."""
        start, stop = self.regions.offsets[self._checked(number) :][:2]
        return self.regions.pixels[start:stop]

    def found(self, sensitivity: float = 0.5) -> dict[DamageKind, Found]:
        """Return how much of each kind is in the mask."""
        figures: dict[DamageKind, Found] = {}
        for kind, regions in self.candidates.items():
            chosen = regions.confidence >= 1 - as_sensitivity(sensitivity)
            pixels = regions.pixels[np.repeat(chosen, regions.areas)]
            figures[kind] = Found(int(chosen.sum()), len(np.unique(pixels)))
        return figures

    def detection(self, sensitivity: float = 0.5) -> Detection:
        """Return mask, confidence and labels as pictures."""
        chosen, confidences = self._chosen(sensitivity, None, ()), self.confidences
        confidence, labels = np.zeros(self.shape, np.float32), np.zeros(self.shape, np.int32)
        numbers = np.cumsum(chosen)
        for number in np.argsort(confidences, kind="stable"):  # the most confident last
            pixels = self.region_pixels(int(number))
            confidence.reshape(-1)[pixels] = confidences[number]
            if chosen[number]:
                labels.reshape(-1)[pixels] = numbers[number]
        kinds = tuple(self.kinds[kind] for kind in self._kind_numbers[chosen])
        return Detection(read_only(self.mask(sensitivity)), read_only(confidence), read_only(labels), kinds)

    def _chosen(
        self, sensitivity: float, kinds: Iterable[DamageKind] | None, removed: Iterable[int]
    ) -> Bools:
        chosen: Bools = self.confidences >= 1 - as_sensitivity(sensitivity)
        if kinds is not None:
            wanted = check_kinds(kinds)
            chosen &= np.array([kind in wanted for kind in self.candidates], bool)[self._kind_numbers]
        for number in removed:
            chosen[self._checked(number)] = False
        return chosen

    def _checked(self, number: int) -> int:
        if not 0 <= number < self.n_regions:
            raise IndexError(f"There is no region {number}.")
        return number


def region_contrasts(
    image: ArrayLike, analysis: DamageAnalysis, *, missing: ArrayLike | None = None
) -> NDArray[np.float32]:
    """Return how much lighter each region is than what lies around it; negative if it is darker.

    By the number of the region, (N,), as a part of the range of the picture; 0 if nothing around it is seen.
    Image and missing pixels are those that were given to `analyze_damage`.
    """
    picture, hidden = prepare(image, missing), analysis.mask(1.0)
    hidden |= picture.missing
    regions, n_regions = analysis.regions, analysis.n_regions
    numbers = regions.numbers()
    rows, columns = np.divmod(regions.pixels, regions.shape[1])
    values = picture.brightness_at(rows, columns)
    inside = np.bincount(numbers, values, n_regions) / np.maximum(regions.areas, 1)
    total, count = np.zeros(n_regions), np.zeros(n_regions)
    for dy, dx in ((-_AWAY, 0), (_AWAY, 0), (0, -_AWAY), (0, _AWAY)):
        y, x = rows + dy, columns + dx
        seen = (y >= 0) & (y < hidden.shape[0]) & (x >= 0) & (x < hidden.shape[1])
        seen[seen] = ~hidden[y[seen], x[seen]]
        total += np.bincount(numbers[seen], picture.brightness_at(y[seen], x[seen]), n_regions)
        count += np.bincount(numbers[seen], minlength=n_regions)
    around = total / np.maximum(count, 1)
    return np.where(count > 0, inside - around, 0).astype(np.float32)


def as_sensitivity(value: object) -> float:
    """Return a sensitivity, checked."""
    sensitivity = as_nonnegative(value, "sensitivity")
    if sensitivity > 1:
        raise ValueError(f"sensitivity must be at most 1, but is {sensitivity}.")
    return sensitivity


def check_kinds(kinds: Iterable[str]) -> tuple[DamageKind, ...]:
    """Return kinds of damage, checked, in the order of `DAMAGE_KINDS`."""
    given = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    for each in given:
        if each not in DAMAGE_KINDS:
            raise ValueError(f"kinds must be of {', '.join(DAMAGE_KINDS)}, but one is {each!r}.")
    if not given:
        raise ValueError(f"kinds must name some of {', '.join(DAMAGE_KINDS)}, but names none.")
    return tuple(kind for kind in DAMAGE_KINDS if kind in given)
