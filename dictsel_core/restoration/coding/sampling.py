"""The patches on which the dictionary is selected, and the selection."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.arrays import Region
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.ground_set import GroundSet
from dictsel_core.restoration.canvas import Canvas, Plane
from dictsel_core.restoration.settings import ResolvedSettings
from dictsel_core.selection import SelectionRun, iter_replacement_ols, iter_replacement_omp

#: Maximum number of patches: a sample of a large image is as good as all of it.
MAX_PATCHES = 2048
#: Minimum number of patches, as far as there are patches with an observed pixel.
_MIN_PATCHES = 48
#: Patches that are searched at once, to save memory.
_CHUNK = 1 << 20

#: Numbers of observed pixels.
Counts = NDArray[Any]


@dataclass(frozen=True, eq=False)
class PatchSample:
    """Patches as rows (T, d), their mask (True = missing), and the top-left pixel of each (T, 2)."""

    data: Plane
    mask: Bools
    positions: Ints


@dataclass(frozen=True, eq=False)
class PatchChoice:
    """Which patches are sampled: their channels (T,), and the top-left pixel of each (T, 2)."""

    channels: Ints
    positions: Ints

    def inside(self, region: Region) -> Ints:
        """Return the numbers of the patches that begin in a region."""
        rows, columns = self.positions.T
        chosen = (rows >= region[0].start) & (rows < region[0].stop)
        return np.flatnonzero(chosen & (columns >= region[1].start) & (columns < region[1].stop))


@dataclass(frozen=True)
class PatchGrid:
    """The adjacent patches of an image, which is mirrored below and to the right so that they cover it.

    Attributes
    ----------
    height, width : int
        Of the image.
    size : int
        Height and width of a patch. A region of the image needs as much around it.
    """

    height: int
    width: int
    size: int

    @property
    def shape(self) -> tuple[int, int]:
        """Number of patches down and across."""
        return -(-self.height // self.size), -(-self.width // self.size)

    def numbers(self, region: Region) -> Region:
        """Return which patches begin in a region, down and across."""
        rows, columns = (slice(-(-each.start // self.size), -(-each.stop // self.size)) for each in region)
        return rows, columns

    def observed_counts(self, missing: Bools, region: Region, outer: Region) -> Counts:
        """Return how many pixels of each patch that begins in a region are observed, down and across.

        Parameters
        ----------
        missing : (H, W) ndarray of bool
            The pixels of `outer`.
        region, outer : (slice, slice)
        """
        observed = ~missing
        for axis, (patches, part) in enumerate(zip(self.numbers(region), outer, strict=True)):
            index = self._mirrored(axis)[patches.start * self.size : patches.stop * self.size] - part.start
            if len(index) != observed.shape[axis] or (index != np.arange(len(index))).any():
                observed = observed.take(index, axis=axis)
        # There are blocks in which no patch begins; of no values, `reshape` cannot find a length.
        n_down, n_across = (each // self.size for each in observed.shape)
        down = np.add.reduce(observed.reshape(n_down, self.size, observed.shape[1]), axis=1, dtype=np.uint16)
        counts: Counts = np.add.reduce(down.reshape(n_down, n_across, self.size), axis=2, dtype=np.uint16)
        return counts.astype(np.uint8) if self.size**2 < 256 else counts

    def choose(self, counts: Sequence[Counts], n_channels: int, seed: int) -> PatchChoice:
        """Choose patches with enough observed pixels.

        Parameters
        ----------
        counts : sequence of ndarray of int
            Of all patches, for each layer of the mask.
        n_channels : int
        seed : int
        """
        layers = [each.reshape(-1) for each in counts] * (n_channels if len(counts) == 1 else 1)
        # If little is observed, patches with few observed pixels have to do.
        n_needed = min(_MIN_PATCHES, sum(each.size for each in layers))
        frequent = np.sum([np.bincount(each, minlength=self.size**2 + 1) for each in layers], axis=0)
        at_least = np.cumsum(frequent[::-1])[::-1]
        few = int(np.flatnonzero(at_least >= n_needed)[-1])
        threshold = max(1, min(max(4, self.size**2 // 16), few))
        totals = np.cumsum([0, *(np.count_nonzero(each >= threshold) for each in layers)])
        chosen = np.arange(totals[-1])
        if len(chosen) > MAX_PATCHES:
            rng = np.random.default_rng(seed)
            chosen = np.sort(rng.choice(len(chosen), MAX_PATCHES, replace=False))
        channels = np.searchsorted(totals, chosen, side="right") - 1
        tiles = np.concatenate(
            [
                _nth_true(each, threshold, chosen[channels == channel] - totals[channel])
                for channel, each in enumerate(layers)
            ]
        )
        positions = np.stack(np.divmod(tiles, self.shape[1]), axis=1) * self.size
        return PatchChoice(channels, positions)

    def cut(
        self, canvas: Canvas, choice: PatchChoice, numbers: Ints, origin: tuple[int, int] = (0, 0)
    ) -> tuple[Plane, Bools]:
        """Return some of the chosen patches of a block of the image, and their mask: (n, d) each.

        Parameters
        ----------
        canvas : Canvas
            The block, which contains all pixels of these patches.
        choice : PatchChoice
        numbers : (n,) ndarray of int
        origin : (int, int)
            First row and column of the block.
        """
        rows, columns = (
            self._mirrored(axis)[start[:, None] + np.arange(self.size)] - origin[axis]
            for axis, start in enumerate(choice.positions[numbers].T)
        )
        return canvas.values_at(choice.channels[numbers], rows, columns)

    def _mirrored(self, axis: int) -> Ints:
        """Return the pixels along an axis, mirrored at its end until patches cover it."""
        length = (self.height, self.width)[axis]
        return np.pad(np.arange(length), (0, -length % self.size), mode="symmetric")


def _nth_true(counts: Counts, threshold: int, wanted: Ints) -> Ints:
    """Return the places of some of the counts that reach a threshold, by their increasing numbers."""
    found, before = [], 0
    for start in range(0, len(counts), _CHUNK):
        places = start + np.flatnonzero(counts[start : start + _CHUNK] >= threshold)
        here = wanted[(wanted >= before) & (wanted < before + len(places))]
        found.append(places[here - before])
        before += len(places)
    return np.concatenate(found) if found else np.zeros(0, np.intp)


def sample_patches(canvas: Canvas, size: int, seed: int) -> PatchSample:
    """Cut the channels into adjacent patches, and return those with enough observed pixels."""
    grid = PatchGrid(*canvas.shape, size)
    whole = slice(0, canvas.shape[0]), slice(0, canvas.shape[1])
    counts = [grid.observed_counts(canvas.mask(c), whole, whole) for c in range(canvas.missing.shape[2])]
    choice = grid.choose(counts, canvas.n_channels, seed)
    return PatchSample(*grid.cut(canvas, choice, np.arange(len(choice.channels))), choice.positions)


def select_dictionary(sample: PatchSample, settings: ResolvedSettings, ground_set: GroundSet) -> SelectionRun:
    """Return a run that selects a dictionary on sampled patches, as the settings say."""
    constraint = settings.constraint_for(len(sample.data))
    match settings.selector:  # the type checker sees a selector that is left out
        case "rols":
            return iter_replacement_ols(
                ground_set, sample.data, constraint, settings.n_atoms, mask=sample.mask
            )
        case "romp" | "rompd":
            return iter_replacement_omp(
                ground_set,
                sample.data,
                constraint,
                settings.n_atoms,
                mask=sample.mask,
                decay=settings.selector == "rompd",
                threads=settings.threads,
            )
