"""Detect the damage of a picture, and write it as a mask."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import dictsel_core  # detection is imported when it is first used, and is slow to import
from dictsel_core.damage_kinds import DamageKind
from inpaint_app.engine.control import JobControl
from inpaint_app.engine.source import analyze_picture, check_drawable, read_single_page
from inpaint_app.errors import printable_path
from inpaint_app.io.write import Output
from inpaint_app.model.damage import mask_picture
from inpaint_app.model.missing import Mask, detect_missing
from inpaint_app.model.picture import Picture


@dataclass(frozen=True)
class DetectRequest:
    """A file whose damage is to be detected."""

    path: Path  #: The picture.
    output: Output  #: The mask, white = missing.
    kinds: tuple[DamageKind, ...]  #: What to look for.
    sensitivity: float = 0.5  #: From 0 to 1.


@dataclass(frozen=True, eq=False)
class DetectResult:
    """What was detected: the picture, the mask, how much of each kind, and notes on what was written."""

    picture: Picture
    mask: Mask
    found: Mapping[DamageKind, "dictsel_core.detection.Found"]
    notes: tuple[str, ...] = ()


def detect_file(request: DetectRequest, control: JobControl) -> DetectResult:
    """Read a picture, detect its damage and write the mask; a mask without a pixel is written too.

    Raises `UserError` if a file cannot be read or written. If the job is ended, nothing is written.
    """
    output = request.output
    output.check_mask([request.path])
    picture = read_single_page(request.path)
    check_drawable(picture, printable_path(request.path))
    output.check_size(picture.width, picture.height)
    analysis = analyze_picture(picture, detect_missing(picture).mask, request.kinds, control)
    mask = analysis.mask(request.sensitivity)
    notes = output.write(mask_picture(mask), [request.path])
    return DetectResult(picture, mask, analysis.found(request.sensitivity), notes)
