"""The work behind the commands: read, restore, tune, estimate, measure."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dictsel_core import (
    Restoration,
    RestoreSettings,
    Run,
    Tuning,
    estimate_psnr,
    iter_restore,
    iter_tune,
    psnr,
    ssim,
)
from inpaint_app.errors import UserError, clause, printable_path
from inpaint_app.files.formats.shared.capabilities import check_encodable, facts_of
from inpaint_app.files.paths import is_folder
from inpaint_app.files.read import read_picture
from inpaint_app.files.write import format_of
from inpaint_app.image.mask_spec import MaskSpec
from inpaint_app.image.missing import MissingPixels, require_missing
from inpaint_app.image.picture import Picture

Report = Callable[[str, float | None], None]
"""Called with a stage in words, and the part done, now and then."""

Step = TypeVar("Step")
Result = TypeVar("Result")

_STAGES = {
    "select": "selecting the dictionary",
    "coarse": "filling coarser scales",
    "code": "rebuilding windows",
    "channels": "letting channels help each other",
    "refine": "refining by similar windows",
}


class StoppedError(Exception):
    """The work was told to stop."""


@dataclass(frozen=True, eq=False)
class Source:
    """A damaged picture and its missing pixels."""

    path: Path
    picture: Picture
    missing: MissingPixels
    mask_spec: MaskSpec
    seconds: float


@dataclass(frozen=True)
class Scores:
    """How near a picture is to its reference; None where that cannot be said."""

    psnr: float | None = None
    psnr_missing: float | None = None
    ssim: float | None = None
    ssim_missing: float | None = None


def check_input(path: Path) -> None:
    """Refuse a folder, whose name tells nothing about the result's, and what cannot be looked at."""
    if is_folder(path):
        raise UserError(f"{printable_path(path)} is a folder; give an image file, or use 'inpaint batch'.")


def load(path: Path, mask_spec: MaskSpec) -> Source:
    """Read a damaged picture and find its missing pixels."""
    start = time.perf_counter()
    picture = read_picture(path)
    mask = None if mask_spec.mask is None else read_picture(mask_spec.mask)
    missing = require_missing(
        picture,
        mask=mask,
        key=mask_spec.key,
        tolerance=mask_spec.tolerance,
        invert_mask=mask_spec.invert_mask,
    )
    return Source(path, picture, missing, mask_spec, time.perf_counter() - start)


def load_reference(path: Path, source: Source) -> Picture:
    """Read the undamaged picture to measure against."""
    reference = read_picture(path)
    check_reference(reference, source.picture, path)
    return reference


def check_reference(reference: Picture, picture: Picture, path: Path) -> None:
    """Refuse a reference that a picture cannot be measured against."""
    check_comparable(reference, picture, f"The reference {printable_path(path)}", "the picture")
    hidden = reference.alpha is not None and not bool(reference.alpha.all())
    if hidden or not bool(np.isfinite(reference.pixels).all()):
        raise UserError(
            f"The reference {printable_path(path)} has missing pixels of its own; give the undamaged picture."
        )


def check_comparable(one: Picture, other: Picture, its_name: str, other_name: str) -> None:
    """Refuse two pictures that cannot be compared value by value."""
    if (one.width, one.height) != (other.width, other.height):
        raise UserError(
            f"{its_name} has {one.width} x {one.height} pixels but {other_name} has "
            f"{other.width} x {other.height}; give pictures of the same size."
        )
    one_mode, other_mode = replace(one, alpha=None).mode, replace(other, alpha=None).mode
    if one_mode != other_mode:
        raise UserError(
            f"{its_name} is {one_mode} but {other_name} is {other_mode}; give pictures of the same kind."
        )


def restore_source(
    source: Source, settings: RestoreSettings, report: Report, stop: threading.Event | None = None
) -> Restoration:
    """Restore a picture.

    Raises
    ------
    UserError
        If the settings do not fit the picture.
    StoppedError
        If `stop` was set meanwhile.
    """
    with translate_errors():
        steps = iter_restore(source.picture.pixels, source.missing.mask, settings)
        return _drain(steps, lambda step: report(format_stage(step.stage), step.fraction), stop)


def tune_source(
    source: Source, settings: RestoreSettings, report: Report, stop: threading.Event | None = None
) -> Tuning:
    """Choose settings for a picture by holding out observed pixels."""
    with translate_errors():
        steps = iter_tune(source.picture.pixels, source.missing.mask, settings, seed=settings.seed)
        return _drain(steps, lambda step: report("choosing settings", step.fraction), stop)


def estimate(source: Source, settings: RestoreSettings) -> float | None:
    """Return the PSNR that held-out observed pixels let expect; None where they say nothing.

    The picture may have been written already, so that no failure of this may pass for one of that.
    """
    try:
        value = estimate_psnr(source.picture.pixels, source.missing.mask, settings, seed=settings.seed)
    except (ValueError, MemoryError):
        return None
    return value if math.isfinite(value) else None


def measure(reference: NDArray[Any], image: NDArray[Any], mask: NDArray[np.bool_] | None) -> Scores:
    """Compare a picture with its reference, also over the missing pixels where there are any."""
    large_enough = min(reference.shape[:2]) >= 3
    some = mask is not None and bool(mask.any())
    return Scores(
        psnr=psnr(reference, image),
        psnr_missing=psnr(reference, image, mask=mask) if some else None,
        ssim=ssim(reference, image) if large_enough else None,
        ssim_missing=ssim(reference, image, mask=mask) if some and large_enough else None,
    )


def restored_picture(source: Source, restoration: Restoration) -> Picture:
    """Return the restored picture with all that belongs to it in the file."""
    return source.picture.with_pixels(restoration.image, filled=source.missing.mask)


def check_restorable(source: Source, output: Path, *, depth: int | None = None, quality: int = 95) -> None:
    """Refuse a picture that could not be written when it is restored, before that is done.

    Raises
    ------
    UserError
        If the format of the output cannot keep it.
    """
    facts = facts_of(source.picture, missing=source.missing.mask)
    check_encodable(facts, format_of(output), depth=depth, quality=quality)


def format_stage(stage: str) -> str:
    """Return what a stage of the restoration does, in words."""
    return _STAGES.get(stage, stage)


def _drain(run: Run[Step, Result], seen: Callable[[Step], None], stop: threading.Event | None) -> Result:
    """Take the steps of some work to its end and return its result."""
    with closing(run):
        for step in run:
            seen(step)
            if stop is not None and stop.is_set():
                raise StoppedError
        return run.result


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn what the library says about its arguments into a sentence for the user."""
    try:
        yield
    except ValueError as error:
        raise UserError(f"These settings do not fit the picture: {clause(error)}.") from error
    except MemoryError as error:
        raise UserError("There is not enough memory for this picture; scale it down first.") from error
