"""One plane: code its patches, take the median of all patches at each pixel, coarse to fine."""

from collections.abc import Callable, Generator, Iterator

import numpy as np
from numpy.typing import NDArray

from dictsel_core._runs import GeneratorRun
from dictsel_core._threads import as_thread_count
from dictsel_core._validation import Bools, Floats, Ints
from dictsel_core.gram_pursuit import MAX_ATOMS, GramPursuit
from dictsel_core.patches import all_patches, median_of_patches, pad
from dictsel_core.pursuit import Pursuit, scatter_codes
from dictsel_core.restoration.canvas import Plane
from dictsel_core.restoration.pyramid import double, double_at, halve
from dictsel_core.restoration.settings import ResolvedSettings

#: Minimum number of observed pixels of a patch if its missing pixels have no weight.
_MIN_OBSERVED = 4


class PatchCoder:
    """Codes patches in a dictionary, and counts how often each atom is used.

    Parameters
    ----------
    dictionary : (d, k) ndarray
        On patches of `size` x `size` pixels.
    size : int
    sparsity : int
        Maximum number of atoms per patch.
    fill_weight : float
        Weight of the fill at missing pixels.
    threads : int
    every_patch : bool
        Code every patch, rather than every second one if `size` is even.
    """

    def __init__(
        self,
        dictionary: Floats,
        size: int,
        sparsity: int,
        fill_weight: float,
        threads: int,
        *,
        every_patch: bool,
    ) -> None:
        atoms = dictionary.astype(np.float32)
        self._code: Callable[[Floats, Floats, Ints], tuple[Ints, Floats]]
        if atoms.shape[1] <= MAX_ATOMS:
            self._code = GramPursuit(atoms, sparsity)
        else:
            pursuit = Pursuit(atoms, sparsity, weak=0 < fill_weight < 1)
            self._code = lambda data, weights, caps: pursuit(data, weights, caps)[:2]
        self._rows = np.ascontiguousarray(atoms.T)
        # Without a constant atom the mean could not be represented, so it is coded separately.
        self._centered = not (np.abs(atoms.sum(axis=0)) > 0.999 * size).any()
        self.size, self._sparsity = size, sparsity
        self._checkered = not every_patch and size % 2 == 0
        self._fill_weight, self._threads = fill_weight, threads
        self._counts: list[tuple[Ints, int]] = []  # by chunk, appended to by all threads

    @property
    def usage(self) -> Ints:
        """How many of the coded patches use each atom: (k,)."""
        return sum((used for used, _ in self._counts), np.zeros(len(self._rows), dtype=np.intp))

    @property
    def n_coded_patches(self) -> int:
        """How many patches have been coded."""
        return sum(count for _, count in self._counts)

    def estimates(self, filled: Plane, missing: Bools, wanted: Bools) -> Iterator[tuple[slice, Ints, Plane]]:
        """Estimate the wanted pixels of a plane, band by band.

        Parameters
        ----------
        filled : (H, W) ndarray
            The plane, with a first estimate of every missing pixel.
        missing : (H, W) ndarray of bool
        wanted : (H, W) ndarray of bool
            Pixels to estimate.

        Yields
        ------
        rows : slice
        pixels : (N,) ndarray of int
            Wanted pixels of these rows, counted row by row through the plane.
        values : (N,) ndarray
            As in `filled` if no patch has an estimate.
        """
        size, weight = self.size, np.float32(self._fill_weight)
        value_patches, missing_patches = (
            all_patches(pad(filled, size), size),
            all_patches(pad(missing, size), size),
        )

        def rebuild(rows: Ints, columns: Ints) -> Floats:
            shape = (len(rows), size * size)
            weights = np.where(missing_patches[rows, columns].reshape(shape), weight, np.float32(1))
            values: Floats = value_patches[rows, columns].reshape(shape)
            return self._rebuild(values, weights)

        for rows, pixels, medians in median_of_patches(
            filled.shape, size, rebuild, wanted, self._threads, checkered=self._checkered
        ):
            yield rows, pixels, np.where(np.isnan(medians), filled.reshape(-1)[pixels], medians)

    def _rebuild(self, values: Floats, weights: Floats) -> Floats:
        """Return patches (B, d) rebuilt from their weighted pixels; NaN if too few are observed."""
        n = len(values)
        caps = np.full(n, self._sparsity)
        means = np.zeros((n, 1), np.float32)
        if self._centered:
            squares = np.square(weights)
            means = np.vecdot(values, squares)[:, None] / np.maximum(squares.sum(axis=1, keepdims=True), 1e-6)
            values = values - means
        supports, coefficients = self._code(values * weights, weights, caps)
        codes = np.zeros((n, len(self._rows)), np.float32)
        scatter_codes(codes, supports, coefficients)
        self._counts.append((np.bincount(supports[supports >= 0], minlength=len(self._rows)), n))
        rebuilt = codes @ self._rows + means
        if self._fill_weight == 0:
            rebuilt[(weights > 0).sum(axis=1) < _MIN_OBSERVED] = np.nan
        return rebuilt


def patch_coder(dictionary: NDArray[np.float64], settings: ResolvedSettings) -> PatchCoder:
    """Return the coder for a dictionary and settings."""
    return PatchCoder(
        dictionary,
        settings.patch_size,
        settings.coding_sparsity,
        settings.fill_weight,
        as_thread_count(settings.threads),
        every_patch=settings.every_patch,
    )


def restore_plane(plane: Plane, missing: Bools, coder: PatchCoder) -> Generator[float, None, Plane]:
    """Restore a plane and all its coarser scales, the coarsest first.

    Yields the fraction of the work that is done, and returns the plane.
    """
    if not missing.any():
        return plane
    if missing.all():
        return np.full_like(plane, 0.5)
    observed = plane[~missing]
    low, high = observed.min(), observed.max()
    pixels = np.flatnonzero(missing)
    result = np.array(plane, order="C")
    if min(plane.shape) >= 2 * coder.size:
        coarser = GeneratorRun(restore_plane(*halve(plane, missing), coder))
        for fraction in coarser:
            yield fraction / 4
        result.reshape(-1)[pixels] = double_at(coarser.result, pixels, plane.shape[1])
    else:
        result.reshape(-1)[pixels] = observed.mean()
    for rows, pixels, values in coder.estimates(result.copy(), missing, missing):
        result.reshape(-1)[pixels] = np.clip(values, low, high)  # outliers must not spread to finer scales
        yield 0.25 + 0.75 * rows.stop / len(plane)
    return result


def has_less_detail(plane: Plane, reference: Plane, missing: Bools) -> bool:
    """Return whether a plane has less detail than a reference, where both are observed."""
    return _detail(plane, missing) < _detail(reference, missing)


def _detail(plane: Plane, missing: Bools) -> float:
    """Return the mean square of what a coarser scale does not represent."""
    if missing.all():
        return 0.0
    return float(np.square(plane - double(halve(plane, missing)[0], plane.shape))[~missing].mean())
