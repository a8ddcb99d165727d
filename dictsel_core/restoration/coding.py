"""One plane at one scale: code every window, take the median of all windows at each pixel."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dictsel_core._validation import Bools, Floats, Ints
from dictsel_core.gram_pursuit import MOST_ATOMS, GramPursuit
from dictsel_core.patches import median_of_windows, pad, windows
from dictsel_core.pursuit import Pursuit, scatter_codes
from dictsel_core.restoration.canvas import Plane


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
        self._size, self._sparsity = size, sparsity
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
        size = self._size
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
        """Rebuild windows (B, d) from their weighted pixels; NaN without any observed one."""
        n = len(values)
        caps = np.full(n, self._sparsity)
        supports, coefficients = self._code(values * weights, weights, caps)
        codes = np.zeros((n, len(self._rows)), np.float32)
        scatter_codes(codes, supports, coefficients)
        self._counts.append((np.bincount(supports[supports >= 0], minlength=len(self._rows)), n))
        rebuilt = codes @ self._rows
        rebuilt[~weights.any(axis=1)] = np.nan
        return rebuilt
