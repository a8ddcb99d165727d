"""Estimates of a channel from others that are observed at the same pixels."""

from collections.abc import Generator

import numpy as np

from dictsel_core._runs import GeneratorRun
from dictsel_core._validation import Bools
from dictsel_core.restoration.canvas import Canvas, Plane, Planes
from dictsel_core.restoration.coding import PatchCoder, has_less_detail, restore_planes


def estimate_from_others(
    canvas: Canvas, planes: Planes, channel: int, coder: PatchCoder
) -> Generator[float, None, tuple[Plane, Bools]]:
    """Estimate the missing pixels of a channel that are observed in another channel.

    Differences of color channels have less detail than the channels themselves. If so, the difference to
    each other channel is restored, and the estimates are averaged. Nothing is known about a channel that is
    missing entirely; there all differences are assumed to be zero, which makes the image gray.

    Yields the fraction of the work that is done, and returns the estimates with a mask of where they are.

    Parameters
    ----------
    canvas : Canvas
    planes : (H, W, C) ndarray
        Those of the canvas.
    channel : int
    coder : PatchCoder
    """
    missing = canvas.mask(channel)
    total, count = np.zeros(canvas.shape, np.float32), np.zeros(canvas.shape, np.float32)
    for other in range(canvas.n_channels):
        helped = missing & ~canvas.mask(other)
        if not helped.any():
            continue
        difference = planes[:, :, channel] - planes[:, :, other]
        unknown = missing | canvas.mask(other)
        if missing.all():
            difference = np.zeros(canvas.shape, np.float32)
        elif has_less_detail(difference, planes[:, :, channel], unknown):
            known = np.where(unknown, 0, difference)[:, :, None]
            run = GeneratorRun(restore_planes(known, unknown, coder))
            for fraction in run:
                yield (other + fraction) / canvas.n_channels
            difference = run.result[:, :, 0]
        else:
            continue
        total += np.where(helped, planes[:, :, other] + difference, 0)
        count += helped
    return np.divide(total, np.maximum(count, 1), dtype=np.float32), count > 0
