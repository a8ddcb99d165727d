"""`restore_region`: one more stroke of a brush, without restoring the whole image again."""

from collections.abc import Generator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import Axis, Region, check_in_memory, grown, within
from dictsel_core._util.parallel import GeneratorRun, Run, finished, step_by_step
from dictsel_core.restoration.damaged import DamagedArray, as_damaged
from dictsel_core.restoration.image import Image, as_layers, joint_range, observed_ranges, unit_ranges
from dictsel_core.restoration.plan import as_atom_source, damage_density
from dictsel_core.restoration.restore import image_steps
from dictsel_core.restoration.result import Restoration, RestoreStep
from dictsel_core.restoration.scales import useful_differences

#: How far around the restored pixels the image is used.
_CONTEXT = 64


def region_context(region: Region, shape: tuple[int, ...], patch_size: int) -> tuple[Region, Region]:
    """Return the pixels that `restore_region` may change, and those that it looks at.

    For images of which only a part is in memory.

    Parameters
    ----------
    region : (slice, slice)
        Rows and columns in which the mask has changed, with their bounds.
    shape : tuple of int
        Of the image, (H, W) or (H, W, C).
    patch_size : int
        As in `RestoreSettings`.

    Returns
    -------
    changed, used : (slice, slice)
        The region and one patch around it; and 64 more pixels around these. Both are inside the image.
    """
    changed = grown(region, patch_size, shape)
    return changed, grown(changed, _CONTEXT, shape)


@finished
def restore_region(
    image: ArrayLike,
    mask: ArrayLike | None,
    previous: Restoration,
    region: Region,
    *,
    channel_axis: Axis | None = None,
    in_place: bool = False,
) -> Run[RestoreStep, Restoration]:
    """Restore a region of an image again, after its mask has changed there.

    The work depends on the size of the region, not of the image, apart from copying it. The result is local:
    missing pixels in the region, and up to one patch around it, are restored with the dictionary and the
    settings of the previous restoration; everything else stays as it was restored then, and counts as
    observed. `restore` would select another dictionary, and let the change reach farther.

    Parameters
    ----------
    image : array_like
        As given to `restore`; not a stack.
    mask : array_like of bool, optional
        The new mask, as for `restore`; it may differ from the previous one inside the region.
    previous : Restoration
        Of the same image, with observed pixels kept.
    region : (slice, slice)
        Rows and columns in which the mask has changed.
    channel_axis : int or str, optional
        As for `restore`.
    in_place : bool, optional
        Put the restored pixels into the image of `previous`, once they are complete, and return that image
        rather than a copy. Default is False.

    Returns
    -------
    Restoration
        Its `region` is where the image may differ from the previous one: the given region, and one patch
        around it. `seconds` are those of this call. If nothing was missing before, the dictionary is selected
        around the region.

    See Also
    --------
    iter_restore_region : The same, step by step.
    restore : Restores the whole image.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core import restore
    >>> image = np.add.outer(np.arange(64), np.arange(64)).astype(np.uint8)
    >>> mask = np.zeros((64, 64), bool)
    >>> mask[10:14, 8:20] = True
    >>> first = restore(image, mask)
    >>> mask[40:44, 30:50] = True
    >>> second = restore_region(image, mask, first, np.s_[40:44, 30:50])
    >>> int(np.abs(second.image.astype(int) - image).max()) <= 1
    True
    """
    given: object = previous
    if not isinstance(given, Restoration):
        raise TypeError(f"previous must be a Restoration, as restore returns it, not {type(given).__name__}.")
    check_in_memory(image, "image")
    pixels = np.asanyarray(image)
    if pixels.shape != previous.image.shape or pixels.dtype != previous.image.dtype:
        raise ValueError(
            f"image must be the one that was restored before, {previous.image.dtype} of shape "
            f"{previous.image.shape}, not {pixels.dtype} of shape {pixels.shape}; use restore instead."
        )
    damaged = as_damaged(image, mask, channel_axis)
    if not previous.settings.keep_observed:
        raise ValueError(
            "A restoration that replaced observed pixels cannot be continued; use restore instead."
        )
    if damaged.has_parts:
        raise ValueError(
            "This image is restored in parts, by restore; pass fewer channels to restore_region."
        )
    before = replace(previous, image=damaged.layout.split(np.asarray(previous.image))[0])
    if in_place and not before.image.flags.writeable:
        raise ValueError("The image of the previous restoration is read-only, so it cannot change in place.")
    inside = _as_region(region, damaged.layout.plane_shape)
    return GeneratorRun(_steps(damaged, before, inside, in_place))


iter_restore_region = step_by_step(
    restore_region, GeneratorRun[RestoreStep, Restoration], "whose steps show how far it is"
)


def _steps(
    whole: DamagedArray, previous: Restoration, region: Region, in_place: bool
) -> Generator[RestoreStep, None, Restoration]:
    """Restore a part of the image as an image of its own, and put it back."""
    image, missing, settings = whole.images[0], as_layers(whole.missing[0]), previous.settings
    inner, outer = region_context(region, image.shape, settings.patch_size)
    inside = within(inner, outer)
    part = previous.image[outer].copy()
    part[inside] = image[inner]
    unknown = np.zeros((*part.shape[:2], missing.shape[2]), bool)
    unknown[inside] = missing[inner]
    if unknown.all():
        raise ValueError("Every pixel of the image is missing: there is nothing to restore it from.")
    plan, found = previous.plan, observed_ranges(part, unknown)
    before = plan.ranges if plan else observed_ranges(previous.image, np.zeros((*image.shape[:2], 1), bool))
    # Pixels that are no longer missing may be outside of what was observed before.
    ranges = unit_ranges(tuple(joint_range(*pair) for pair in zip(before, found, strict=True)))
    damaged = Image(part, unknown, ranges)
    if plan is not None:
        plan = replace(
            plan,
            ranges=ranges,
            shares_mask=damaged.shares_mask,
            damage_density=damage_density([unknown], settings.patch_size),
            observed_channels=damaged.observed_channels,
            differences=() if damaged.shares_mask else useful_differences([damaged]),
            coarse=None,
        )
    origin = outer[0].start, outer[1].start
    source = as_atom_source(None, settings)
    run = GeneratorRun(image_steps(damaged, settings, source, plan=plan, origin=origin))
    for step in run:
        yield replace(step, make_partial=None)
    result = previous.image if in_place else previous.image.copy(order="K")
    result[inner] = run.result.image[inside]
    restoration = run.result
    if restoration.nothing_missing:  # any more; the dictionary is kept for the next stroke
        restoration = replace(previous, seconds=restoration.seconds)
    return replace(
        restoration,
        image=whole.wrapped(result[None]),
        settings=previous.settings,
        missing_fraction=np.count_nonzero(missing) / missing.size,
        n_rounds=max(previous.n_rounds, restoration.n_rounds),
        region=inner,
    )


def _as_region(region: tuple[slice, ...], shape: tuple[int, ...]) -> Region:
    given: object = region
    if not isinstance(given, tuple | list) or list(map(type, given)) != [slice, slice]:
        raise TypeError(f"region must be two slices, such as np.s_[40:60, 100:300], not {region!r}.")
    if any(each.step not in (None, 1) for each in region):
        raise ValueError(f"region must be slices without a step, but is {region!r}.")
    try:
        rows, columns = (slice(*each.indices(n)[:2]) for each, n in zip(region, shape[:2], strict=True))
    except TypeError:
        raise TypeError(f"region must be slices of whole numbers, not {region!r}.") from None
    if rows.start >= rows.stop or columns.start >= columns.stop:
        raise ValueError(f"region must contain pixels of the image, but is {region!r}.")
    return rows, columns
