"""From a damaged picture to a restored one: select, fill coarse to fine, code, refine."""

import time
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._runs import Run
from dictsel_core._threads import as_thread_count
from dictsel_core._validation import Bools
from dictsel_core.ground_set import GroundSet, standard_ground_set
from dictsel_core.restoration.canvas import Canvas, Plane, as_canvas
from dictsel_core.restoration.coding import WindowCoder, complete, varies_less, window_coder
from dictsel_core.restoration.pyramid import double, halve
from dictsel_core.restoration.refinement import Planes
from dictsel_core.restoration.result import Restoration, RestoreStep
from dictsel_core.restoration.rounds import (
    MOST_ROUNDS,
    UNJUDGED_ROUNDS,
    hold_out,
    refine,
    refine_while_it_helps,
)
from dictsel_core.restoration.sampling import sample_patches
from dictsel_core.restoration.settings import RestoreSettings
from dictsel_core.selection import Selection, SelectionRun, iter_replacement_omp

DEFAULTS = RestoreSettings()

#: Where the progress of the first restoration stands after the selection and after the coarser scales.
_SELECTED, _COARSE = 0.1, 0.2
#: The work of one round of refinement, as a multiple of the first restoration's.
_WORK_OF_A_ROUND = 1.5


def restore(image: ArrayLike, mask: ArrayLike, settings: RestoreSettings = DEFAULTS) -> Restoration:
    """Give a picture its missing pixels back (appendix E of the paper, and beyond).

    A dictionary is selected by Replacement OMP on the damaged picture's own patches, the loss counting
    observed pixels only. Every window, shifted by single pixels, is then coded by OMP on its observed
    pixels and rebuilt whole; a pixel becomes the median of all windows that cover it. Scales are
    restored coarse to fine, the coarser one being a weak observation of what the finer one misses, so
    that holes wider than a window are filled too. Rounds of non-local refinement then let similar
    windows tell each other what they miss.

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
    image: ArrayLike, mask: ArrayLike, settings: RestoreSettings = DEFAULTS
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
        self.whole, self.settings, self.ground_set = canvas, settings, ground_set
        self.seconds: dict[str, float] = {}
        self.progress = 0.0
        self.picture = canvas.blank()
        self.held_out = np.zeros_like(canvas.missing)
        if settings.rounds is None:
            self.held_out = hold_out(canvas.missing, np.random.default_rng([settings.seed, 2018]))
        #: The picture without the pixels that are held out.
        self.canvas = replace(canvas, missing=canvas.missing | self.held_out)
        #: Where the progress stands when every channel is coded by itself; others may help it after that.
        self.coded = 1.0 if canvas.missing.shape[2] == 1 else 0.45
        n_rounds = MOST_ROUNDS if settings.rounds is None else settings.rounds
        #: Where the progress stands before and after the first restoration.
        self.first_part = (0.0, 1 / (1 + _WORK_OF_A_ROUND * n_rounds))

    def steps(self) -> Generator[RestoreStep, None, Restoration]:
        """Restore a first time, then refine."""
        if not self.whole.missing.any():
            unused = np.zeros(0, np.intp)
            return Restoration(self.picture, self.settings, 0.0, None, unused, 0.0, 0, self.seconds)
        selection, coder = yield from self._first()
        n_rounds = yield from self._refine()
        if n_rounds == 0 and self.held_out.any():  # they were held out in vain
            self.canvas, self.picture = self.whole, self.whole.blank()
            self.first_part = (self.progress, 1.0)
            selection, coder = yield from self._first()
        return Restoration(
            self.picture,
            self.settings,
            self.whole.missing_fraction,
            selection,
            coder.usage,
            coder.usage.sum() / max(coder.n_windows, 1),
            n_rounds,
            self.seconds,
        )

    def _first(self) -> Generator[RestoreStep, None, tuple[Selection, WindowCoder]]:
        """Select, then restore the coarser scales of all channels, then the channels themselves."""
        run = Run(self._select_and_code())
        start, end = self.first_part
        for step in run:
            yield replace(step, fraction=start + (end - start) * step.fraction)
        return run.result

    def _select_and_code(self) -> Generator[RestoreStep, None, tuple[Selection, WindowCoder]]:
        selection = yield from self._select()
        coder = window_coder(selection.dictionary, self.settings)
        coarse = yield from self._coarse(coder)
        yield from self._fine(coder, coarse)
        if self.canvas.missing.shape[2] > 1:
            yield from self._learn_from_other_channels(coder)
        yield RestoreStep("code", 1.0, self.picture)
        return selection, coder

    def _select(self) -> Generator[RestoreStep, None, Selection]:
        start = time.perf_counter()
        run = select_dictionary(self.canvas, self.settings, self.ground_set)
        for _ in run:
            yield RestoreStep("select", _SELECTED * len(run.steps) / run.n_atoms)
        self._spent("select", start)
        return run.selection

    def _coarse(self, coder: WindowCoder) -> Generator[RestoreStep, None, list[Plane]]:
        """Return each channel at half size, complete."""
        start = time.perf_counter()
        canvas, halves = self.canvas, []
        for channel in range(canvas.n_channels):
            plane, missing = halve(canvas.plane(channel), canvas.mask(channel))
            run = Run(complete(plane, missing, coder))
            for part in run:
                done = (channel + part) / canvas.n_channels
                yield RestoreStep("coarse", _SELECTED + (_COARSE - _SELECTED) * done)
            halves.append(run.result)
        preview = self.picture.copy()
        for channel, half in enumerate(halves):
            self._put_plane(preview, channel, double(half, canvas.shape))
        self._spent("coarse", start)
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
                yield RestoreStep("code", _COARSE + (self.coded - _COARSE) * done)
        self._spent("code", start)

    def _learn_from_other_channels(self, coder: WindowCoder) -> Generator[RestoreStep, None, None]:
        """Estimate a channel from others that are observed at the same pixel.

        Differences of colour channels vary less than the channels do, so they are restored in their
        place where that holds.
        """
        start = time.perf_counter()
        canvas = self.canvas
        channels = range(canvas.n_channels)
        planes = [canvas.plane(channel) for channel in channels]
        for channel in channels:
            total, count = np.zeros(canvas.shape, np.float32), np.zeros(canvas.shape, np.float32)
            for other in channels:
                helped = canvas.mask(channel) & ~canvas.mask(other)
                apart = canvas.mask(channel) | canvas.mask(other)
                if not helped.any():
                    continue
                if canvas.mask(channel).all():  # nothing is known of its own: gray is the best guess
                    difference = np.zeros(canvas.shape, np.float32)
                elif varies_less(planes[channel], planes[other], apart):
                    run = Run(complete(np.where(apart, 0, planes[channel] - planes[other]), apart, coder))
                    for part in run:
                        done = (channel + (other + part) / canvas.n_channels) / canvas.n_channels
                        yield RestoreStep("channels", self.coded + (1 - self.coded) * done)
                    difference = run.result
                else:
                    continue
                total += np.where(helped, planes[other] + difference, 0)
                count += helped
            rows = slice(0, canvas.shape[0])
            mean: Plane = np.divide(total, np.maximum(count, 1), dtype=np.float32)
            canvas.put(self.picture, channel, rows, mean, count > 0)
        self._spent("channels", start)

    def _refine(self) -> Generator[RestoreStep, None, int]:
        """Refine the picture, and return the number of rounds that were made."""
        if self.settings.rounds == 0:
            return 0
        start = time.perf_counter()
        # Of a channel that is observed nowhere, similar windows know nothing either.
        known_channels = ~np.broadcast_to(self.whole.missing.all(axis=(0, 1)), self.whole.n_channels)
        planes = self.canvas.planes(self.picture)[:, :, known_channels]
        layers = known_channels if self.whole.missing.shape[2] > 1 else slice(None)
        missing, held_out = self.whole.missing[:, :, layers], self.held_out[:, :, layers]
        threads = as_thread_count(self.settings.threads)
        if self.settings.rounds is None and held_out.any():
            known = self._known(known_channels)[np.broadcast_to(held_out, planes.shape)]
            run = Run(refine_while_it_helps(planes, missing, held_out, known, threads))
        else:
            run = Run(refine(planes, missing, self.settings.rounds or UNJUDGED_ROUNDS, threads))
        for step in run:
            if step.ended:
                self._put_planes(planes, known_channels)
            self.progress = self.first_part[1] + (1 - self.first_part[1]) * step.fraction
            yield RestoreStep("refine", self.progress, self.picture if step.ended else None)
        self._spent("refine", start)
        return run.result

    def _known(self, channels: Bools) -> Planes:
        """Return the observed values of some channels, 0 where missing: (H, W, C)."""
        return np.stack([self.whole.plane(channel) for channel in np.flatnonzero(channels).tolist()], axis=2)

    def _spent(self, stage: str, start: float) -> None:
        """Count the time since `start` to a stage."""
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start

    def _put_planes(self, planes: Planes, channels: Bools) -> None:
        """Make a new picture with all that was missing taken from some planes; gray where there is none."""
        self.picture = self.whole.blank()
        rows, columns = slice(0, planes.shape[0]), iter(np.moveaxis(planes, 2, 0))
        for channel, known in enumerate(channels):
            plane = next(columns) if known else planes.mean(axis=2)
            self.whole.put(self.picture, channel, rows, plane, self.whole.mask(channel))
