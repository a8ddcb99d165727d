"""Heal one stroke of a brush: restore just there, and put the pixels into the picture around it."""

from dataclasses import dataclass, field, replace

import numpy as np

from dictsel_core import Restoration, RestoreSettings, RestoreStep, restore
from dictsel_core.restoration import has_wide_hole, iter_restore_region, region_context
from inpaint_app.engine.control import Event, JobControl, ProgressReporter
from inpaint_app.engine.copying import CopySource, copied
from inpaint_app.engine.hole_fill import HoleFill
from inpaint_app.engine.painted import BrushTip, HealedPicture, HealedRect, blended, faded, put_rect, rect_of
from inpaint_app.engine.restore import translate_errors
from inpaint_app.errors import UserError
from inpaint_app.model.masks import MaskDelta, PackedMask
from inpaint_app.model.picture import Array, Mask, Rect, channel_axis


@dataclass(frozen=True, eq=False)
class Paint:
    """How a stroke was painted."""

    covered: Mask  #: The pixels of its rectangle that it covers, (H, W).
    delta: MaskDelta | None  #: What it has changed in the mask, if anything.
    tip: BrushTip = field(default_factory=BrushTip)
    copy: CopySource | None = None  #: Where it copies from; None lets it be restored.


@dataclass(frozen=True, eq=False)
class HealRequest:
    """A stroke to heal."""

    pixels: Array  #: The damaged picture.
    before: HealedPicture  #: What is restored already; the damaged picture itself if nothing is.
    missing: Mask  #: The mask within `surroundings` of the stroke, the stroke included.
    rect: Rect  #: The stroke.
    settings: RestoreSettings  #: Used where there is no earlier restoration.
    hole_fill: HoleFill | None = None  #: How wide holes are filled; None leaves that to the settings.
    #: What is missing in the whole picture, for `hole_fill` and `paint`.
    packed_mask: PackedMask | None = None
    paint: Paint | None = None  #: None for a rectangle that is healed in full.


@dataclass(frozen=True, eq=False)
class HealedStroke(Event):
    """The picture with a stroke healed, and what changed in it, to be undone, redone and faded."""

    picture: HealedPicture
    before: HealedRect
    full: HealedRect  #: The stroke in full opacity,
    fades: Mask  #: and which of its pixels, (H, W), have another one.
    strength: float = 1.0  #: The opacity, 0 to 1.

    @property
    def after(self) -> HealedRect:
        """The pixels with the stroke in its opacity."""
        return faded(self.before, self.full, self.fades, self.strength)

    @property
    def is_by_hand(self) -> bool:
        """Whether some of its pixels are pasted into whatever is restored."""
        return bool(self.full.touched.any() or self.before.touched.any() or self.strength < 1)


def surroundings(rect: Rect, settings: RestoreSettings, shape: tuple[int, ...]) -> tuple[Rect, Rect]:
    """Return the pixels that healing a stroke may change, and those it looks at."""
    changed, used = region_context(rect.slices, shape, settings.patch_size)
    return Rect.from_slices(*changed), Rect.from_slices(*used)


def heal(request: HealRequest, control: JobControl) -> HealedStroke:
    """Restore the missing pixels of a stroke, and those less than a patch away; or copy the stroke.

    Other missing pixels nearby are restored with them, but only to be looked at; what was restored before
    counts as observed. The time depends on the stroke alone, but for a copy of the picture. Reports
    `Progress`; a wide stroke is reported as a smooth `HealedStroke` first, and then filled with texture.
    Raises `UserError` if nothing is observed around the stroke, or if nothing can be copied.
    """
    if request.paint is not None and request.paint.copy is not None:
        return _copied(request, request.paint, request.paint.copy, control)
    return _restored(request, control)


def _restored(request: HealRequest, control: JobControl) -> HealedStroke:
    shape, before = request.pixels.shape, request.before
    inner, outer = surroundings(request.rect, request.settings, shape)
    within, filled = inner.within(outer), before.filled.unpack()[outer.slices]
    image = before.image[outer.slices].copy()
    unknown = request.missing & ~filled
    nearby = unknown.copy()
    nearby[within.slices] = False
    again = _healed_again(request, inner)
    image[within.slices][again] = request.pixels[inner.slices][again]
    unknown[within.slices][again] = request.missing[within.slices][again]
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


def _healed_again(request: HealRequest, inner: Rect) -> Mask:
    """Return the pixels, (H, W), that are healed from the damaged picture again: all but touched ones."""
    touched = request.before.touched
    if touched is None:
        return np.ones((inner.height, inner.width), np.bool_)
    again: Mask = ~touched.unpack()[inner.slices]
    covered = True if request.paint is None else request.paint.covered
    again[request.rect.within(inner).slices] |= covered
    return again


def _copied(request: HealRequest, paint: Paint, source: CopySource, control: JobControl) -> HealedStroke:
    before, rect = request.before, request.rect
    pixels, done = copied(before.image, _seen(request, paint), rect, paint.covered, source, control.check)
    if not done.any():
        raise UserError("There is nothing to copy at the source", "choose another place with Alt+click")
    old = rect_of(before, rect)
    full = np.where(done if pixels.ndim == 2 else done[..., None], pixels, old.pixels)
    filled = old.filled | (done if old.filled.ndim == 2 else done[..., None])
    restoration = before.restoration
    if restoration is None:
        outer = surroundings(rect, request.settings, before.image.shape)[1]
        restoration = _previous(before, before.image[outer.slices], request.missing, outer, request.settings)
    return _painted(request, HealedRect(rect, full, filled, old.touched), restoration)


def _seen(request: HealRequest, paint: Paint) -> Mask:
    """Return which pixels, (H, W), of the picture were observed or restored before a stroke."""
    assert request.packed_mask is not None, "it says what is missing after the stroke"
    missing = request.packed_mask.unpack()
    if paint.delta is not None:
        flipped = paint.delta.unpacked(missing[0, 0].size)
        missing[paint.delta.rect.slices] ^= flipped.reshape(missing[paint.delta.rect.slices].shape)
    seen: Mask = ~missing | request.before.filled.unpack()
    everywhere: Mask = np.logical_and.reduce(np.atleast_3d(seen), axis=2)
    return everywhere


def _filled(
    request: HealRequest,
    fill: HoleFill,
    smooth: HealedStroke,
    settings: RestoreSettings,
    control: JobControl,
) -> HealedStroke:
    """Return a smoothly healed stroke with its wide holes filled as the user says."""
    assert request.packed_mask is not None, "it says what is not copied"
    rect, before = smooth.full.rect, request.before
    missing = request.packed_mask.unpack() & ~before.filled.unpack()
    missing[rect.slices] = smooth.full.filled
    reporter = ProgressReporter(control)
    start = put_rect(before, smooth.full).image
    whole = fill.fill(start, missing, settings, control, reporter, rect)
    restoration = smooth.picture.restoration
    assert restoration is not None, "at least of this stroke"
    asked = replace(restoration.settings, fill=settings.fill)
    full = replace(smooth.full, pixels=whole[rect.slices].copy())
    return _painted(request, full, replace(restoration, settings=asked))


def _painted(request: HealRequest, new: HealedRect, restoration: Restoration) -> HealedStroke:
    """Put a stroke into the picture, as its brush paints it."""
    old, paint = rect_of(request.before, new.rect), request.paint
    fades, strength = np.zeros(new.touched.shape, np.bool_), 1.0
    if paint is not None:
        place = request.rect.within(new.rect).slices
        fades[place] = paint.covered & _seen(request, paint)[request.rect.slices]
        weights = np.ones(fades.shape, np.float32)
        weights[place] = paint.tip.weights(paint.covered, request.rect, request.pixels.shape)
        weights[~fades] = 1
        touched = old.touched & ~fades | fades & ((weights < 1) | (paint.copy is not None))
        new = replace(new, pixels=blended(old.pixels, new.pixels, weights), touched=touched)
        strength = paint.tip.opacity
    picture = put_rect(request.before, faded(old, new, fades, strength))
    restoration = replace(restoration, image=picture.image)
    return HealedStroke(replace(picture, restoration=restoration), old, new, fades, strength)


def _put_back(request: HealRequest, inner: Rect, outer: Rect, local: Restoration) -> HealedStroke:
    picture, within = request.before, inner.within(outer)
    touched = rect_of(picture, inner).touched
    new = HealedRect(inner, local.image[within.slices].copy(), request.missing[within.slices], touched)
    restoration = picture.restoration
    if restoration is None:
        corners = local.patch_positions
        positions = corners + np.array([outer.row, outer.column]) if len(corners) else corners
        restoration = replace(local, patch_positions=positions, region=None)
    return _painted(request, new, restoration)


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
