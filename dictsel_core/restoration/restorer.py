"""One restoration in progress: select, code coarse to fine, complete wide holes, refine."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from dictsel_core._runs import GeneratorRun
from dictsel_core._threads import as_thread_count
from dictsel_core._validation import Bools
from dictsel_core.ground_set import GroundSet
from dictsel_core.restoration.canvas import Canvas, Planes
from dictsel_core.restoration.channels import estimate_from_others
from dictsel_core.restoration.coding import PatchCoder, patch_coder, restore_planes
from dictsel_core.restoration.density import options_for
from dictsel_core.restoration.dictionary import KnownDictionary
from dictsel_core.restoration.pyramid import double_at, halve
from dictsel_core.restoration.refinement import Refiner
from dictsel_core.restoration.result import Restoration, RestoreStep, Stage
from dictsel_core.restoration.rounds import (
    BEST_ROUNDS,
    RoundStep,
    hold_out,
    refine,
    refine_unless_harmful,
)
from dictsel_core.restoration.sampling import sample_patches, select_dictionary
from dictsel_core.restoration.settings import ResolvedSettings
from dictsel_core.restoration.wide import pixels_to_complete

#: Fraction of the first estimate that is done after the selection, and after the coarser scales.
_SELECTED, _COARSE = 0.1, 0.2
#: The same after the coding, if channels are estimated from each other after that.
_CODED = 0.45
#: Fraction of the coding after which there is a new partial result.
_PARTIAL_INTERVAL = 1 / 8
#: Work of one round of refinement, and of the completion, as a multiple of that of the first estimate.
_WORK_OF_A_ROUND, _WORK_OF_COMPLETION = 1.5, 1.0


class Restorer:
    """Restores an image: a first estimate by coding, then completion of wide holes, then refinement.

    Everything happens to float planes of unit range, which are converted to the dtype of the image once, at
    the end or for a partial result.

    Parameters
    ----------
    canvas : Canvas
    settings : ResolvedSettings
    ground_set : GroundSet
    known : KnownDictionary, optional
        Used in place of a new one.
    completed : (H, W) ndarray of bool, optional
        Wide holes without any of these pixels stay as they are estimated first.
    """

    _dictionary: KnownDictionary
    _coder: PatchCoder

    def __init__(
        self,
        canvas: Canvas,
        settings: ResolvedSettings,
        ground_set: GroundSet,
        known: KnownDictionary | None = None,
        *,
        completed: Bools | None = None,
    ) -> None:
        self._known = known
        self._canvas, self._settings, self._ground_set = canvas, settings, ground_set
        self._held_out = np.zeros_like(canvas.missing)
        if settings.rounds is None:
            self._held_out = hold_out(canvas.missing, np.random.default_rng([settings.seed, 2018]))
        #: The image without the held-out pixels.
        self._visible = replace(canvas, missing=canvas.missing | self._held_out)
        self._planes: Planes = self._visible.planes()
        #: Pixels of wide holes, which are completed by example and not refined (H, W).
        self._wide = pixels_to_complete(canvas, settings.fill, completed)
        self._seconds: dict[str, float] = {}
        self._fraction = 0.0

    def steps(self) -> Generator[RestoreStep, None, Restoration]:
        """Yield the progress, and return the result."""
        if not self._canvas.missing.any():
            return self._nothing_missing()
        rounds = self._settings.rounds
        work = np.cumsum(
            [
                1,
                _WORK_OF_COMPLETION if self._wide.any() else 0,
                _WORK_OF_A_ROUND * (BEST_ROUNDS if rounds is None else rounds),
            ]
        )
        estimated, completed, _ = (float(each) for each in work / work[-1])
        yield from self._scaled(self._first_estimate(refined=rounds != 0), 0.0, estimated)
        yield from self._scaled(self._complete(), estimated, completed)
        n_rounds = 0
        if rounds != 0:
            n_rounds = yield from self._refine(completed)
        if n_rounds == 0 and self._held_out.any():  # restore again, without holding anything out
            copied = self._planes[self._wide]
            self._visible, self._planes = self._canvas, self._canvas.planes()
            yield from self._scaled(self._first_estimate(refined=False), self._fraction, 1.0)
            self._planes[self._wide] = copied
        return self._restoration(n_rounds)

    def _nothing_missing(self) -> Restoration:
        image, none = self._canvas.image.copy(order="K"), np.zeros(0, np.intp)
        return Restoration(
            image,
            self._settings,
            0.0,
            None,
            none.reshape(0, 2),
            none,
            0,
            0,
            self._seconds,
            ranges=self._canvas.ranges,
        )

    def _restoration(self, n_rounds: int = 0) -> Restoration:
        """Return the result as it is now."""
        return self._snapshot(n_rounds)()

    def _snapshot(self, n_rounds: int = 0) -> Callable[[], Restoration]:
        """Keep the restored values as they are now, and return what makes a result of them."""
        render = self._canvas.snapshot(self._planes, keep_observed=self._settings.keep_observed)
        usage, n_coded, seconds = self._coder.usage, self._coder.n_coded_patches, dict(self._seconds)

        def restoration() -> Restoration:
            return Restoration(
                render(),
                self._settings,
                self._canvas.missing_fraction,
                self._dictionary.selection,
                self._dictionary.positions,
                usage,
                n_coded,
                n_rounds,
                seconds,
                self._dictionary.atoms,
                self._canvas.ranges,
            )

        return restoration

    def _scaled(self, steps: Iterator[RestoreStep], start: float, end: float) -> Iterator[RestoreStep]:
        """Yield steps as a part of the whole work, from one fraction of it to another."""
        for step in steps:
            self._fraction = start + (end - start) * step.fraction
            yield replace(step, fraction=self._fraction)

    @contextmanager
    def _timed(self, stage: Stage) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._seconds[stage] = self._seconds.get(stage, 0.0) + time.perf_counter() - start

    def _first_estimate(self, *, refined: bool) -> Iterator[RestoreStep]:
        """Select a dictionary, then code the coarser scales of all channels, then the channels themselves.

        Refinement makes up for patches that are left out, so there are fewer if it follows.
        """
        yield from self._select()
        self._coder = patch_coder(self._dictionary.atoms.atoms, self._settings, refined=refined)
        yield from self._code_coarser_scales()
        per_channel = self._canvas.missing.shape[2] > 1
        yield from self._code(_CODED if per_channel else 1.0)
        if per_channel:
            yield from self._estimate_from_others()

    def _select(self) -> Iterator[RestoreStep]:
        if self._known is not None:
            self._dictionary = self._known
            return
        with self._timed("select"):
            sample = sample_patches(self._visible, self._settings.patch_size, self._settings.seed)
            run = select_dictionary(sample, self._settings, self._ground_set)
            for _ in run:
                yield RestoreStep("select", _SELECTED * len(run.steps) / run.n_atoms)
        self._dictionary = KnownDictionary.selected(run.result, sample.positions)

    def _layers(self) -> Iterator[tuple[float, Bools, Planes]]:
        """Yield the channels by the masks that they share, with the fraction of the channels before them.

        Their planes (H, W, C) are views, in which results are put.
        """
        n_layers = self._visible.missing.shape[2]
        for layer in range(n_layers):
            planes = self._planes if n_layers == 1 else self._planes[:, :, layer : layer + 1]
            yield layer / n_layers, self._visible.mask(layer), planes

    def _code_coarser_scales(self) -> Iterator[RestoreStep]:
        """Fill the image from coarser scales."""
        n_layers = self._visible.missing.shape[2]
        with self._timed("coarse"):
            for before, missing, target in self._layers():
                run = GeneratorRun(restore_planes(*halve(target, missing), self._coder))
                for fraction in run:
                    done = before + fraction / n_layers
                    yield RestoreStep("coarse", _SELECTED + (_COARSE - _SELECTED) * done)
                target[missing] = double_at(run.result, np.flatnonzero(missing), missing.shape[1])
        yield RestoreStep("coarse", _COARSE, self._snapshot())

    def _code(self, end: float) -> Iterator[RestoreStep]:
        """Code every channel at full size."""
        (height, width), n_layers, shown = self._canvas.shape, self._visible.missing.shape[2], 0.0
        with self._timed("code"):
            for before, missing, target in self._layers():
                wanted = missing if self._settings.keep_observed else np.ones_like(missing)
                filled = np.ascontiguousarray(target)
                for rows, pixels, values in self._coder.estimates(filled, missing, wanted):
                    target[np.divmod(pixels, width)] = np.clip(values, 0, 1)
                    done = before + rows.stop / height / n_layers
                    step = RestoreStep("code", _COARSE + (end - _COARSE) * done)
                    if done < 1 and done - shown >= _PARTIAL_INTERVAL:
                        shown, step = done, replace(step, make_partial=self._snapshot())
                    yield step
        yield RestoreStep("code", end, self._snapshot())

    def _estimate_from_others(self) -> Iterator[RestoreStep]:
        """Estimate each channel from others that are observed at the same pixels."""
        canvas = self._visible
        with self._timed("channels"):
            planes = canvas.planes()
            for channel in range(canvas.n_channels):
                run = GeneratorRun(estimate_from_others(canvas, planes, channel, self._coder))
                for fraction in run:
                    done = (channel + fraction) / canvas.n_channels
                    yield RestoreStep("channels", _CODED + (1 - _CODED) * done)
                estimates, where = run.result
                np.copyto(self._planes[:, :, channel], np.clip(estimates, 0, 1), where=where)
        yield RestoreStep("channels", 1.0, self._snapshot())

    def _complete(self) -> Iterator[RestoreStep]:
        """Fill wide holes with texture and structure from around them."""
        if not self._wide.any():
            return
        from dictsel_core.completion import fill_wide_parts  # noqa: PLC0415  (scipy is slow to import)

        with self._timed("texture"):
            observed = np.asarray(~self._visible.missing.any(axis=2))
            for fraction in fill_wide_parts(
                self._planes,
                self._wide,
                observed,
                seed=self._settings.seed,
                threads=as_thread_count(self._settings.threads),
                blended=self._settings.fill == "auto",
            ):
                yield RestoreStep("texture", fraction)
        yield RestoreStep("texture", 1.0, self._snapshot())

    def _refine(self, start: float) -> Generator[RestoreStep, None, int]:
        """Refine the image, and return the number of rounds."""
        # Similar patches tell nothing about a channel that is observed nowhere.
        known = ~np.broadcast_to(self._canvas.missing.all(axis=(0, 1)), self._canvas.n_channels)
        planes = self._planes if known.all() else self._planes[:, :, known]
        run, n_rounds = self._start_refinement(planes, known), 0
        with self._timed("refine"):
            for step in run:
                self._fraction = start + (1 - start) * step.fraction
                if not step.round_done:
                    yield RestoreStep("refine", self._fraction)
                    continue
                n_rounds += 1
                if not known.all():
                    self._planes[:, :, known] = planes
                    self._planes[:, :, ~known] = planes.mean(axis=2, keepdims=True)
                yield RestoreStep("refine", self._fraction, self._snapshot(n_rounds))
        return run.result

    def _start_refinement(self, planes: Planes, known: Bools) -> GeneratorRun[RoundStep, int]:
        """Return the run that refines planes of the channels that are observed somewhere, in place."""
        layers = known if self._canvas.missing.shape[2] > 1 else slice(None)
        # What was copied counts as observed: estimates from similar patches would blur it.
        missing = self._canvas.missing[:, :, layers] & ~self._wide[:, :, None]
        held_out = self._held_out[:, :, layers]
        threads = as_thread_count(self._settings.threads)
        if self._settings.rounds is None and held_out.any():
            observed = self._canvas.planes()[:, :, known][np.broadcast_to(held_out, planes.shape)]
            return GeneratorRun(refine_unless_harmful(planes, missing, held_out, observed, threads))
        n_rounds = BEST_ROUNDS if self._settings.rounds is None else self._settings.rounds
        return GeneratorRun(refine(planes, Refiner(missing, threads, options_for(missing)), n_rounds))
