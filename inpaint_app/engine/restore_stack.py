"""Restore the pages of a file as a stack, in which neighboring pages help each other."""

from dataclasses import replace

import numpy as np

from dictsel_core import Restoration, RestoreSettings, RestoreStep, iter_restore
from inpaint_app.engine.control import JobControl, ProgressReporter
from inpaint_app.engine.restore import STAGES, translate_errors
from inpaint_app.engine.source import Source
from inpaint_app.errors import UserError
from inpaint_app.model.missing import check_missing
from inpaint_app.model.picture import Mask, channel_axis

_WITHOUT_NEIGHBORS = "restore without neighboring planes"


def restore_stack(
    sources: tuple[Source, ...], settings: RestoreSettings, neighbor_planes: int, control: JobControl
) -> list[Restoration]:
    """Return restorations of the pages in which something is missing; the first one has all the seconds.

    `neighbor_planes` says how many pages before and after a page help to refine it. Raises `UserError` if the
    pages are no stack: if there is one only, or if they differ in size or depth.
    """
    pixels = [source.picture.pixels for source in sources]
    if len(pixels) == 1:
        raise UserError("The picture has a single page", _WITHOUT_NEIGHBORS)
    if len({(page.shape, page.dtype) for page in pixels}) > 1:
        raise UserError("The pages differ in size or depth, so that they are no stack", _WITHOUT_NEIGHBORS)
    damaged = [number for number, source in enumerate(sources) if source.missing.sources]
    for number in damaged:
        check_missing(sources[number].missing.fraction)
    axis, reporter = channel_axis(pixels[0]), ProgressReporter(control)

    def on_step(step: RestoreStep) -> None:
        reporter.update(f"page {step.number + 1} of {step.n_images}: {STAGES[step.stage]}", step.fraction)

    with translate_errors():
        run = iter_restore(
            np.stack(pixels),
            _masks(sources),
            settings,
            channel_axis=None if axis is None else -1,
            axes=(1, 2),
            neighbor_planes=neighbor_planes,
        )
        whole = control.drain(run, on_step)
    return [
        replace(whole, image=whole.image[number], seconds=whole.seconds if number == damaged[0] else {})
        for number in damaged
    ]


def _masks(sources: tuple[Source, ...]) -> Mask:
    """Return the masks of all pages, for all channels if any of them has one for each."""
    masks = [source.missing.mask for source in sources]
    if any(mask.ndim == 3 for mask in masks):
        shape = sources[0].picture.pixels.shape
        masks = [np.broadcast_to(mask if mask.ndim == 3 else mask[:, :, None], shape) for mask in masks]
    return np.stack(masks)
