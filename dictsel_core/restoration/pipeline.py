"""`restore`: from a damaged image to a restored one."""

from numpy.typing import ArrayLike

from dictsel_core._runs import GeneratorRun, Run, stepwise
from dictsel_core.ground_set import standard_ground_set
from dictsel_core.restoration.canvas import as_canvas
from dictsel_core.restoration.restorer import Restorer
from dictsel_core.restoration.result import Restoration, RestoreStep
from dictsel_core.restoration.settings import PresetName, RestoreSettings, as_settings


def restore(
    image: ArrayLike,
    mask: ArrayLike | None = None,
    settings: RestoreSettings | PresetName | None = None,
) -> Restoration:
    """Restore the missing pixels of an image (appendix E of the paper, and refinement).

    A dictionary is selected on the image's own patches, with a loss that counts observed pixels only: by
    Replacement OLS if less than 70 % of the pixels are observed, by Replacement OMP otherwise. Overlapping
    patches, by default every second one, are then coded by OMP on their observed pixels, and each missing
    pixel becomes the median of all patches that cover it. Coarser scales are restored first; their
    estimates are weak observations of the missing pixels on the next finer scale, so holes larger than a
    patch are filled too. Finally, rounds of non-local refinement, by default four, estimate the missing
    pixels of a patch from similar patches nearby [2]_. The preset "paper" follows the paper alone.

    Parameters
    ----------
    image : (H, W) or (H, W, C) array_like
        Gray, gray with alpha, RGB or RGBA; integers of any depth, or floats. Missing pixels may have any
        value, NaN included. Alpha is kept, and becomes opaque where a pixel was missing.
    mask : (H, W) or (H, W, C) array_like of bool, optional
        True = missing; per pixel, or per pixel and channel. If only some channels of a pixel are missing,
        the others are used to estimate them. Masked entries of a masked array are missing too, so it needs
        no other mask; any other image does.
    settings : RestoreSettings or {"paper", "fast", "balanced", "best"}, optional
        Parameters, or the name of a preset. Default is "balanced".

    Returns
    -------
    Restoration
        Its image has the shape and dtype of the input, is finite, and stays within the range of the observed
        values. Observed pixels are unchanged, except with ``keep_observed=False``.

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

    Examples
    --------
    >>> import numpy as np
    >>> image = np.add.outer(np.arange(32), np.arange(32)).astype(np.uint8)
    >>> mask = np.zeros((32, 32), bool)
    >>> mask[10:14, 8:20] = True
    >>> restored = restore(np.where(mask, 0, image), mask).image
    >>> int(np.abs(restored.astype(int) - image).max()) <= 1
    True
    """
    return iter_restore(image, mask, settings).finish()


def _start(
    image: ArrayLike, mask: ArrayLike | None, settings: RestoreSettings | PresetName | None
) -> Run[RestoreStep, Restoration]:
    canvas, asked = as_canvas(image, mask), as_settings(settings)
    ground_set = standard_ground_set((asked.patch_size, asked.patch_size), asked.bases)
    resolved = asked.resolved(1 - canvas.missing_fraction, len(ground_set))
    return GeneratorRun(Restorer(canvas, resolved, ground_set).steps())


iter_restore = stepwise(restore, _start)
