"""Detect the damage of a picture, and write it as a mask."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import dictsel_core  # detection is imported when it is first used, and is slow to import
from dictsel_core import DamageKind
from inpaint_app.errors import UserError, printable_path
from inpaint_app.files.atomic import write_files
from inpaint_app.files.encodable import PictureProperties, check_encodable
from inpaint_app.files.registry import format_of
from inpaint_app.files.write import check_output, picture_output
from inpaint_app.image.damage import mask_picture
from inpaint_app.image.missing import Mask, MissingPixels, detect_missing
from inpaint_app.image.picture import Picture
from inpaint_app.jobs.checks import check_drawable, read_single_page
from inpaint_app.jobs.control import JobControl, Progress, ProgressReporter

_QUALITY = 100


@dataclass(frozen=True)
class DetectRequest:
    """A file whose damage is to be detected.

    Attributes
    ----------
    path : Path
        The picture.
    output : Path
        Where the mask goes, white = missing.
    kinds : tuple of str
        What to look for.
    sensitivity : float
        From 0 to 1.
    overwrite : bool
        Whether an existing file may be replaced.
    """

    path: Path
    output: Path
    kinds: tuple[DamageKind, ...]
    sensitivity: float = 0.5
    overwrite: bool = False


@dataclass(frozen=True, eq=False)
class DetectResult:
    """What was detected: the picture, the mask, how much of each kind, and notes on what was written."""

    picture: Picture
    mask: Mask
    found: Mapping[DamageKind, "dictsel_core.Found"]
    notes: tuple[str, ...] = ()


def analyze_picture(
    picture: Picture, missing: MissingPixels, kinds: tuple[DamageKind, ...], control: JobControl
) -> "dictsel_core.DamageAnalysis":
    """Return all that may be damage, besides what is known to be missing; reports `Progress`.

    Its `mask` for a sensitivity takes milliseconds, and its regions can be left out one by one.

    Raises
    ------
    CancelledError, StoppedError
        If the job was ended.
    """
    control.report(Progress("detecting damage", 0.0))
    run = dictsel_core.iter_analyze_damage(picture.pixels, kinds, missing=missing.mask)
    reporter = ProgressReporter(control)
    return control.drain(run, lambda step: reporter.update("detecting damage", step.fraction))


def detect_file(request: DetectRequest, control: JobControl) -> DetectResult:
    """Read a picture, detect its damage and write the mask; a mask without a pixel is written too.

    Raises
    ------
    UserError
        If a file cannot be read or written.
    CancelledError, StoppedError
        If the job was ended; then nothing was written.
    """
    check_output(request.output, overwrite=request.overwrite, protect=[request.path])
    if format_of(request.output).is_lossy:
        raise UserError(f"{printable_path(request.output)} cannot store a mask exactly", "write PNG or TIFF")
    picture = read_single_page(request.path)
    check_drawable(picture, printable_path(request.path))
    plain = PictureProperties(picture.width, picture.height, is_color=False)
    check_encodable(plain, format_of(request.output), quality=_QUALITY)
    analysis = analyze_picture(picture, detect_missing(picture), request.kinds, control)
    mask = analysis.mask(request.sensitivity)
    output = picture_output(mask_picture(mask), request.output, quality=_QUALITY)
    notes = write_files([output], overwrite=request.overwrite)
    return DetectResult(picture, mask, analysis.found(request.sensitivity), notes)
