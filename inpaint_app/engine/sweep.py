"""How good a restoration is for several values of one parameter."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from dictsel_core import RestoreSettings, psnr
from dictsel_core.evaluation import observed_range
from inpaint_app.engine.control import Event, JobControl, Progress, ProgressReporter
from inpaint_app.engine.measure import estimate
from inpaint_app.engine.restore import RestoreRequest, restore
from inpaint_app.model.missing import check_missing
from inpaint_app.model.picture import Array

SweptName = Literal["n_atoms", "sparsity", "mean_sparsity", "rounds"]
SWEPT_NAMES: tuple[SweptName, ...] = get_args(SweptName)
MAX_POINTS = 40


@dataclass(frozen=True, eq=False)
class SweepRequest:
    """A picture, and the values of a parameter to try on it."""

    request: RestoreRequest
    name: SweptName
    values: tuple[float, ...]
    reference: Array | None = None  #: The undamaged picture; without it, pixels are held out.


@dataclass(frozen=True)
class SweepPoint(Event):
    """What a value has led to; the PSNR, in dB, of the missing pixels, is None where it cannot be known."""

    value: float
    psnr: float | None


def with_value(settings: RestoreSettings, name: SweptName, value: float) -> RestoreSettings:
    """Return settings with another value; a budget is of use under average sparsity only."""
    if name == "mean_sparsity":
        return replace(settings, mean_sparsity=float(value), constraint="average")
    changes: dict[str, Any] = {name: int(value)}
    return replace(settings, **changes)


def spread(name: SweptName, first: float, last: float, n_points: int) -> tuple[float, ...]:
    """Return values between two, in equal ratios if they are far apart; whole ones but for a mean."""
    n_points = min(max(n_points, 2), MAX_POINTS)
    is_wide = min(first, last) > 0 and max(first, last) >= 8 * min(first, last)
    values = np.geomspace(first, last, n_points) if is_wide else np.linspace(first, last, n_points)
    rounded = np.round(values, 2) if name == "mean_sparsity" else np.rint(values)
    return tuple(dict.fromkeys(float(value) for value in rounded))


def sweep(request: SweepRequest, control: JobControl) -> tuple[SweepPoint, ...]:
    """Restore a picture with every value; reports `Progress`, and each `SweepPoint` as soon as it is known.

    Measured against the reference, or estimated from held-out pixels. Raises `UserError` if nothing or
    everything is missing, or a value is not allowed.
    """
    check_missing(request.request.missing_fraction)
    measure = _estimated if request.reference is None else _against(request.reference)
    points, share = list[SweepPoint](), 1 / len(request.values)
    for number, value in enumerate(request.values):
        control.check()
        settings = with_value(request.request.settings, request.name, value)
        reporter = ProgressReporter(
            control, f"{number + 1} of {len(request.values)}: ", start=number * share, share=share
        )
        control.report(Progress(f"{number + 1} of {len(request.values)}", number * share))
        found = measure(replace(request.request, settings=settings), control, reporter)
        points.append(SweepPoint(value, found))
        control.report(points[-1])
    return tuple(points)


_Measure = Callable[[RestoreRequest, JobControl, ProgressReporter], float | None]


def _estimated(request: RestoreRequest, _control: JobControl, _reporter: ProgressReporter) -> float | None:
    found = estimate(request)
    return None if found is None or not np.isfinite(found.psnr) else found.psnr


def _against(reference: Array) -> _Measure:
    """Return what restores a picture and compares its missing pixels with a reference."""
    data_range = observed_range(reference)

    def measure(request: RestoreRequest, control: JobControl, reporter: ProgressReporter) -> float | None:
        def on_report(event: Event) -> None:
            if isinstance(event, Progress):  # images on the way are not shown
                control.report(event)

        child = control.child(on_report)
        restoration = restore(request, child, reporter).restoration
        control.check()
        if restoration is None:
            return None
        found = psnr(reference, restoration.image, mask=request.mask, data_range=data_range)
        return float(found) if np.isfinite(found) else None

    return measure
