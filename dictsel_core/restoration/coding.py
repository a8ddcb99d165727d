"""Sparse coding: planes that share a mask, patch by patch, from coarse to fine."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.atoms.ground_set import duplicate_columns
from dictsel_core.pursuit.codes import scatter_codes
from dictsel_core.pursuit.columns import Pursuit
from dictsel_core.restoration._rebuild_kernels import PatchLimits, PatchTables, PlaneTables, rebuild
from dictsel_core.restoration.image import Plane, Planes
from dictsel_core.restoration.patches import MirroredPatches, median_of_patches

Number = TypeVar("Number", np.uint8, np.float32)

#: Fraction of the work of `restore_planes` that coarser scales take.
CODED_FROM = 0.25
#: Estimate of planes in unit range of which nothing is observed.
_UNKNOWN = 0.5
#: Largest dictionary that is coded by Gram matrices, which is faster up to there.
_MAX_ATOMS = 64
#: An atom is dependent on the selected ones if less than this many machine epsilons of its squared length are
#: orthogonal to them.
_DEPENDENCE_EPSILONS = 1e3
#: Minimum number of observed pixels of a patch if its missing pixels have no weight.
_MIN_OBSERVED = 4
#: Sum of the squared weights of a patch, of which a mean is taken, at least.
_MIN_WEIGHTS = np.float32(1e-6)
#: Smallest weight of missing pixels that have one: too small to matter beside observed pixels, and so large
#: that its fourth power does not vanish in float32.
_MIN_WEIGHT = 1e-6


class SparseCoder:
    """Codes patches in a dictionary, rebuilds them, and counts how often each atom is used.

    Parameters
    ----------
    dictionary : (d, k) ndarray
        On square patches.
    sparsity : int
        Maximum number of atoms per patch.
    fill_weight : float
        Weight of the first estimate at missing pixels.
    thinning : {1, 2, 4}
        Code every patch, every second or every fourth one; every one if the height of a patch is odd.
    threads : int

    Attributes
    ----------
    size : int
        Height and width of a patch.
    """

    def __init__(
        self, dictionary: Floats, sparsity: int, fill_weight: float, *, thinning: int = 1, threads: int = 1
    ) -> None:
        atoms = dictionary.astype(np.float32)
        self.size, self._n_atoms = round(len(atoms) ** 0.5), atoms.shape[1]
        self._weight = np.float32(max(fill_weight, _MIN_WEIGHT) if fill_weight else 0.0)
        # Without a constant atom the mean could not be represented, so it is coded separately.
        self._centered = not (np.abs(atoms.sum(axis=0)) > 0.999 * self.size).any()
        self._compiled: tuple[PatchTables, PatchLimits] | None = None
        if self._n_atoms <= _MAX_ATOMS:
            self._compiled = _tables(atoms, self._weight), self._limits(min(sparsity, *atoms.shape))
        else:
            self._pursuit = Pursuit(atoms, sparsity, weak=0 < fill_weight < 1)
            self._rows = np.ascontiguousarray(atoms.T)
        self._thinning, self._threads = thinning if self.size % 2 == 0 else 1, threads
        self._counts: list[tuple[Ints, int]] = []  # by chunk, appended to by all threads

    @property
    def usage(self) -> Ints:
        """How many of the coded patches use each atom: (k,)."""
        return sum((used for used, _ in self._counts), np.zeros(self._n_atoms, dtype=np.intp))

    @property
    def n_coded_patches(self) -> int:
        """How many patches have been coded."""
        return sum(count for _, count in self._counts)

    def estimates(
        self, filled: Planes, missing: Bools, wanted: Bools
    ) -> Iterator[tuple[slice, Ints, Planes]]:
        """Estimate the wanted pixels of planes that share a mask, band by band.

        The pixels of a band may be overwritten as soon as it is yielded.

        Parameters
        ----------
        filled : (H, W, C) ndarray
            The planes, with a first estimate of every missing pixel; C-contiguous.
        missing, wanted : (H, W) ndarray of bool

        Yields
        ------
        rows : slice
        pixels : (N,) ndarray of int
            Wanted pixels of these rows, counted row by row through the planes.
        values : (N, C) ndarray
            As in `filled` if no patch has an estimate.
        """
        n_channels = filled.shape[2]
        hidden = np.require(missing, requirements=["C", "W"])  # kernels are compiled for such arrays
        patches = MirroredPatches(missing.shape, self.size)

        def write(rows: Ints, columns: Ints, out: Planes, first: int) -> None:
            used = self.rebuild(filled, hidden, patches, rows, columns, out, first)
            self._counts.append((used, n_channels * len(rows)))

        for rows, pixels, medians in median_of_patches(
            wanted, self.size, n_channels, write, self._threads, thinning=self._thinning
        ):
            known = filled.reshape(-1, n_channels)[pixels]
            yield rows, pixels, np.where(np.isnan(medians), known, medians)

    def rebuild(
        self,
        filled: Planes,
        missing: Bools,
        patches: MirroredPatches,
        rows: Ints,
        columns: Ints,
        out: Planes,
        first: int,
    ) -> Ints:
        """Code patches, write them as they are rebuilt, and return how many use each atom: (k,).

        They are written to `out`, (C, N, d), from `first` on: NaN if too few of their pixels are observed. It
        may be called from several threads.
        """
        flat, hidden = filled.reshape(-1), missing.reshape(-1)
        if self._compiled is not None:
            usage, given = np.zeros(self._n_atoms, np.intp), hidden.view(np.uint8)
            rebuild(
                PlaneTables(flat, given, *patches.tables), rows, columns, *self._compiled, first, out, usage
            )
            return usage
        pixels = patches.pixels(rows, columns)
        weights = np.where(hidden.take(pixels), self._weight, np.float32(1))
        data = np.stack([filled[:, :, channel].take(pixels) for channel in range(len(out))])
        out[:, first : first + len(rows)], supports = self._rebuild_large(data, weights)
        return np.bincount(supports[supports >= 0], minlength=self._n_atoms)

    def _rebuild_large(self, values: Planes, weights: Planes) -> tuple[Planes, Ints]:
        """Return patches (C, B, d), whose channels share weights (B, d), rebuilt, and their supports."""
        means = np.zeros((*values.shape[:2], 1), np.float32)
        if self._centered:
            squares = np.square(weights)
            sums = np.maximum(squares.sum(axis=1), _MIN_WEIGHTS)
            means = (np.vecdot(values, squares) / sums)[:, :, None]
        weighted = (values - means) * weights
        supports, coefficients, _ = self._pursuit(weighted.reshape(-1, values.shape[2]), weights)
        codes = np.zeros((len(supports), self._n_atoms), np.float32)
        scatter_codes(codes, supports, coefficients)
        rebuilt = (codes @ self._rows).reshape(values.shape) + means
        if self._weight == 0:
            rebuilt[:, (weights > 0).sum(axis=1) < _MIN_OBSERVED] = np.nan
        return rebuilt, supports

    def _limits(self, capacity: int) -> PatchLimits:
        """Return how the kernel codes patches."""
        return PatchLimits(
            self._weight * self._weight,
            np.float32(_DEPENDENCE_EPSILONS * np.finfo(np.float32).eps),
            self._centered,
            capacity,
            _MIN_OBSERVED if self._weight == 0 else 0,
        )


def _tables(atoms: Floats, weight: np.float32) -> PatchTables:
    """Return what the kernel needs to know of a dictionary (d, k), given the weight of missing pixels."""
    n_atoms = atoms.shape[1]
    rows, columns = np.triu_indices(n_atoms)
    pairs, places = atoms[:, rows] * atoms[:, columns], np.empty((n_atoms, n_atoms), np.uintp)
    places[rows, columns] = places[columns, rows] = np.arange(len(rows))
    return PatchTables(
        np.concatenate([(pairs * (1 - weight * weight)).ravel(), np.zeros(len(rows), np.float32)]),
        pairs.sum(axis=0),
        places.ravel(),
        np.ascontiguousarray(atoms.T).ravel(),
        ~duplicate_columns(atoms),
    )


@dataclass(frozen=True, eq=False)
class Coarsest:
    """A scale of planes that is restored already.

    Attributes
    ----------
    level : int
        How often it was halved.
    planes : (h, w, C) ndarray
    limits : two (C,) ndarrays
        Of the whole image on that scale: a tile may show little of it.
    """

    level: int
    planes: Planes
    limits: tuple[Plane, Plane]


def restore_planes(
    planes: Planes,
    missing: Bools,
    coder: SparseCoder,
    *,
    wanted: Bools | None = None,
    limits: tuple[Plane, Plane] | None = None,
    coarsest: Coarsest | None = None,
    level: int = 0,
) -> Iterator[float]:
    """Restore planes that share a mask in place, and all their coarser scales, the coarsest first.

    Yields the fraction of the work that is done; from `CODED_FROM` on, all pixels have an estimate.

    Parameters
    ----------
    planes : (H, W, C) ndarray
        Zero where missing; C-contiguous.
    missing : (H, W) ndarray of bool
    coder : SparseCoder
    wanted : (H, W) ndarray of bool, optional
        Pixels to estimate; by default the missing ones.
    limits : two (C,) ndarrays, optional
        Estimates are clipped to these: outliers must not spread to finer scales. By default the range of the
        observed values.
    coarsest : Coarsest, optional
        By default scales become coarser until patches no longer fit.
    level : int
        How often these planes were halved.
    """
    wanted = missing if wanted is None else wanted
    if coarsest is not None and level == coarsest.level:
        planes[missing] = coarsest.planes[missing]
        return
    if not wanted.any():
        return
    if limits is None:
        limits = _observed_limits(planes, missing) if coarsest is None else coarsest.limits
    flat = planes.reshape(-1, planes.shape[2])
    if coarsest is not None or min(missing.shape) >= 2 * coder.size:
        coarser, unknown = halve(planes, missing)
        if unknown.any():
            for fraction in restore_planes(coarser, unknown, coder, coarsest=coarsest, level=level + 1):
                yield fraction * CODED_FROM
        pixels = np.flatnonzero(missing)
        flat[pixels] = double_at(coarser, pixels, missing.shape[1])
    else:
        planes[missing] = _UNKNOWN if missing.all() else planes[~missing].mean(axis=0)
    yield CODED_FROM
    for rows, pixels, values in coder.estimates(planes, missing, wanted):
        flat[pixels] = np.clip(values, *limits)
        yield CODED_FROM + (1 - CODED_FROM) * rows.stop / len(planes)


def _observed_limits(planes: Planes, missing: Bools) -> tuple[Plane, Plane]:
    """Return the smallest and the largest observed value of each channel: (C,) each."""
    observed = [planes[:, :, channel][~missing] for channel in range(planes.shape[2])]
    if missing.all():
        return np.zeros(len(observed), np.float32), np.ones(len(observed), np.float32)
    return np.array([each.min() for each in observed]), np.array([each.max() for each in observed])


def halve(planes: Planes, missing: Bools) -> tuple[Planes, Bools]:
    """Return planes (H, W, C) at half size, and their mask: means of the observed pixels of 2 x 2 blocks.

    A pixel of the result is missing, and zero, if all four are; missing pixels must be zero.
    """
    counts = _block_sums((~missing).view(np.uint8))
    means = np.empty((*counts.shape, planes.shape[2]), np.float32)
    for channel in range(planes.shape[2]):
        means[:, :, channel] = _block_sums(planes[:, :, channel])
    flat, fewer = means.reshape(-1, planes.shape[2]), np.flatnonzero(counts < 4)
    few = flat[fewer] / np.maximum(counts.reshape(-1)[fewer], 1)[:, None]
    means *= np.float32(0.25)
    flat[fewer] = few
    return means, counts == 0


def _block_sums(array: NDArray[Number]) -> NDArray[Number]:
    """Sum each 2 x 2 block; blocks at an odd border are smaller."""
    across = array[:, 0::2].copy()
    np.add(across[:, : array.shape[1] // 2], array[:, 1::2], out=across[:, : array.shape[1] // 2])
    sums = across[0::2].copy()
    np.add(sums[: array.shape[0] // 2], across[1::2], out=sums[: array.shape[0] // 2])
    return sums


def double_at(planes: Planes, pixels: Ints, width: int) -> Planes:
    """Return some pixels of complete planes (H, W, C) at twice their size, by linear interpolation: (N, C).

    They are counted row by row in an image of this width.
    """
    height, half_width, n_channels = planes.shape
    flat = planes.reshape(-1, n_channels)
    rows, columns = np.divmod(pixels, width)
    row, other_row = (each * half_width for each in _sources(rows, height))
    near, far = (
        0.75 * flat.take(row + at, axis=0) + 0.25 * flat.take(other_row + at, axis=0)
        for at in _sources(columns, half_width)
    )
    return np.asarray(0.75 * near + 0.25 * far, np.float32)


def _sources(at: Ints, length: int) -> tuple[Ints, Ints]:
    """Return the nearest and the second nearest pixels on the coarser scale, along one axis."""
    near = at // 2
    return near, np.clip(near - 1 + 2 * (at % 2), 0, length - 1)
