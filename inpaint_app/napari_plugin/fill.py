"""Fill the missing pixels of a layer's data, of any number of planes; knows nothing of napari."""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core import RestoreStep, iter_restore
from dictsel_core.restoration import PresetName
from inpaint_app.engine.control import Progress
from inpaint_app.engine.restore import STAGES, translate_errors
from inpaint_app.errors import UserError
from inpaint_app.model.picture import Mask

Data = NDArray[Any]

_MAX_DIMENSIONS = 4
_MARK_PIXELS = "mark pixels on a labels layer, or set them to NaN"


@dataclass(frozen=True, eq=False)
class FillRequest:
    """Data to fill, and how."""

    data: Data  #: (..., H, W) or (..., H, W, 3 or 4); the fourth color is alpha.
    missing: Mask  #: (..., H, W), True = missing.
    preset: PresetName  #: As for `restore`.
    is_rgb: bool = False


def fill_request(data: Data, labels: Data | None, preset: PresetName, *, is_rgb: bool = False) -> FillRequest:
    """Return the request to fill what is NaN or infinite, transparent, or labeled; (H, W) labels all planes.

    Raises `UserError` if the data cannot be filled, or nothing is missing in them.
    """
    shape = data.shape[:-1] if is_rgb else data.shape
    if data.dtype.kind not in "iuf":
        raise UserError(f"The image holds values of type {data.dtype}", "convert it to integers or floats")
    if not 2 <= len(shape) <= _MAX_DIMENSIONS:
        raise UserError(
            f"The image has {len(shape)} dimensions", f"choose one of 2 to {_MAX_DIMENSIONS} dimensions"
        )
    missing = np.zeros(shape, bool)
    if data.dtype.kind == "f":
        missing |= ~np.isfinite(data).all(axis=-1) if is_rgb else ~np.isfinite(data)
    if is_rgb and data.shape[-1] == 4:
        missing |= data[..., 3] == 0
    if labels is not None:
        missing |= _as_mask(labels, shape)
    if not missing.any():
        problem = "The image has no NaN" if labels is None else "The labels layer is empty"
        raise UserError(f"{problem}, so that nothing is missing", _MARK_PIXELS)
    _check_planes(missing)
    return FillRequest(data, missing, preset, is_rgb)


def _as_mask(labels: Data, shape: tuple[int, ...]) -> Mask:
    """Return what is labeled, in the shape of the image or of its last axes."""
    while labels.ndim > len(shape) and len(labels) == 1:
        labels = labels[0]
    if labels.ndim < 2 or labels.shape != shape[-labels.ndim :]:
        raise UserError(
            f"The labels layer has {_times(labels.shape)} pixels, but the image has {_times(shape)}",
            "choose one of the same shape",
        )
    return np.asarray(labels != 0)


def _check_planes(missing: Mask) -> None:
    lost = np.argwhere(missing.all(axis=(-2, -1)))
    if len(lost):
        place = "the image" if missing.ndim == 2 else f"plane {', '.join(map(str, lost[0]))}"
        raise UserError(
            f"Every pixel of {place} is missing, so that there is nothing to fill it from",
            "mark fewer pixels",
        )


def _times(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def fill(request: FillRequest) -> Generator[Progress, None, Data]:
    """Yield the progress, and return the filled data: planes are filled one by one, with one dictionary.

    Filled pixels are opaque. Raises `UserError` if there is not enough memory.
    """
    data, missing = request.data, request.missing
    colors, axis = (data[..., :3], -1) if request.is_rgb else (data, None)
    rows = missing.ndim - 2
    with translate_errors():
        run = iter_restore(colors, missing, request.preset, channel_axis=axis, axes=(rows, rows + 1))
        with closing(run):
            for step in run:
                yield Progress(_describe(step), step.fraction)
            filled: Data = run.result.image
    if data.shape == filled.shape:
        return filled
    opaque = np.iinfo(data.dtype).max if data.dtype.kind in "iu" else 1
    alpha = np.where(missing, data.dtype.type(opaque), data[..., 3])
    return np.concatenate([filled, alpha[..., None]], axis=-1)


def _describe(step: RestoreStep) -> str:
    if step.n_images == 1:
        return STAGES[step.stage]
    return f"plane {step.number + 1} of {step.n_images}: {STAGES[step.stage]}"
