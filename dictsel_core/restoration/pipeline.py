"""From a damaged picture to a restored one: select, fill coarse to fine, code."""

import time
from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._runs import Run
from dictsel_core._threads import as_thread_count
from dictsel_core._validation import Bools
from dictsel_core.ground_set import GroundSet, standard_ground_set
from dictsel_core.restoration.canvas import Canvas, Plane, as_canvas
from dictsel_core.restoration.coding import WindowCoder
from dictsel_core.restoration.pyramid import double, halve
from dictsel_core.restoration.result import Restoration, RestoreStep
from dictsel_core.restoration.sampling import sample_patches
from dictsel_core.restoration.settings import RestoreSettings
from dictsel_core.selection import Selection, SelectionRun, iter_replacement_omp

FAST = RestoreSettings.preset("fast")

#: Where the progress stands after the selection, the coarser scales, and the channels by themselves.
_SELECTED, _COARSE, _CODED = 0.1, 0.25, 0.99


def restore(image: ArrayLike, mask: ArrayLike, settings: RestoreSettings = FAST) -> Restoration:
    """Give a picture its missing pixels back (appendix E of the paper, and beyond).

    A dictionary is selected by Replacement OMP on the damaged picture's own patches, the loss counting
    observed pixels only. Every window, shifted by single pixels, is then coded by OMP on its observed
    pixels and rebuilt whole; a pixel becomes the median of all windows that cover it. Scales are
    restored coarse to fine, the coarser one being a weak observation of what the finer one misses, so
    that holes wider than a window are filled too.

    Parameters
    ----------
    image : (H, W) or (H, W, C) array_like
        Gray, gray + alpha, RGB or RGBA; integers of any depth, or floats. It is not changed. Missing
        pixels may hold anything. Alpha stays, and becomes opaque where a pixel was missing.
    mask : (H, W) or (H, W, C) array_like of bool
        True = missing; by pixel, or by pixel and channel. Where only some channels of a pixel are
        missing, the others help.
    settings : RestoreSettings
        `RestoreSettings.preset` has named ones.

    Returns
    -------
    Restoration
        Its image is finite and inside the range of the observed values.

    Examples
    --------
    >>> import numpy as np
    >>> picture = np.add.outer(np.arange(32), np.arange(32)).astype(np.uint8)
    >>> mask = np.zeros((32, 32), bool)
    >>> mask[10:14, 8:20] = True
    >>> restored = restore(np.where(mask, 0, picture), mask).image
    >>> int(np.abs(restored.astype(int) - picture).max()) <= 1
    True
    """
    return iter_restore(image, mask, settings).finish()


def iter_restore(
    image: ArrayLike, mask: ArrayLike, settings: RestoreSettings = FAST
) -> Run[RestoreStep, Restoration]:
    """Restore step by step: an iterator over `RestoreStep`, whose `result` is the `Restoration`.

    Input is checked at the call. Not asking for the next step is all it takes to cancel. Parameters
    are those of `restore`.
    """
    canvas = as_canvas(image, mask)
    size = settings.patch_size
    ground_set = standard_ground_set((size, size), settings.bases)
    resolved = settings.resolved(1 - canvas.missing_fraction, len(ground_set))
    return Run(_Work(canvas, resolved, ground_set).steps())


def select_dictionary(canvas: Canvas, settings: RestoreSettings, ground_set: GroundSet) -> SelectionRun:
    """Select a dictionary on the patches of the picture itself; settings are resolved."""
    sample = sample_patches(canvas, settings.patch_size, settings.seed)
    return iter_replacement_omp(
        ground_set,
        sample.data,
        settings.constraint_for(len(sample.data)),
        settings.n_atoms or 1,
        mask=sample.mask,
        decay=settings.decay,
    )


class _Work:
    """One restoration under way."""

    def __init__(self, canvas: Canvas, settings: RestoreSettings, ground_set: GroundSet) -> None:
        self.canvas, self.settings, self.ground_set = canvas, settings, ground_set
        self.seconds: dict[str, float] = {}
        self.picture = canvas.blank()

    def steps(self) -> Generator[RestoreStep, None, Restoration]:
        """Select, then restore the coarser scales of all channels, then the channels themselves."""
        canvas, settings = self.canvas, self.settings
        if not canvas.missing.any():
            return Restoration(self.picture, settings, 0.0, None, np.zeros(0, np.intp), 0.0, self.seconds)
        selection = yield from self._select()
        coder = window_coder(selection.dictionary, settings)
        coarse = yield from self._coarse(coder)
        yield from self._fine(coder, coarse)
        if canvas.missing.shape[2] > 1:
            yield from self._learn_from_other_channels(coder)
        return Restoration(
            self.picture,
            settings,
            canvas.missing_fraction,
            selection,
            coder.usage,
            coder.usage.sum() / max(coder.n_windows, 1),
            self.seconds,
        )

    def _select(self) -> Generator[RestoreStep, None, Selection]:
        start = time.perf_counter()
        run = select_dictionary(self.canvas, self.settings, self.ground_set)
        for _ in run:
            yield RestoreStep("select", _SELECTED * len(run.steps) / run.n_atoms)
        self.seconds["select"] = time.perf_counter() - start
        return run.selection

    def _coarse(self, coder: WindowCoder) -> Generator[RestoreStep, None, list[Plane]]:
        """Return each channel at half size, complete."""
        start = time.perf_counter()
        canvas, halves = self.canvas, []
        for channel in range(canvas.n_channels):
            plane, missing = halve(canvas.plane(channel), canvas.mask(channel))
            halves.append(complete(plane, missing, coder, self.settings.patch_size))
            done = (channel + 1) / canvas.n_channels
            yield RestoreStep("coarse", _SELECTED + (_COARSE - _SELECTED) * done)
        preview = self.picture.copy()
        for channel, half in enumerate(halves):
            self._put_plane(preview, channel, double(half, canvas.shape))
        self.seconds["coarse"] = time.perf_counter() - start
        yield RestoreStep("coarse", _COARSE, preview)
        return halves

    def _put_plane(self, picture: NDArray[Any], channel: int, plane: Plane) -> None:
        rows = slice(0, self.canvas.shape[0])
        self.canvas.put(picture, channel, rows, plane, self.canvas.mask(channel))

    def _fine(self, coder: WindowCoder, halves: list[Plane]) -> Generator[RestoreStep, None, None]:
        """Restore every channel at full size into the picture."""
        start = time.perf_counter()
        canvas = self.canvas
        for channel in range(canvas.n_channels):
            missing = canvas.mask(channel)
            wanted = missing if self.settings.keep_observed else np.ones(canvas.shape, bool)
            fill = double(halves[channel], canvas.shape)
            for rows, band in coder.bands(canvas.plane(channel), missing, fill, wanted):
                canvas.put(self.picture, channel, rows, band, wanted[rows])
                done = (channel + rows.stop / canvas.shape[0]) / canvas.n_channels
                yield RestoreStep("code", _COARSE + (_CODED - _COARSE) * done)
        self.seconds["code"] = time.perf_counter() - start

    def _learn_from_other_channels(self, coder: WindowCoder) -> Generator[RestoreStep, None, None]:
        """Estimate a channel from others that are observed at the same pixel.

        Differences of colour channels vary less than the channels do, so they are restored in their
        place where that holds.
        """
        start = time.perf_counter()
        canvas, size = self.canvas, self.settings.patch_size
        channels = range(canvas.n_channels)
        planes = [canvas.plane(channel) for channel in channels]
        for channel in channels:
            total, count = np.zeros(canvas.shape, np.float32), np.zeros(canvas.shape, np.float32)
            for other in channels:
                helped = canvas.mask(channel) & ~canvas.mask(other)
                apart = canvas.mask(channel) | canvas.mask(other)
                if not helped.any() or not varies_less(planes[channel], planes[other], apart):
                    continue
                difference = np.where(apart, 0, planes[channel] - planes[other])
                total += np.where(helped, planes[other] + complete(difference, apart, coder, size), 0)
                count += helped
                yield RestoreStep("channels", _CODED + (1 - _CODED) * (channel + 0.5) / canvas.n_channels)
            rows = slice(0, canvas.shape[0])
            mean: Plane = np.divide(total, np.maximum(count, 1), dtype=np.float32)
            canvas.put(self.picture, channel, rows, mean, count > 0)
        self.seconds["channels"] = time.perf_counter() - start


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


def complete(plane: Plane, missing: Bools, coder: WindowCoder, size: int) -> Plane:
    """Restore a plane and all its coarser scales, the coarsest first."""
    if not missing.any():
        return plane
    if min(plane.shape) >= 2 * size and not missing.all():
        fill = double(complete(*halve(plane, missing), coder, size), plane.shape)
    else:
        fill = np.full_like(plane, plane[~missing].mean() if not missing.all() else 0.5)
    result = np.empty_like(plane)
    for rows, band in coder.bands(plane, missing, fill, missing):
        result[rows] = band
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
