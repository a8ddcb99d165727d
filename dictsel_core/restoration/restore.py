"""`restore`: from a damaged image to a restored one.

An array in memory becomes one `Image`, which is planned (plan.py) and restored as a single tile (tile.py); a
stack becomes many (stack.py). A large image (large.py) or Dask array (mosaic.py) is cut into tiles that share
a plan. `restore`, as it is written below, only returns a `Run`; `finished` makes a function of it that takes
all steps.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._util.arrays import Axis, as_layout, is_lazy
from dictsel_core._util.parallel import GeneratorRun, Run, finished, step_by_step
from dictsel_core.atoms import GroundSet
from dictsel_core.restoration.damaged import as_damaged
from dictsel_core.restoration.image import Image
from dictsel_core.restoration.large import LargeImage
from dictsel_core.restoration.mosaic import lazy_steps
from dictsel_core.restoration.plan import AtomSource, Plan, as_atom_source, planned_tile
from dictsel_core.restoration.result import Restoration, RestoreStep
from dictsel_core.restoration.settings import Parameter, PresetName, RestoreSettings, as_settings
from dictsel_core.restoration.stack import StackRestorer
from dictsel_core.selection import Selection

#: Most planes before and after each plane of a stack that help it.
MAX_NEIGHBOR_PLANES = 8
NEIGHBOR_PLANES = Parameter(
    name="neighbor_planes", kind=int, minimum=0, maximum=MAX_NEIGHBOR_PLANES, is_optional=True
)
#: Images of more values are restored in tiles, which takes less memory.
MAX_VALUES = 1 << 24
#: Fraction of the work that is done once there is a plan.
_PLANNED = 0.05
#: Fraction of the work after which there is a new partial result.
_PARTIAL_INTERVAL = 1 / 16


@finished
def restore(
    image: ArrayLike,
    mask: ArrayLike | None = None,
    settings: RestoreSettings | PresetName | None = "balanced",
    *,
    channel_axis: Axis | None = None,
    axes: Sequence[Axis] | None = None,
    dictionary: ArrayLike | GroundSet | Selection | None = None,
    neighbor_planes: int | None = None,
) -> Run[RestoreStep, Restoration]:
    """Restore the missing pixels of an image (appendix E of [1]_, and refinement).

    A dictionary is selected on the image's own patches, with a loss that counts observed pixels only: by
    Replacement OLS if less than 70 % of the pixels are observed, by Replacement OMP otherwise. Overlapping
    patches, by default every second one, or every fourth if refinement follows, are then coded by OMP on
    their observed pixels, and each missing pixel becomes the median of all patches that cover it. Coarser
    scales are restored first; their estimates are weak observations of the missing pixels on the next finer
    scale, so holes larger than a patch are filled too. In images of integers, holes wider than 16 pixels,
    and spots in texture, are then filled with what is around them [3]_. Finally, rounds of non-local
    refinement, by default four, estimate the other missing pixels of a patch from similar patches nearby
    [2]_. The preset "paper" follows [1]_ alone.

    Parameters
    ----------
    image : array_like
        Integers of any depth, or floats: gray (H, W), RGB (H, W, 3), or with `channel_axis` and `axes` any
        number of channels and images. Missing pixels may have any value. An xarray.DataArray is returned as
        one, with its coordinates. A Dask array, of a single image, is planned immediately and restored tile
        by tile when the result is computed. A large array in memory is restored tile by tile, too.
    mask : array_like of bool, optional
        True = missing. In the shape of the image; or without its channels, if they miss the same pixels; or
        (H, W) for all images of a stack. If only some channels of a pixel are missing, the others are used
        to estimate them. Integers are taken as well if they are all 0 and 1, or all 0 and 255. Without a
        mask, NaN is missing. Masked entries of a masked array are always missing.
    settings : RestoreSettings or {"paper", "fast", "balanced", "best", "finest"}, optional
        Parameters, or the name of a preset. Default is "balanced".
    channel_axis : int or str, optional
        The axis of the channels, as in scikit-image; -1 is the last one. Every channel is restored: none is
        taken for alpha. By default an image has no channels, but the last axis of a three-dimensional image
        is taken for them if it has 3 entries (RGB), or a single one.
    axes : (int, int) or (str, str), optional
        The axes of rows and columns. All others, except for `channel_axis`, count images, such as the planes
        of a volume or the frames of a film, which are restored one by one with one dictionary. It is needed
        where there are such axes. The axes of an xarray.DataArray may be named.
    dictionary : (d, k) array_like, GroundSet or Selection, optional
        Atoms as columns, patches of ``settings.patch_size`` pixels squared in row-major order; or an earlier
        selection, such as ``restoration.selection``. They are used as they are. From a ground set, the
        dictionary is selected. By default it is selected from `standard_ground_set`.
    neighbor_planes : int or None, optional
        Of a stack: how many images before and after an image are searched for similar patches when it is
        refined, along the last axis that counts images; 0 refines every image by itself. None, the default,
        uses two if that brings held-out pixels of a few images closer to their values, and otherwise none.

    Returns
    -------
    Restoration
        Its image has the shape and dtype of the input, is finite, and stays within the range of the observed
        values. Observed pixels are unchanged, except with ``keep_observed=False``. If the input is a Dask
        array, so is the image, and what is known only after restoring is left out: usage and seconds.

    See Also
    --------
    iter_restore : The same, step by step, with partial results.
    tune : Chooses settings for an image.
    estimate_psnr : Estimates the quality of the result without the original.

    References
    ----------
    .. [1] K. Fujii and T. Soma, "Fast greedy algorithms for dictionary selection with generalized
       sparsity constraints", NeurIPS 2018. :DOI:`10.48550/arXiv.1809.02314`
    .. [2] M. Lebrun, A. Buades and J.-M. Morel, "A nonlocal Bayesian image denoising algorithm", SIAM Journal
       on Imaging Sciences 6(3), 2013. :DOI:`10.1137/120874989`
    .. [3] A. Newson, A. Almansa, Y. Gousseau and P. Pérez, "Non-local patch-based image inpainting", Image
       Processing On Line 7, 2017. :DOI:`10.5201/ipol.2017.189`

    Examples
    --------
    >>> import numpy as np
    >>> image = np.add.outer(np.arange(32), np.arange(32)).astype(np.uint8)
    >>> mask = np.zeros((32, 32), bool)
    >>> mask[10:14, 8:20] = True
    >>> restored = restore(np.where(mask, 0, image), mask).image
    >>> int(np.abs(restored.astype(int) - image).max()) <= 1
    True

    A volume of planes with two channels each, in which NaN is missing:

    >>> volume = np.broadcast_to(image / 64, (3, 2, 32, 32)).copy()
    >>> volume[:, :, mask] = np.nan
    >>> restoration = restore(volume, channel_axis=1, axes=(2, 3))
    >>> bool(np.abs(restoration.image - image / 64).max() < 0.02)
    True
    """
    reach = NEIGHBOR_PLANES.checked(neighbor_planes)
    asked = as_settings(settings)
    source = as_atom_source(dictionary, asked)
    if is_lazy(image):
        layout = as_layout(np.shape(image), channel_axis, axes)
        return GeneratorRun(lazy_steps(image, mask, asked, layout, source))
    damaged = as_damaged(image, mask, channel_axis, axes)
    if damaged.has_parts:
        return GeneratorRun(StackRestorer(damaged, asked, source, reach).steps())

    def finish(result: Restoration) -> Restoration:
        return replace(result, image=damaged.wrapped(result.image[None]))

    whole = damaged.whole()
    if whole.pixels.size > MAX_VALUES and whole.missing.any():
        return GeneratorRun(LargeImage(whole, asked, source, finish).steps())
    return GeneratorRun(image_steps(whole, asked, source, finish=finish))


iter_restore = step_by_step(
    restore, GeneratorRun[RestoreStep, Restoration], "whose steps show how far it is, with partial results"
)


def image_steps(
    image: Image,
    settings: RestoreSettings,
    source: AtomSource,
    *,
    plan: Plan | None = None,
    origin: tuple[int, int] = (0, 0),
    finish: Callable[[Restoration], Restoration] = lambda result: result,
) -> Generator[RestoreStep, None, Restoration]:
    """Restore an image as a single tile: yield the progress, and return the result.

    A given plan is used in place of a new one; it may be that of a larger image, of which this is the part
    that begins at `origin`. Partial results and the last one are what `finish` makes of them.
    """
    if not image.missing.any():
        resolved = settings.resolved(1.0, len(source))
        return finish(Restoration(image.pixels.copy(order="K"), resolved, missing_fraction=0.0))

    def partial_result(make: Callable[[], Restoration]) -> Callable[[], Restoration]:
        return lambda: finish(make())

    planning = GeneratorRun(planned_tile(image, settings, source, plan=plan, origin=origin))
    for fraction in planning:
        yield RestoreStep("select", _PLANNED * fraction)
    tile, shown = planning.result, 0.0
    for step in tile.steps():
        fraction = _PLANNED + (1 - _PLANNED) * step.fraction
        is_new = fraction > shown and fraction - shown >= (0 if step.is_last else _PARTIAL_INTERVAL)
        if step.is_visible and is_new:
            shown = fraction
            yield RestoreStep(step.stage, fraction, partial_result(tile.snapshot(settings.rounds)))
        else:
            yield RestoreStep(step.stage, fraction)
    return finish(tile.snapshot(settings.rounds)())
