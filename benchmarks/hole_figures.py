"""What people see of a filled hole, in figures: detail, patches, seam, color.

PSNR and SSIM prefer fog to texture that is not the original's, pixel by pixel; none of these do. All take
float images (H, W, C) of 0 to 255 and the mask of a hole, True = missing. The original itself has detail 1,
patches 1, a step of about 1 and a color error of 0.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, gaussian_filter
from skimage.color import rgb2lab

from benchmarks.pictures import Mask

Pixels = NDArray[np.float64]

#: Height and width of the patches that are compared, and how far around the hole patches are looked at.
_PATCH_SIZE, _CONTEXT = 7, 48
#: Directions on which patches are projected, and quantiles of each projection that are compared.
_N_DIRECTIONS, _N_QUANTILES = 128, 200
#: Pixels outside of the border over which gradients are measured.
_RIM = 3
#: Standard deviation, in pixels, of the blur before colors are compared.
_COLOR_SCALE = 4.0


def figures(original: NDArray[np.uint8], result: NDArray[np.uint8], mask: Mask) -> dict[str, float]:
    """Return all figures of a result by name."""
    first, second = (_with_channels(each) for each in (original, result))
    return {
        "detail": detail(second, mask) / max(detail(first, mask), 1e-9),
        "patches": patch_distance(second, mask) / max(patch_distance(first, mask), 1e-9),
        "step": border_step(second, mask),
        "color": color_error(first, second, mask),
    }


def detail(image: Pixels, mask: Mask) -> float:
    """Return the mean length of the gradient of the brightness inside the hole."""
    gray = image.mean(axis=2)
    inside = mask[:-1, :-1] & mask[1:, :-1] & mask[:-1, 1:]
    down, across = np.diff(gray, axis=0)[:, :-1], np.diff(gray, axis=1)[:-1]
    return float(np.hypot(down, across)[inside].mean())


def patch_distance(image: Pixels, mask: Mask) -> float:
    """Return the sliced Wasserstein distance of the patches inside the hole from those around it."""
    near = binary_dilation(mask, iterations=_CONTEXT)
    windows = sliding_window_view(np.stack([mask, near]), (_PATCH_SIZE, _PATCH_SIZE), axis=(1, 2))
    inside = windows[0].any(axis=(2, 3)) & (windows[0].mean(axis=(2, 3)) >= 0.5)
    around = ~windows[0].any(axis=(2, 3)) & windows[1].all(axis=(2, 3))
    patches = sliding_window_view(image, (_PATCH_SIZE, _PATCH_SIZE), axis=(0, 1))
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(_PATCH_SIZE**2 * image.shape[2], _N_DIRECTIONS))
    directions /= np.linalg.norm(directions, axis=0)
    levels = (np.arange(_N_QUANTILES) + 0.5) / _N_QUANTILES
    quantiles = [
        np.quantile(patches[where].reshape(np.count_nonzero(where), -1) @ directions, levels, axis=0)
        for where in (inside, around)
    ]
    return float(np.abs(quantiles[0] - quantiles[1]).mean())


def border_step(image: Pixels, mask: Mask) -> float:
    """Return the mean difference of neighbors across the border over that of neighbors just outside."""
    outside = binary_dilation(mask, iterations=_RIM + 1) & ~mask
    across, beyond = [], []
    for axis in (0, 1):
        change = np.abs(np.diff(image, axis=axis)).mean(axis=2)
        pairs = [np.moveaxis(each, axis, 0) for each in (mask, outside)]
        crosses, lies_outside = pairs[0][:-1] != pairs[0][1:], pairs[1][:-1] & pairs[1][1:]
        change = np.moveaxis(change, axis, 0)
        across.append(change[crosses])
        beyond.append(change[lies_outside])
    return float(np.concatenate(across).mean() / max(np.concatenate(beyond).mean(), 1e-9))


def color_error(original: Pixels, result: Pixels, mask: Mask) -> float:
    """Return the mean distance in CIELAB, inside the hole, of both images blurred."""
    labs = [
        rgb2lab(gaussian_filter(_as_rgb(each), (_COLOR_SCALE, _COLOR_SCALE, 0)) / 255)
        for each in (original, result)
    ]
    return float(np.linalg.norm(labs[0] - labs[1], axis=2)[mask].mean())


def _with_channels(image: NDArray[np.uint8]) -> Pixels:
    pixels = image.astype(np.float64)
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _as_rgb(image: Pixels) -> Pixels:
    return np.repeat(image, 3, axis=2) if image.shape[2] == 1 else image
