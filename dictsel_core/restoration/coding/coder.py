"""Planes that share a mask: code their patches, take the median at each pixel, coarse to fine."""

from collections.abc import Generator, Iterator

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.runs import GeneratorRun
from dictsel_core._support.threads import as_thread_count
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.patches import MirroredPatches, median_of_patches
from dictsel_core.restoration.canvas import Plane, Planes
from dictsel_core.restoration.coding.pyramid import double_at, halve
from dictsel_core.restoration.coding.rebuilding import FilledPlanes, PatchRebuilder
from dictsel_core.restoration.settings import ResolvedSettings


class PatchCoder:
    """Codes patches in a dictionary, and counts how often each atom is used.

    Parameters
    ----------
    rebuild : PatchRebuilder
    threads : int
    thinning : {1, 2, 4}
        Code every patch, every second or every fourth one; every one if the height of a patch is odd.
    """

    def __init__(self, rebuild: PatchRebuilder, threads: int, *, thinning: int) -> None:
        self._rebuild = rebuild
        self.size = rebuild.size
        self._thinning = thinning if self.size % 2 == 0 else 1
        self._threads = threads
        self._counts: list[tuple[Ints, int]] = []  # by chunk, appended to by all threads

    @property
    def usage(self) -> Ints:
        """How many of the coded patches use each atom: (k,)."""
        return sum((used for used, _ in self._counts), np.zeros(self._rebuild.n_atoms, dtype=np.intp))

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
        missing : (H, W) ndarray of bool
        wanted : (H, W) ndarray of bool
            Pixels to estimate.

        Yields
        ------
        rows : slice
        pixels : (N,) ndarray of int
            Wanted pixels of these rows, counted row by row through the planes.
        values : (N, C) ndarray
            As in `filled` if no patch has an estimate.
        """
        n_channels = filled.shape[2]
        patches = MirroredPatches(missing.shape, self.size)
        planes = FilledPlanes(filled, np.require(missing, requirements=["C", "W"]), patches)

        def rebuild(rows: Ints, columns: Ints, out: Planes, first: int) -> None:
            used = self._rebuild(planes, rows, columns, out, first)
            self._counts.append((used, n_channels * len(rows)))

        for rows, pixels, medians in median_of_patches(
            wanted, self.size, n_channels, rebuild, self._threads, thinning=self._thinning
        ):
            known = filled.reshape(-1, n_channels)[pixels]
            yield rows, pixels, np.where(np.isnan(medians), known, medians)


def patch_coder(
    dictionary: NDArray[np.float64], settings: ResolvedSettings, *, refined: bool = False
) -> PatchCoder:
    """Return the coder for a dictionary and settings.

    It codes half of the patches, or a quarter if their estimates are refined afterwards: that makes no
    difference then (docs/speed.md).
    """
    thinning = 1 if settings.every_patch else 4 if refined else 2
    rebuild = PatchRebuilder(dictionary, settings.patch_size, settings.coding_sparsity, settings.fill_weight)
    return PatchCoder(rebuild, as_thread_count(settings.threads), thinning=thinning)


def restore_planes(planes: Planes, missing: Bools, coder: PatchCoder) -> Generator[float, None, Planes]:
    """Restore planes that share a mask, and all their coarser scales, the coarsest first.

    Yields the fraction of the work that is done, and returns the planes.

    Parameters
    ----------
    planes : (H, W, C) ndarray
        Zero where missing.
    missing : (H, W) ndarray of bool
    coder : PatchCoder
    """
    n_missing = np.count_nonzero(missing)
    if n_missing in (0, missing.size):
        return planes if n_missing == 0 else np.full_like(planes, 0.5)
    limits, result = observed_limits(planes, missing), np.array(planes, order="C")
    if is_halved(missing.shape, coder.size):
        coarser = GeneratorRun(restore_planes(*halve(planes, missing), coder))
        for fraction in coarser:
            yield fraction / 4
        fill_from(result, missing, coarser.result)
    else:
        result[missing] = planes[~missing].mean(axis=0)
    for fraction in code_planes(result, missing, missing, coder, limits):
        yield 0.25 + 0.75 * fraction
    return result


def is_halved(shape: tuple[int, ...], size: int) -> bool:
    """Return whether planes are restored from a coarser scale; the coarsest scale is filled with its mean."""
    return min(shape[:2]) >= 2 * size


def observed_limits(planes: Planes, missing: Bools) -> tuple[Plane, Plane]:
    """Return the smallest and the largest observed value of each channel: (C,) each."""
    low, high = np.full(planes.shape[2], np.inf, np.float32), np.full(planes.shape[2], -np.inf, np.float32)
    for channel in range(planes.shape[2]):
        observed = planes[:, :, channel][~missing]
        low[channel], high[channel] = observed.min(initial=np.inf), observed.max(initial=-np.inf)
    return low, high


def fill_from(planes: Planes, missing: Bools, coarser: Planes, origin: tuple[int, int] = (0, 0)) -> None:
    """Fill the missing pixels of C-contiguous planes from a coarser scale, where the first is at `origin`."""
    pixels = np.flatnonzero(missing)
    flat = planes.reshape(-1, planes.shape[2])
    flat[pixels] = double_at(coarser, pixels, missing.shape[1], origin)


def code_planes(
    planes: Planes, missing: Bools, wanted: Bools, coder: PatchCoder, limits: tuple[Plane, Plane]
) -> Iterator[float]:
    """Estimate wanted pixels of planes in place, and yield the fraction that is done.

    Parameters
    ----------
    planes : (H, W, C) ndarray
        With a first estimate of every missing pixel; C-contiguous.
    missing, wanted : (H, W) ndarray of bool
    coder : PatchCoder
    limits : two (C,) ndarrays
        Estimates are clipped to these: outliers must not spread to finer scales.
    """
    flat = planes.reshape(-1, planes.shape[2])
    for rows, pixels, values in coder.estimates(planes, missing, wanted):
        flat[pixels] = np.clip(values, *limits)
        yield rows.stop / len(planes)
