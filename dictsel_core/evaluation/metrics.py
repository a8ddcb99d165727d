"""Metrics of image quality, relative to a reference."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dictsel_core._util.arrays import CHANNELS_LAST, Layout, as_layout, row_bands
from dictsel_core._util.validation import as_array, as_bool_mask, as_plain_array, as_positive, masked_entries

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
        Images or stacks of the same shape. Unless `data_range` is given, their dtype must be the same, or
        both are floats. Values that are NaN in the reference do not count.
    mask : array_like of bool, optional
        Only pixels where it is True count, such as the missing ones. By default all pixels do. In the shape
        of the images, or without their last axis, the channels.
    data_range : float, optional
        R. Default is ``observed_range(reference)``: 255 for bytes, the range of its values for floats and
        for integers of more than 8 bits.

    Returns
    -------
    float
        Infinite for equal images; minus infinity if the square of an error is too large for float64.

    Examples
    --------
    >>> import numpy as np
    >>> psnr(np.zeros((8, 8)), np.full((8, 8), 0.1))
    20.0
    """
    original, other = _as_pair(reference, image, data_range)
    mean = _mean_square(original, other, mask, _as_range(data_range, original))
    if mean in (0, float("inf")):
        return float("inf") if mean == 0 else float("-inf")
    return float(-10 * np.log10(mean))


def rmse(reference: ArrayLike, image: ArrayLike, *, mask: ArrayLike | None = None) -> float:
    """Return the root of the mean squared error, in the unit of the data.

    Parameters
    ----------
    reference, image, mask
        As for `psnr`; image and reference have the same dtype, or both are floats.

    Examples
    --------
    >>> import numpy as np
    >>> rmse(np.full((8, 8), 290.0), np.full((8, 8), 292.5))
    2.5
    """
    original, other = _as_pair(reference, image, None)
    unit = span(original, None, "reference")
    return float(unit * np.sqrt(_mean_square(original, other, mask, unit)))


def observed_range(image: ArrayLike, mask: ArrayLike | None = None) -> float:
    """Return the data range to which PSNR and SSIM refer unless they are told another.

    Bytes have a white that pictures share: 255 (127 if they are signed). Of floats, and of integers of more
    than 8 bits, nobody knows the white: a camera of 12 bits stores its values in 16, and a temperature has
    none. Their range is that of the values that are there, the largest less the smallest.

    Parameters
    ----------
    image : array_like
        An image or a stack. NaN, infinite values and the masked values of a masked array do not count.
    mask : array_like of bool, optional
        True where a value is missing, and does not count. In the shape of the image, or without its last
        axis, the channels.

    Returns
    -------
    float
        Positive: 1 if all values are equal.

    Examples
    --------
    >>> import numpy as np
    >>> observed_range(np.array([[3, 200]], np.uint8)), observed_range(np.array([[270.0, np.nan, 300.0]]))
    (255.0, 30.0)
    """
    own = masked_entries(image)
    pixels = _as_real(as_array(image, "image"), "image")
    given = [_as_selection(each, pixels) for each in (mask, own) if each is not None]
    return span(pixels, np.logical_or.reduce(given) if given else None, "image")


def span(image: NDArray[Any], missing: NDArray[np.bool_] | None, name: str) -> float:
    """Return the `observed_range` of a checked image; `missing` may be broadcast to its shape."""
    if image.dtype.kind == "b" or image.dtype.itemsize == 1:
        return float(np.iinfo(image.dtype).max) if image.dtype.kind in "iu" else 1.0
    unknown = None if missing is None else np.broadcast_to(missing, image.shape)
    lows, highs = [], []
    for rows in row_bands(image.shape):
        values = image[rows] if unknown is None else image[rows][~unknown[rows]]
        values = values[np.isfinite(values)]
        if values.size:
            lows.append(values.min().item())
            highs.append(values.max().item())
    if not lows:
        raise ValueError(f"{name} holds no number: every value is missing, NaN or infinite.")
    # Of Python's numbers, so that integers do not overflow.
    return min(float(max(highs) - min(lows)), float(np.finfo(np.float64).max)) or 1.0


def _mean_square(original: NDArray[Any], other: NDArray[Any], mask: ArrayLike | None, unit: float) -> float:
    """Return the mean squared error of the values that count, in a unit."""
    counted = None if mask is None else _as_selection(mask, original)
    total, count = 0.0, 0
    for rows in row_bands(original.shape):
        with np.errstate(over="ignore"):
            error = np.square(_difference(original[rows], other[rows]) / unit)
        known = ~np.isnan(original[rows])
        error = error[known if counted is None else known & counted[rows]]
        total, count = total + float(error.sum()), count + error.size
    if count == 0:
        raise ValueError("There is no pixel to count: the mask is False, or the reference NaN, everywhere.")
    if np.isnan(total):
        raise ValueError("image is NaN where the reference is not: there is nothing to compare.")
    return total / count


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
        As for `psnr`. Patches with NaN do not count.
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
    original, other = layout.split(original)[0], layout.split(other)[0]
    size = min(7, *original.shape[:2])
    size -= 1 - size % 2
    if size < 3:
        raise ValueError(f"SSIM needs at least 3 x 3 pixels, but the shape is {original.shape}.")
    if chosen is None:  # patches that lie inside
        chosen = np.zeros(original.shape, bool)
        chosen[size // 2 : -(size // 2), size // 2 : -(size // 2)] = True
    counted = np.broadcast_to(chosen, original.shape)
    margins = [(size // 2, size // 2), (size // 2, size // 2), (0, 0)]
    x, y = (np.pad(each, margins, mode="symmetric") for each in (original, other))
    total, count = 0.0, 0
    for rows in row_bands(original.shape):
        reach = slice(rows.start, rows.stop + size - 1)
        values = _similarity(_in_peaks(x[reach], peak), _in_peaks(y[reach], peak), size)
        chosen = values[counted[rows] & ~np.isnan(values)]
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
    original, other = _as_pair(reference, image, None)
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
    are_floats = original.dtype.kind == other.dtype.kind == "f"
    if data_range is None and original.dtype != other.dtype and not are_floats:
        raise TypeError(
            f"reference is {original.dtype} and image is {other.dtype}: convert one of them to the dtype and "
            "the range of the other."
        )
    return original, other


def _image_layout(shape: tuple[int, ...], channel_axis: int | None) -> Layout:
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


def _as_image(value: ArrayLike, name: str) -> NDArray[Any]:
    if masked_entries(value) is not None:
        raise TypeError(f"{name} must be a plain array; fill its masked pixels, or measure with mask=...")
    return _as_real(as_plain_array(value, name), name)


def _as_real(image: NDArray[Any], name: str) -> NDArray[Any]:
    if image.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, but its dtype is {image.dtype}.")
    return image.astype(image.dtype.newbyteorder("="), copy=False)


def _as_selection(mask: ArrayLike, original: NDArray[Any]) -> NDArray[np.bool_]:
    chosen = as_bool_mask(mask)
    if chosen.shape == original.shape[:-1] and original.ndim > 2:
        return np.broadcast_to(chosen[..., None], original.shape)
    return as_bool_mask(chosen, shape=original.shape, of="the images")


def _as_range(data_range: float | None, original: NDArray[Any]) -> float:
    if data_range is not None:
        return as_positive(data_range, "data_range")
    return span(original, None, "reference")
