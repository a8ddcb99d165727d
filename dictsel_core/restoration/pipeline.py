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
from dictsel_core.restoration.settings import RestoreSettings, as_settings
from dictsel_core.selection import Selection, SelectionRun, iter_replacement_ols, iter_replacement_omp

#: Where the progress of the first restoration stands after the selection and after the coarser scales.
_SELECTED, _COARSE = 0.1, 0.2
#: Part of the coding after which the picture is worth showing again.
_WORTH_SHOWING = 1 / 8
#: The work of one round of refinement, as a multiple of the first restoration's.
_WORK_OF_A_ROUND = 1.5


def restore(
    image: ArrayLike, mask: ArrayLike | None = None, settings: RestoreSettings | str | None = None
) -> Restoration:
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
        missing, the others help. What a masked array hides is missing too; it needs no other mask.
    settings : RestoreSettings or str, optional
        Or the name of a preset, see `RestoreSettings.preset`; "balanced" if left out.

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
    image: ArrayLike, mask: ArrayLike | None = None, settings: RestoreSettings | str | None = None
) -> Run[RestoreStep, Restoration]:
    """Restore step by step: an iterator over `RestoreStep`, whose `result` is the `Restoration`.

    Input is checked at the call. Not asking for the next step is all it takes to cancel. Parameters
    are those of `restore`.
    """
    canvas = as_canvas(image, mask)
    asked = as_settings(settings)
    ground_set = standard_ground_set((asked.patch_size, asked.patch_size), asked.bases)
    resolved = asked.resolved(1 - canvas.missing_fraction, len(ground_set))
    return Run(_Work(canvas, resolved, ground_set).steps())


def select_dictionary(canvas: Canvas, settings: RestoreSettings, ground_set: GroundSet) -> SelectionRun:
    """Select a dictionary on the patches of the picture itself; settings are resolved."""
    sample = sample_patches(canvas, settings.patch_size, settings.seed)
    constraint, n_atoms = settings.constraint_for(len(sample.data)), settings.n_atoms or 1
    if settings.selector == "rols":
        return iter_replacement_ols(ground_set, sample.data, constraint, n_atoms, mask=sample.mask)
    decay = settings.selector == "rompd"
    return iter_replacement_omp(ground_set, sample.data, constraint, n_atoms, mask=sample.mask, decay=decay)


class _Work:
    """One restoration under way."""

    selection: Selection
    coder: WindowCoder

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
        yield from self._first()
        n_rounds = yield from self._refine()
        if n_rounds == 0 and self.held_out.any():  # they were held out in vain
            self.canvas, self.picture = self.whole, self.whole.blank()
            self.first_part = (self.progress, 1.0)
            yield from self._first()
        return self._so_far(self.picture, n_rounds)

    def _so_far(self, picture: NDArray[Any], n_rounds: int = 0) -> Restoration:
        """Return what has led to a picture."""
        usage = self.coder.usage
        return Restoration(
            picture,
            self.settings,
            self.whole.missing_fraction,
            self.selection,
            usage,
            usage.sum() / max(self.coder.n_windows, 1),
            n_rounds,
            dict(self.seconds),
        )

    def _copy(self) -> NDArray[Any]:
        """Return a copy of the picture so far, with what was held out as it is."""
        copy, n_channels = self.picture.copy(), self.whole.n_channels
        colours, given = (np.atleast_3d(each)[:, :, :n_channels] for each in (copy, self.whole.image))
        np.copyto(colours, given, where=self.held_out)
        return copy

    def _first(self) -> Generator[RestoreStep, None, None]:
        """Select, then restore the coarser scales of all channels, then the channels themselves."""
        start, end = self.first_part
        for step in self._select_and_code():
            yield replace(step, fraction=start + (end - start) * step.fraction)

    def _select_and_code(self) -> Generator[RestoreStep, None, None]:
        yield from self._select()
        coarse = yield from self._coarse()
        yield from self._fine(coarse)
        if self.canvas.missing.shape[2] > 1:
            yield from self._learn_from_other_channels()

    def _select(self) -> Generator[RestoreStep, None, None]:
        start = time.perf_counter()
        run = select_dictionary(self.canvas, self.settings, self.ground_set)
        for _ in run:
            yield RestoreStep("select", _SELECTED * len(run.steps) / run.n_atoms)
        self._spent("select", start)
        self.selection = run.selection
        self.coder = window_coder(self.selection.dictionary, self.settings)

    def _coarse(self) -> Generator[RestoreStep, None, list[Plane]]:
        """Fill the picture from coarser scales; returns each channel at half size, complete."""
        start = time.perf_counter()
        canvas, halves = self.canvas, []
        for channel in range(canvas.n_channels):
            plane, missing = halve(canvas.plane(channel), canvas.mask(channel))
            run = Run(complete(plane, missing, self.coder))
            for part in run:
                done = (channel + part) / canvas.n_channels
                yield RestoreStep("coarse", _SELECTED + (_COARSE - _SELECTED) * done)
            halves.append(run.result)
        rows = slice(0, canvas.shape[0])
        for channel, half in enumerate(halves):
            canvas.put(self.picture, channel, rows, double(half, canvas.shape), canvas.mask(channel))
        self._spent("coarse", start)
        yield RestoreStep("coarse", _COARSE, self._so_far(self._copy()))
        return halves

    def _fine(self, halves: list[Plane]) -> Generator[RestoreStep, None, None]:
        """Restore every channel at full size into the picture."""
        start = time.perf_counter()
        canvas, shown = self.canvas, 0.0
        for channel in range(canvas.n_channels):
            missing = canvas.mask(channel)
            wanted = missing if self.settings.keep_observed else np.ones(canvas.shape, bool)
            fill = double(halves[channel], canvas.shape)
            for rows, band in self.coder.bands(canvas.plane(channel), missing, fill, wanted):
                canvas.put(self.picture, channel, rows, band, wanted[rows])
                done = (channel + rows.stop / canvas.shape[0]) / canvas.n_channels
                step = RestoreStep("code", _COARSE + (self.coded - _COARSE) * done)
                if done == 1 or done - shown >= _WORTH_SHOWING:
                    shown, step = done, replace(step, so_far=self._so_far(self._copy()))
                yield step
        self._spent("code", start)

    def _learn_from_other_channels(self) -> Generator[RestoreStep, None, None]:
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
                    run = Run(
                        complete(np.where(apart, 0, planes[channel] - planes[other]), apart, self.coder)
                    )
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
        yield RestoreStep("channels", 1.0, self._so_far(self._copy()))

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
        n_rounds = 0
        for step in run:
            self.progress = self.first_part[1] + (1 - self.first_part[1]) * step.fraction
            so_far = None
            if step.ended:
                self._put_planes(planes, known_channels)
                n_rounds += 1
                so_far = self._so_far(self.picture, n_rounds)
            yield RestoreStep("refine", self.progress, so_far)
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
