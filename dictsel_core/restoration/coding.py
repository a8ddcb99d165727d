"""One plane: code its windows, take the median of all windows at each pixel, coarse to fine."""

from collections.abc import Callable, Generator, Iterator

import numpy as np
from numpy.typing import NDArray

from dictsel_core._runs import Run
from dictsel_core._threads import as_thread_count
from dictsel_core._validation import Bools, Floats, Ints
from dictsel_core.gram_pursuit import MOST_ATOMS, GramPursuit
from dictsel_core.patches import median_of_windows, pad, windows
from dictsel_core.pursuit import Pursuit, scatter_codes
from dictsel_core.restoration.canvas import Plane
from dictsel_core.restoration.pyramid import double, halve
from dictsel_core.restoration.settings import RestoreSettings

#: With fewer observed pixels, and no fill to lean on, a window has nothing to say.
_ENOUGH = 4


class WindowCoder:
    """Codes windows in a dictionary, and counts how often each atom is used.

    Parameters
    ----------
    dictionary : (d, k) ndarray
        On windows of `size` x `size` pixels.
    size : int
    sparsity : int
        Most atoms one window may use.
    fill_weight : float
        Weight of the fill at missing pixels.
    threads : int
    every_window : bool
        Code every window, rather than every second one where windows are of even size.
    """

    def __init__(
        self,
        dictionary: Floats,
        size: int,
        sparsity: int,
        fill_weight: float,
        threads: int,
        *,
        every_window: bool,
    ) -> None:
        atoms = dictionary.astype(np.float32)
        self._code: Callable[[Floats, Floats, Ints], tuple[Ints, Floats]]
        if atoms.shape[1] <= MOST_ATOMS:
            self._code = GramPursuit(atoms, sparsity)
        else:
            pursuit = Pursuit(atoms, sparsity, weak=0 < fill_weight < 1)
            self._code = lambda data, weights, caps: pursuit(data, weights, caps)[:2]
        self._rows = np.ascontiguousarray(atoms.T)
        # Without a constant atom no brightness could be rebuilt: it is then set apart.
        self._centred = not (np.abs(atoms.sum(axis=0)) > 0.999 * size).any()
        self.size, self._sparsity = size, sparsity
        self._checkered = not every_window and size % 2 == 0
        self._fill_weight, self._threads = fill_weight, threads
        self._counts: list[tuple[NDArray[np.intp], int]] = []

    @property
    def usage(self) -> NDArray[np.intp]:
        """How many windows used each atom: (k,)."""
        return sum((used for used, _ in self._counts), np.zeros(len(self._rows), dtype=np.intp))

    @property
    def n_windows(self) -> int:
        """How many windows were coded."""
        return sum(count for _, count in self._counts)

    def bands(
        self, plane: Plane, missing: Bools, fill: Plane, wanted: Bools
    ) -> Iterator[tuple[slice, Plane]]:
        """Restore the wanted pixels of a plane, band by band.

        Parameters
        ----------
        plane : (H, W) ndarray
        missing : (H, W) ndarray of bool
        fill : (H, W) ndarray
            A first guess at every missing pixel.
        wanted : (H, W) ndarray of bool
            Pixels to restore; the others come out as they are, or as the fill where missing.

        Yields
        ------
        rows : slice
        band : (len(rows), W) ndarray
        """
        size = self.size
        filled = np.where(missing, fill, plane)
        weights = np.where(missing, np.float32(self._fill_weight), np.float32(1))
        value_windows, weight_windows = (windows(pad(each, size), size) for each in (filled, weights))

        def rebuild(rows: Ints, columns: Ints) -> Floats:
            shape = (len(rows), size * size)
            return self._rebuild(
                value_windows[rows, columns].reshape(shape), weight_windows[rows, columns].reshape(shape)
            )

        for rows, medians in median_of_windows(
            plane.shape, size, rebuild, wanted, self._threads, checkered=self._checkered
        ):
            yield rows, np.where(np.isnan(medians), filled[rows], medians)

    def _rebuild(self, values: Floats, weights: Floats) -> Floats:
        """Rebuild windows (B, d) from their weighted pixels; NaN where those are too few."""
        n = len(values)
        caps = np.full(n, self._sparsity)
        means = np.zeros((n, 1), np.float32)
        if self._centred:
            squares = np.square(weights)
            means = np.vecdot(values, squares)[:, None] / np.maximum(squares.sum(axis=1, keepdims=True), 1e-6)
            values = values - means
        supports, coefficients = self._code(values * weights, weights, caps)
        codes = np.zeros((n, len(self._rows)), np.float32)
        scatter_codes(codes, supports, coefficients)
        self._counts.append((np.bincount(supports[supports >= 0], minlength=len(self._rows)), n))
        rebuilt = codes @ self._rows + means
        if self._fill_weight == 0:  # else the fill has its say
            rebuilt[(weights > 0).sum(axis=1) < _ENOUGH] = np.nan
        return rebuilt


def window_coder(dictionary: NDArray[np.float64], settings: RestoreSettings) -> WindowCoder:
    """Return the coder that resolved settings ask for."""
    return WindowCoder(
        dictionary,
        settings.patch_size,
        settings.coding_sparsity or 1,
        settings.fill_weight,
        as_thread_count(settings.threads),
        every_window=settings.every_window,
    )


def complete(plane: Plane, missing: Bools, coder: WindowCoder) -> Generator[float, None, Plane]:
    """Restore a plane and all its coarser scales, the coarsest first.

    Yields the part of the work that is done, and returns the plane.
    """
    if not missing.any():
        return plane
    if missing.all():
        return np.full_like(plane, 0.5)
    low, high = plane[~missing].min(), plane[~missing].max()
    fill = np.full_like(plane, plane[~missing].mean())
    if min(plane.shape) >= 2 * coder.size:
        coarser = Run(complete(*halve(plane, missing), coder))
        for part in coarser:
            yield part / 4
        fill = double(coarser.result, plane.shape)
    result = np.empty_like(plane)
    for rows, band in coder.bands(plane, missing, fill, missing):
        result[rows] = np.clip(band, low, high)  # a guess gone astray must not spread to finer scales
        yield 0.25 + 0.75 * rows.stop / len(plane)
    return result


def varies_less(plane: Plane, other: Plane, missing: Bools) -> bool:
    """Tell whether plane - other has less detail than plane has, where both are observed."""
    detail, difference = (
        np.square(each - double(halve(each, missing)[0], each.shape))[~missing].mean()
        if not missing.all()
        else 0.0
        for each in (plane, plane - other)
    )
    return bool(difference < detail)
