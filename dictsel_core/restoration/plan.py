"""The plan of a restoration: the dictionary, and all else that is decided before any tile is restored.

`make_plan` decides; below it, patches are drawn and the dictionary is selected on them.
"""

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._util.parallel import as_thread_count
from dictsel_core._util.validation import Bools, Ints, as_matrix
from dictsel_core.atoms import GroundSet, ground_set_from_array, standard_ground_set
from dictsel_core.refinement.rounds import BEST_ROUNDS, DEFAULT_OPTIONS, RefinementOptions, options_for
from dictsel_core.restoration.coding import SparseCoder
from dictsel_core.restoration.image import Image, Plane, Planes, ValueRange
from dictsel_core.restoration.result import Restoration
from dictsel_core.restoration.scales import (
    NOT_ENLARGED,
    Coarsest,
    Repeat,
    changes_of,
    repeat_of,
    useful_differences,
)
from dictsel_core.restoration.settings import ResolvedSettings, RestoreSettings
from dictsel_core.restoration.tile import TileRestorer
from dictsel_core.selection import Selection, SelectionRun, iter_replacement_ols, iter_replacement_omp
from dictsel_core.selection.engine import Repeats

#: Maximum number of patches, half as many if refinement follows: more do not improve the dictionary.
MAX_PATCHES = 2048
#: Minimum number of patches, as far as there are patches with an observed pixel.
_MIN_PATCHES = 48

#: Numbers of observed pixels.
Counts = NDArray[Any]
#: A part of an image in the unit ranges of the whole, and its first row and column.
Sample = tuple[tuple[int, int], Image]


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The atoms of a dictionary, and their selection, if they were not given as an array.

    Positions, (T, 2) or (T, 3), are those of the patches of the selection; none if it was made elsewhere.
    """

    atoms: GroundSet
    selection: Selection | None = None
    positions: Ints = field(default_factory=lambda: np.zeros((0, 2), np.intp))

    def __len__(self) -> int:
        return len(self.atoms)

    @classmethod
    def selected(cls, selection: Selection, positions: Ints | None = None) -> "Dictionary":
        """Return the dictionary of a selection."""
        candidates, chosen = selection.ground_set, selection.indices
        origins = tuple(candidates.origins[atom] for atom in chosen)
        atoms = GroundSet(candidates.atoms[:, chosen], origins, candidates.patch_shape)
        return cls(atoms, selection) if positions is None else cls(atoms, selection, positions)

    def first(self, n_atoms: int) -> "Dictionary":
        """Return the dictionary of the first atoms alone."""
        atoms = self.atoms
        return Dictionary(GroundSet(atoms.atoms[:, :n_atoms], atoms.origins[:n_atoms], atoms.patch_shape))


#: The candidates for a dictionary, or the dictionary itself if it is known already.
AtomSource = GroundSet | Dictionary


@dataclass(frozen=True, eq=False)
class Plan:
    """Decisions that hold for all tiles of an image, made before any of them is restored."""

    settings: ResolvedSettings  #: nothing is left open; `rounds` has a value too
    ranges: tuple[ValueRange, ...]  #: of each channel, which become the unit range
    dictionary: Dictionary
    missing_fraction: float
    shares_mask: bool  #: whether all channels miss the same pixels
    observed_channels: tuple[bool, ...]  #: whether anything is observed of each channel
    damage_density: float  #: mean fraction of missing pixels around a missing one
    differences: tuple[tuple[int, int], ...]  #: pairs of channels whose difference helps the first
    repeats: tuple[Repeat, Repeat]  #: how rows and columns were enlarged, if they were
    fill_reach: int  #: wide holes, farther than this from observed pixels, are filled; 0: none are
    holes: tuple[tuple[int, int, int, int], ...] = ()  #: boxes of wide holes, if there are several tiles
    level: int = 0  #: how many times the image was halved to get its coarse scale
    coarse: Planes | None = None  #: (h, w, C), restored; None for a single tile, or if complete

    @property
    def n_rounds(self) -> int:
        """Number of rounds of refinement."""
        return self.settings.rounds or 0

    @property
    def refinement(self) -> RefinementOptions:
        """How the rounds refine."""
        return options_for(self.damage_density, self.n_rounds)

    @property
    def threads(self) -> int:
        """Number of threads."""
        return as_thread_count(self.settings.threads)

    def for_coding(self) -> "Plan":
        """Return the plan of the same without filling and refinement."""
        settings = replace(self.settings, rounds=0)
        return replace(self, settings=settings, fill_reach=0, repeats=NOT_ENLARGED)

    def result(self, rounds: int | None, **found: Any) -> Restoration:
        """Return a restoration by this plan, with what was found; `rounds` is the number asked for."""
        return Restoration(
            settings=replace(self.settings, rounds=rounds),
            missing_fraction=self.missing_fraction,
            selection=self.dictionary.selection,
            patch_positions=self.dictionary.positions,
            atoms=self.dictionary.atoms,
            **found,
        )

    def coder(self) -> SparseCoder:
        """Return a coder of half of the patches, or of a quarter if their estimates are refined."""
        settings = self.settings
        return SparseCoder(
            self.dictionary.atoms.atoms,
            settings.coding_sparsity,
            settings.fill_weight,
            literal=settings.literal,
            thinning=4 if self.n_rounds else 2,
            threads=self.threads,
        )

    def coarsest(self, origin: tuple[int, int], shape: tuple[int, int]) -> Coarsest | None:
        """Return the coarse scale of a tile, which begins at a multiple of ``2 ** level``."""
        if self.coarse is None:
            return None
        rows, columns = (
            slice(start >> self.level, -(-(start + length) >> self.level))
            for start, length in zip(origin, shape, strict=True)
        )
        limits = self.coarse.min(axis=(0, 1)), self.coarse.max(axis=(0, 1))
        return Coarsest(self.level, self.coarse[rows, columns], limits)


def planned_tile(
    image: Image,
    settings: RestoreSettings,
    source: AtomSource,
    *,
    plan: Plan | None = None,
    origin: tuple[int, int] = (0, 0),
) -> Generator[float, None, TileRestorer]:
    """Yield the fraction of the planning that is done, and return the `TileRestorer` of an image.

    A given plan is used in place of a new one.
    """
    start = time.perf_counter()
    plan = plan or (yield from plan_image(image, settings, source, origin))
    tile = TileRestorer(image, plan, origin)
    tile.seconds["coarse" if isinstance(source, Dictionary) else "select"] = time.perf_counter() - start
    return tile


def plan_image(
    image: Image, settings: RestoreSettings, source: AtomSource, origin: tuple[int, int] = (0, 0)
) -> Generator[float, None, Plan]:
    """Yield the fraction of the work that is done, and return the plan of an image that is a single tile.

    Something must be missing. If it is a part of another image, `origin` is its first row and column there:
    repeats and positions are those of that image.
    """
    rows, columns = (
        repeat_of(changes_of(image.pixels, image.missing, start, axis)) for axis, start in enumerate(origin)
    )
    facts: dict[str, Any] = {"observed_channels": image.observed_channels, "repeats": (rows, columns)}
    return make_plan([(origin, image)], image.shape, image.missing_fraction, settings, source, **facts)


def make_plan(
    samples: Sequence[Sample],
    shape: tuple[int, int],
    missing_fraction: float,
    settings: RestoreSettings,
    source: AtomSource,
    intact: Sequence[Image] = (),
    **facts: Any,
) -> Generator[float, None, Plan]:
    """Yield the fraction of the work that is done, and return the plan of an image, made on samples of it.

    Shape, missing fraction and other facts are those of all of the image. In the intact samples, which tell
    how channels are related, nothing is missing.
    """
    images = [image for _, image in samples]
    first, resolved = images[0], settings.resolved(1 - missing_fraction, len(source))
    if isinstance(source, Dictionary):
        dictionary = source
    else:
        dictionary = yield from select_dictionary(samples, resolved, source)
    rounds = BEST_ROUNDS if settings.rounds is None else settings.rounds
    if missing_fraction == 0 or min(shape) < DEFAULT_OPTIONS.last_size:
        rounds = 0
    return Plan(
        settings=replace(resolved, rounds=rounds),
        ranges=first.ranges,
        dictionary=dictionary,
        missing_fraction=missing_fraction,
        shares_mask=first.shares_mask,
        damage_density=damage_density([image.missing for image in images], settings.patch_size),
        differences=() if first.shares_mask else useful_differences([*images, *intact]),
        fill_reach=settings.fill_reach(first.pixels.dtype),
        **facts,
    )


def damage_density(masks: Sequence[Bools], patch_size: int) -> float:
    """Return the mean fraction of pixels that are missing around a missing one, 0 if none is.

    Masks, (H, W, c), are those of an image, or of parts of it. The density does not depend on how much of the
    image is damaged. Patches without any observed pixel, as in wide holes, are left out.
    """
    n_pixels, total, squares = patch_size**2, 0, 0
    for missing in masks:
        for layer in range(missing.shape[2]):
            counts = observed_counts(missing[:, :, layer], patch_size)
            n_missing = n_pixels - counts[counts > 0].astype(np.int64)
            total += int(n_missing.sum())
            squares += int(np.square(n_missing).sum())
    return squares / (max(total, 1) * n_pixels)


def as_atom_source(value: ArrayLike | GroundSet | Selection | None, settings: RestoreSettings) -> AtomSource:
    """Return what was given as a dictionary; see `restore`."""
    size = settings.patch_size
    if value is None:
        return _standard_candidates(size, settings.bases)
    if isinstance(value, Selection):
        _check_entries(value.ground_set.n_features, size)
        return Dictionary.selected(value)
    if isinstance(value, GroundSet):
        _check_entries(value.n_features, size)
        return value
    columns = as_matrix(value, "dictionary", "(pixels, atoms)")
    _check_entries(len(columns), size)
    return Dictionary(ground_set_from_array(columns, patch_shape=(size, size)))


@lru_cache(maxsize=4)
def _standard_candidates(size: int, bases: tuple[str, ...]) -> GroundSet:
    """Return the candidates of most restorations; cached, with all that is derived from them."""
    return standard_ground_set((size, size), bases)


def _check_entries(n_entries: int, size: int) -> None:
    if n_entries != size**2:
        root = round(n_entries**0.5)
        way = f"set patch_size={root}" if root**2 == n_entries else "atoms must be square patches"
        raise ValueError(
            f"The atoms of dictionary have {n_entries} entries, but patches of {size} x {size} pixels have "
            f"{size**2}; {way}."
        )


def sample_patches(
    samples: Sequence[tuple[tuple[int, ...], Image]], size: int, n_patches: int, seed: int
) -> tuple[Plane, Bools, Ints]:
    """Cut the channels of images into adjacent patches, and draw some with enough observed pixels.

    Images are mirrored below and to the right so that patches cover them. The place of an image is its first
    row and column, preceded by its number in a stack. Returns data (T, d) of planes, zero where the mask
    (T, d) says missing; the mask; and the place of the top-left pixel of each patch.
    """
    channels = [(place, image, c) for place, image in samples for c in range(image.n_channels)]
    counts = [observed_counts(image.mask(channel), size) for _, image, channel in channels]
    threshold = _threshold(counts, size**2)
    usable = [np.flatnonzero(each >= threshold) for each in counts]
    ends = np.cumsum([len(each) for each in usable])
    chosen = np.arange(ends[-1])
    if len(chosen) > n_patches:
        chosen = np.sort(np.random.default_rng(seed).choice(len(chosen), n_patches, replace=False))
    found: list[tuple[Plane, Bools, Ints]] = []
    for (place, image, channel), count, numbers, part in zip(
        channels, counts, usable, np.split(chosen, np.searchsorted(chosen, ends[:-1])), strict=True
    ):
        own = numbers[part - (ends[len(found)] - len(numbers))]
        corners = np.stack(np.divmod(own, count.shape[1]), axis=1) * size
        rows, columns = (
            np.pad(np.arange(n), (0, -n % size), mode="symmetric")[first[:, None] + np.arange(size)]
            for n, first in zip(image.shape, corners.T, strict=True)
        )
        positions = np.full((len(own), len(place)), place)
        positions[:, -2:] += corners
        found.append((*image.patches(channel, rows, columns), positions))
    data, mask, positions = (np.concatenate(each) for each in zip(*found, strict=True))
    return data, mask, positions


def observed_counts(missing: Bools, size: int) -> Counts:
    """Return how many pixels of each adjacent patch of a mask (H, W) are observed, down and across."""
    observed = ~missing
    if any(length % size for length in missing.shape):
        observed = np.pad(observed, [(0, -length % size) for length in missing.shape], mode="symmetric")
    height, width = observed.shape
    down = np.add.reduce(observed.reshape(-1, size, width), axis=1, dtype=np.uint16)
    counts: Counts = np.add.reduce(down.reshape(height // size, -1, size), axis=2, dtype=np.uint16)
    return counts


def _threshold(counts: list[Counts], n_pixels: int) -> int:
    """Return how many observed pixels are enough: fewer if patches with many are rare."""
    frequent = np.sum([np.bincount(each.ravel(), minlength=n_pixels + 1) for each in counts], axis=0)
    at_least = np.cumsum(frequent[::-1])[::-1]
    few = int(np.flatnonzero(at_least >= min(_MIN_PATCHES, at_least[0]))[-1])
    return max(1, min(max(4, n_pixels // 16), few))


def select_dictionary(
    samples: Sequence[tuple[tuple[int, ...], Image]], settings: ResolvedSettings, candidates: GroundSet
) -> Generator[float, None, Dictionary]:
    """Yield the fraction that is done, and return a dictionary selected on patches of samples of images."""
    n_patches = MAX_PATCHES // 2 if settings.is_refined else MAX_PATCHES
    whole = [(place, _whole_patches(image, settings)) for place, image in samples]
    data, mask, positions = sample_patches(whole, settings.patch_size, n_patches, settings.seed)
    run = _selection_run(data, mask, settings, candidates)
    for _ in run:
        yield len(run.steps) / run.n_atoms
    return Dictionary.selected(run.result, positions)


def _whole_patches(image: Image, settings: ResolvedSettings) -> Image:
    """Return an image; if the settings are literal, cropped to whole patches."""
    size, (height, width) = settings.patch_size, image.shape
    if not settings.literal or min(height, width) < size:
        return image
    return image.part((slice(0, height // size * size), slice(0, width // size * size)))


def _selection_run(
    data: Plane, mask: Bools, settings: ResolvedSettings, candidates: GroundSet
) -> SelectionRun:
    given = candidates, data, settings.constraint_for(len(data)), settings.n_atoms
    repeats: Repeats | None = "steps" if settings.literal else None
    match settings.selector:  # the type checker sees a selector that is left out
        case "rols":
            return iter_replacement_ols(*given, mask=mask, repeats=repeats)
        case "romp" | "rompd":
            decay = settings.selector == "rompd"
            return iter_replacement_omp(*given, mask=mask, decay=decay, repeats=repeats)
