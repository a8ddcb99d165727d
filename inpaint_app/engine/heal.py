"""Heal one stroke of a brush: restore just there, and put the pixels into the picture around it."""

from dataclasses import dataclass, replace

import numpy as np

from dictsel_core import Restoration, RestoreSettings, RestoreStep, restore
from dictsel_core.restoration import has_wide_hole, iter_restore_region, region_context
from inpaint_app.engine.control import Event, JobControl, ProgressReporter
from inpaint_app.engine.hole_fill import HoleFill
from inpaint_app.engine.restore import translate_errors
from inpaint_app.model.missing import Mask
from inpaint_app.model.packed_mask import PackedMask
from inpaint_app.model.picture import Array, channel_axis
from inpaint_app.model.rect import Rect


@dataclass(frozen=True, eq=False)
class HealedPicture:
    """A picture of which some missing pixels are restored."""

    image: Array  #: All its pixels.
    filled: PackedMask  #: The restored ones.
    #: The last restoration of the whole picture, or of the first stroke; None before that.
    restoration: Restoration | None = None


@dataclass(frozen=True, eq=False)
class HealedRect:
    """Pixels of a rectangle, and which of them are restored."""

    rect: Rect
    pixels: Array
    filled: Mask


@dataclass(frozen=True, eq=False)
class HealRequest:
    """A stroke to heal."""

    pixels: Array  #: The damaged picture.
    before: HealedPicture  #: What is restored already; the damaged picture itself if nothing is.
    missing: Mask  #: The mask within `surroundings` of the stroke, the stroke included.
    rect: Rect  #: The stroke.
    settings: RestoreSettings  #: Used where there is no earlier restoration.
    hole_fill: HoleFill | None = None  #: How wide holes are filled; None leaves that to the settings.
    #: What is missing in the whole picture, for `hole_fill`.
    packed_mask: PackedMask | None = None


@dataclass(frozen=True, eq=False)
class HealedStroke(Event):
    """The picture with a stroke healed, and what changed in it, to be undone and redone."""

    picture: HealedPicture
    before: HealedRect
    after: HealedRect


def surroundings(rect: Rect, settings: RestoreSettings, shape: tuple[int, ...]) -> tuple[Rect, Rect]:
    """Return the pixels that healing a stroke may change, and those it looks at."""
    changed, used = region_context(rect.slices, shape, settings.patch_size)
    return Rect.from_slices(*changed), Rect.from_slices(*used)


def heal(request: HealRequest, control: JobControl) -> HealedStroke:
    """Restore the missing pixels of a stroke, and those less than a patch away.

    Other missing pixels nearby are restored with them, but only to be looked at; what was restored before
    counts as observed. The time depends on the stroke alone, but for a copy of the picture. Reports
    `Progress`; a wide stroke is reported as a smooth `HealedStroke` first, and then filled with texture.
    Raises `UserError` if nothing is observed around the stroke.
    """
    shape, before = request.pixels.shape, request.before
    inner, outer = surroundings(request.rect, request.settings, shape)
    within, filled = inner.within(outer), before.filled.unpack()[outer.slices]
    image = before.image[outer.slices].copy()
    image[within.slices] = request.pixels[inner.slices]
    unknown = request.missing & ~filled
    nearby = unknown.copy()
    nearby[within.slices] = False
    unknown[within.slices] = request.missing[within.slices]
    region = Rect(0, 0, *image.shape[:2]) if nearby.any() else request.rect.within(outer)
    with translate_errors():
        previous = _previous(before, image, unknown, outer, request.settings)
        reporter = ProgressReporter(control)

        def restored(start: Restoration) -> HealedStroke:
            run = iter_restore_region(
                image, unknown, start, region.slices, channel_axis=channel_axis(request.pixels)
            )

            def on_step(step: RestoreStep) -> None:
                reporter.update("healing", step.fraction)

            return _put_back(request, inner, outer, control.drain(run, on_step))

        if not (previous.settings.fills_texture(image.dtype) and has_wide_hole(unknown)):
            return restored(previous)
        smooth = restored(replace(previous, settings=replace(previous.settings, fill="smooth")))
        control.report(smooth)
        if request.hole_fill is None:
            return restored(previous)
        return _filled(request, request.hole_fill, smooth, previous.settings, control)


def _filled(
    request: HealRequest,
    fill: HoleFill,
    smooth: HealedStroke,
    settings: RestoreSettings,
    control: JobControl,
) -> HealedStroke:
    """Return a smoothly healed stroke with its wide holes filled as the user says."""
    assert request.packed_mask is not None, "it says what is not copied"
    rect, before = smooth.after.rect, request.before
    missing = request.packed_mask.unpack() & ~before.filled.unpack()
    missing[rect.slices] = smooth.after.filled
    reporter = ProgressReporter(control)
    whole = fill.fill(smooth.picture.image, missing, settings, control, reporter, rect)
    after = replace(smooth.after, pixels=whole[rect.slices].copy())
    restoration = smooth.picture.restoration
    assert restoration is not None, "at least of this stroke"
    asked = replace(restoration.settings, fill=settings.fill)
    restoration = replace(restoration, image=whole, settings=asked)
    return HealedStroke(replace(smooth.picture, image=whole, restoration=restoration), smooth.before, after)


def put_rect(picture: HealedPicture, healed: HealedRect) -> HealedPicture:
    """Return the picture with other pixels in a rectangle."""
    image, filled = picture.image.copy(), picture.filled.unpack().copy()
    image[healed.rect.slices], filled[healed.rect.slices] = healed.pixels, healed.filled
    packed = PackedMask.pack(filled, picture.filled.origin)
    return HealedPicture(image, packed, picture.restoration)


def _put_back(request: HealRequest, inner: Rect, outer: Rect, local: Restoration) -> HealedStroke:
    picture, within = request.before, inner.within(outer)
    old = HealedRect(inner, picture.image[inner.slices].copy(), picture.filled.unpack()[inner.slices].copy())
    new = HealedRect(inner, local.image[within.slices].copy(), request.missing[within.slices])
    healed = put_rect(picture, new)
    restoration = picture.restoration
    if restoration is None:
        corners = local.patch_positions
        positions = corners + np.array([outer.row, outer.column]) if len(corners) else corners
        restoration = replace(local, patch_positions=positions, region=None)
    return HealedStroke(replace(healed, restoration=replace(restoration, image=healed.image)), old, new)


def _previous(
    before: HealedPicture, image: Array, unknown: Mask, outer: Rect, settings: RestoreSettings
) -> Restoration:
    """Return a restoration of the surroundings to continue, with its dictionary if there is one."""
    known = before.restoration
    if known is not None and not known.nothing_missing:
        kept = replace(known.settings, keep_observed=True)
        return replace(known, image=before.image[outer.slices].copy(), settings=kept)
    hidden = unknown if unknown.ndim == image.ndim else unknown[..., None]
    observed = image[~np.broadcast_to(hidden, image.shape)]
    middle = observed.mean().astype(image.dtype) if observed.size else image.dtype.type(0)
    settings = replace(settings, keep_observed=True)
    whole = np.where(hidden, middle, image)
    return restore(whole, np.zeros(image.shape[:2], bool), settings, channel_axis=channel_axis(image))
