"""Metrics of image quality, relative to a reference."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._support.layout import CHANNELS_LAST, Layout, as_layout
from dictsel_core._support.validation import as_bool_mask, as_plain_array, as_positive, masked_entries

_BAND = 256
#: Floats beyond this are not of unit range; noise may well go a little beyond 1.
_MAX_FLOAT = 2.0
#: Values of SSIM are clipped to as many times the data range.
_MAX_PEAKS = 1e70


def psnr(
    reference: ArrayLike, image: ArrayLike, *, mask: ArrayLike | None = None, data_range: float | None = None
) -> float:
    r"""Return the peak signal-to-noise ratio in decibels.

    It is :math:`10 \log_{10}(R^2 / \mathrm{MSE})` with the data range R.

    Parameters
    ----------
    reference, image : array_like
        Images or stacks of the same shape and range. Unless `data_range` is given, their dtype must be the
        same, or both are floats from 0 to 1.
    mask : array_like of bool, optional
        Only pixels where it is True count, such as the missing ones. By default all pixels do. In the shape
        of the images, or without their last axis, the channels.
    data_range : float, optional
        R. Default is the largest value of an integer dtype, and 1 for floats.

    Returns
    -------
    float
        Infinite for equal images; minus infinity if the square of an error is too large for float64.

    Raises
    ------
    TypeError, ValueError
        If the ranges cannot be compared, as those of bytes and of floats from 0 to 1.

    See Also
    --------
    ssim : Structural similarity.
    estimate_psnr : Estimates it without a reference.

    Examples
    --------
    >>> import numpy as np
    >>> psnr(np.zeros((8, 8)), np.full((8, 8), 0.1))
    20.0
    """
    original, other = _as_pair(reference, image, data_range)
    peak = _as_range(data_range, original)
    counted = None if mask is None else _as_selection(mask, original)
    total, count = 0.0, 0
    for rows in _bands(len(original)):
        with np.errstate(over="ignore"):
            error = np.square(_difference(original[rows], other[rows]) / peak)
        if counted is not None:
            error = error[counted[rows]]
        total, count = total + float(error.sum()), count + error.size
    if count == 0:
        raise ValueError("There is no pixel to count: the mask is False everywhere.")
    if total in (0, float("inf")):
        return float("inf") if total == 0 else float("-inf")
    return float(10 * np.log10(count / total))


def ssim(
    reference: ArrayLike,
    image: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    data_range: float | None = None,
    channel_axis: int | None = None,
) -> float:
    r"""Return the mean structural similarity over channels and pixels [1]_.

    With means :math:`\mu`, variances :math:`\sigma^2` and the covariance over patches of 7 x 7 pixels, it is
    :math:`(2 \mu_x \mu_y + c_1)(2 \sigma_{xy} + c_2) / ((\mu_x^2 + \mu_y^2 + c_1)(\sigma_x^2 +
    \sigma_y^2 + c_2))` with :math:`c_1 = (0.01 R)^2` and :math:`c_2 = (0.03 R)^2`, as in scikit-image.
    Without a mask, patches that extend beyond the border are omitted.

    Parameters
    ----------
    reference, image : (H, W) or (H, W, 3) array_like
        Of the same shape and range, as for `psnr`.
    mask : array_like of bool, optional
        As for `psnr`; without the channels or with them.
    data_range : float, optional
        As for `psnr`.
    channel_axis : int, optional
        As for `restore`: the axis of other channels than red, green and blue.

    Returns
    -------
    float
        At most 1, for equal images; NaN if no pixel counts.

    See Also
    --------
    psnr : Peak signal-to-noise ratio.

    References
    ----------
    .. [1] Z. Wang, A. C. Bovik, H. R. Sheikh and E. P. Simoncelli, "Image quality assessment: from error
       visibility to structural similarity", IEEE Transactions on Image Processing 13(4), 2004.
       :DOI:`10.1109/TIP.2003.819861`

    Examples
    --------
    >>> import numpy as np
    >>> image = np.random.default_rng(0).random((8, 8))
    >>> ssim(image, image)
    1.0
    >>> ssim(image, 1 - image) < 0
    True
    """
    original, other = _as_pair(reference, image, data_range)
    layout = _image_layout(original.shape, channel_axis)
    peak = _as_range(data_range, original)
    chosen = None if mask is None else layout.split_mask(as_bool_mask(mask))[0]
    if layout.channel is None and chosen is not None:
        chosen = chosen[:, :, 0]
    original, other = layout.split(original)[0], layout.split(other)[0]
    size = min(7, *original.shape[:2])
    size -= 1 - size % 2
    if size < 3:
        raise ValueError(f"SSIM needs at least 3 x 3 pixels, but the shape is {original.shape}.")
    if chosen is None:
        counted = _inside(original.shape, size // 2)
    else:
        counted = np.broadcast_to(chosen, original.shape)
    margins = [(size // 2, size // 2)] * 2 + [(0, 0)] * (original.ndim - 2)
    x, y = (np.pad(each, margins, mode="symmetric") for each in (original, other))
    total, count = 0.0, 0
    for rows in _bands(len(original)):
        reach = slice(rows.start, rows.stop + size - 1)
        values = _similarity(_in_peaks(x[reach], peak), _in_peaks(y[reach], peak), size)
        chosen = values[counted[rows]]
        total, count = total + float(chosen.sum()), count + chosen.size
    return total / count if count else float("nan")


def _in_peaks(values: NDArray[Any], peak: float) -> NDArray[np.float64]:
    """Return values in units of the data range, as far as their fourth powers are finite."""
    with np.errstate(over="ignore"):
        return np.asarray(np.clip(values.astype(np.float64) / peak, -_MAX_PEAKS, _MAX_PEAKS))


def _similarity(x: NDArray[np.float64], y: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the SSIM of every patch of two padded images: smaller by size - 1 in both directions."""
    mean_x, mean_y = _patch_means(x, size), _patch_means(y, size)
    sample = size**2 / (size**2 - 1)  # variances of a sample
    variance_x = sample * (_patch_means(x * x, size) - mean_x * mean_x)
    variance_y = sample * (_patch_means(y * y, size) - mean_y * mean_y)
    covariance = sample * (_patch_means(x * y, size) - mean_x * mean_y)
    c1, c2 = 0.01**2, 0.03**2
    similar = (2 * mean_x * mean_y + c1) * (2 * covariance + c2)
    scale: NDArray[np.float64] = (mean_x**2 + mean_y**2 + c1) * (variance_x + variance_y + c2)
    return similar / scale


def _patch_means(values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the means over size x size patches: smaller by size - 1 in both directions."""
    height, width = values.shape[0] - size + 1, values.shape[1] - size + 1
    rows = values[:height].copy()
    for shift in range(1, size):
        rows += values[shift : shift + height]
    means = rows[:, :width].copy()
    for shift in range(1, size):
        means += rows[:, shift : shift + width]
    means /= size**2
    return means


def _inside(shape: tuple[int, ...], margin: int) -> NDArray[np.bool_]:
    """Return which values are at least `margin` pixels away from the border."""
    inside = np.zeros(shape, np.bool_)
    inside[margin : shape[0] - margin, margin : shape[1] - margin] = True
    return inside


def _bands(height: int) -> list[slice]:
    """Cut rows into bands, so that temporary arrays stay small."""
    return [slice(top, min(top + _BAND, height)) for top in range(0, height, _BAND)]


def error_map(
    reference: ArrayLike, image: ArrayLike, *, channel_axis: int | None = None
) -> NDArray[np.float64]:
    """Return the absolute error of each pixel, averaged over channels: (H, W).

    Parameters
    ----------
    reference, image : (H, W) or (H, W, 3) array_like
        Of the same shape and dtype, or both floats.
    channel_axis : int, optional
        As for `restore`: the axis of other channels than red, green and blue.

    Examples
    --------
    >>> import numpy as np
    >>> error_map(np.zeros((1, 2)), np.array([[0.0, 0.5]])).tolist()
    [[0.0, 0.5]]
    """
    original, other = _as_pair(reference, image, 1.0)
    _check_same_dtype(original, other)
    layout = _image_layout(original.shape, channel_axis)
    error = _difference(original, other)
    return error if layout.channel is None else error.mean(axis=layout.channel)


def _difference(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.float64]:
    """Return the absolute difference; exact for 64-bit integers, which float64 would round first."""
    if one.dtype == other.dtype and one.dtype.kind in "iu" and one.dtype.itemsize == 8:
        larger, smaller = np.maximum(one, other), np.minimum(one, other)
        return np.asarray(larger.astype(np.uint64) - smaller.astype(np.uint64), np.float64)
    with np.errstate(over="ignore"):
        return np.asarray(np.abs(one.astype(np.float64) - other.astype(np.float64)))


def _as_pair(
    reference: ArrayLike, image: ArrayLike, data_range: float | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return two images, if they can be compared."""
    original, other = _as_image(reference, "reference"), _as_image(image, "image")
    if original.shape != other.shape:
        raise ValueError(
            f"reference and image must have the same shape, but they have {original.shape} and {other.shape}."
        )
    if original.ndim < 2 or original.size == 0:
        raise ValueError(
            f"Images must have the shape (height, width) at least, and pixels, not {original.shape}."
        )
    if data_range is None:
        _check_same_dtype(original, other)
        _check_unit_range(original, "reference")
        _check_unit_range(other, "image")
    return original, other


def _image_layout(shape: tuple[int, ...], channel_axis: int | None) -> Layout:
    """Return the layout of a single image."""
    if len(shape) > 3:
        raise ValueError(
            f"Images must have at most three axes, not {shape}; compare the images of a stack one by one."
        )
    if len(shape) == 3 and channel_axis is None and shape[2] not in CHANNELS_LAST:
        raise ValueError(
            f"It is not clear which axis of images of shape {shape} holds channels: give channel_axis, such "
            "as channel_axis=-1."
        )
    return as_layout(shape, channel_axis)


def _check_same_dtype(original: NDArray[Any], other: NDArray[Any]) -> None:
    """Refuse images whose values mean different things, such as bytes and floats from 0 to 1."""
    if original.dtype != other.dtype and not original.dtype.kind == other.dtype.kind == "f":
        raise TypeError(
            f"reference is {original.dtype} and image is {other.dtype}: convert one of them to the dtype and "
            "the range of the other."
        )


def _check_unit_range(image: NDArray[Any], name: str) -> None:
    """Refuse floats that are far from the range 0 to 1, which they are taken to have."""
    if image.dtype.kind != "f":
        return
    size = max(-float(image.min()), float(image.max()))
    if size > _MAX_FLOAT:  # not if one of them is NaN
        raise ValueError(
            f"{name} holds values as large as {size:.4g}, but floats are taken to range from 0 to 1; give "
            "data_range."
        )


def _as_image(value: ArrayLike, name: str) -> NDArray[Any]:
    if masked_entries(value) is not None:
        raise TypeError(f"{name} must be a plain array; fill its masked pixels, or measure with mask=...")
    image = as_plain_array(value, name)
    if image.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, but its dtype is {image.dtype}.")
    return image.astype(image.dtype.newbyteorder("="), copy=False)


def _as_selection(mask: ArrayLike, original: NDArray[Any]) -> NDArray[np.bool_]:
    chosen = as_bool_mask(mask)
    if chosen.shape == original.shape[:-1] and original.ndim > 2:
        return np.broadcast_to(chosen[..., None], original.shape)
    if chosen.shape != original.shape:
        raise ValueError(f"mask must have the shape of the images, {original.shape}, but has {chosen.shape}.")
    return chosen


def _as_range(data_range: float | None, original: NDArray[Any]) -> float:
    if data_range is not None:
        return as_positive(data_range, "data_range")
    return float(np.iinfo(original.dtype).max) if np.issubdtype(original.dtype, np.integer) else 1.0
