"""Planes that share a mask: code their patches, take the median at each pixel, coarse to fine."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.threads import as_thread_count
from dictsel_core._support.validation import Bools, Ints
from dictsel_core.patches import MirroredPatches, median_of_patches
from dictsel_core.restoration.canvas import Plane, Planes
from dictsel_core.restoration.coding.pyramid import double_at, halve
from dictsel_core.restoration.coding.rebuilding import FilledPlanes, PatchRebuilder
from dictsel_core.restoration.settings import ResolvedSettings

#: Fraction of the work of `restore_planes` that coarser scales take.
CODED_FROM = 0.25
#: Estimate of planes in unit range of which nothing is observed.
_UNKNOWN = 0.5


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
    coder: PatchCoder,
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
    coder : PatchCoder
    wanted : (H, W) ndarray of bool, optional
        Pixels to estimate; by default the missing ones.
    limits : two (C,) ndarrays, optional
        What estimates are clipped to; by default the range of the observed values.
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
        limits = observed_limits(planes, missing) if coarsest is None else coarsest.limits
    if coarsest is not None or min(missing.shape) >= 2 * coder.size:
        coarser, unknown = halve(planes, missing)
        if unknown.any():
            for fraction in restore_planes(coarser, unknown, coder, coarsest=coarsest, level=level + 1):
                yield fraction * CODED_FROM
        fill_from(planes, missing, coarser)
    else:
        planes[missing] = _UNKNOWN if missing.all() else planes[~missing].mean(axis=0)
    yield CODED_FROM
    for fraction in code_planes(planes, missing, wanted, coder, limits):
        yield CODED_FROM + (1 - CODED_FROM) * fraction


def observed_limits(planes: Planes, missing: Bools) -> tuple[Plane, Plane]:
    """Return the smallest and the largest observed value of each channel: (C,) each."""
    observed = [planes[:, :, channel][~missing] for channel in range(planes.shape[2])]
    if missing.all():
        return np.zeros(len(observed), np.float32), np.ones(len(observed), np.float32)
    return np.array([each.min() for each in observed]), np.array([each.max() for each in observed])


def fill_from(planes: Planes, missing: Bools, coarser: Planes) -> None:
    """Fill the missing pixels of C-contiguous planes from a coarser scale."""
    pixels = np.flatnonzero(missing)
    planes.reshape(-1, planes.shape[2])[pixels] = double_at(coarser, pixels, missing.shape[1])


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
