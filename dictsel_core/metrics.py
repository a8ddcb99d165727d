"""How near a picture is to its original."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def psnr(
    reference: ArrayLike, image: ArrayLike, *, mask: ArrayLike | None = None, data_range: float | None = None
) -> float:
    r"""Return the peak signal-to-noise ratio in decibels.

    It is :math:`10 \log_{10}(R^2 / \mathrm{MSE})` with the data range R; infinite for equal pictures.

    Parameters
    ----------
    reference, image : ndarray
        Of equal shape.
    mask : (H, W) or full-shape array_like of bool, optional
        Count only pixels where it is True: the missing ones.
    data_range : float, optional
        R; the largest value of an integer dtype, and 1 for floats, if left out.
    """
    original, picture = _as_pair(reference, image)
    peak = _as_range(data_range, original)
    error = np.square(original.astype(np.float64) - picture.astype(np.float64))
    if mask is not None:
        error = error[_as_selection(mask, original)]
    if error.size == 0:
        raise ValueError("There is no pixel to count: the mask is False everywhere.")
    mean = float(error.mean())
    if mean == 0:
        return float("inf")
    return float(10 * np.log10(peak**2 / mean))


def ssim(
    reference: ArrayLike, image: ArrayLike, *, mask: ArrayLike | None = None, data_range: float | None = None
) -> float:
    """Return the structural similarity (scikit-image's), the mean over channels and pixels.

    Parameters
    ----------
    reference, image : ndarray
        Of equal shape.
    mask : (H, W) or full-shape array_like of bool, optional
        Average only over pixels where it is True: the missing ones.
    data_range : float, optional
        As for `psnr`.
    """
    from skimage.metrics import structural_similarity  # noqa: PLC0415  (slow to import)

    original, picture = _as_pair(reference, image)
    window = min(7, *original.shape[:2])
    window -= 1 - window % 2
    if window < 3:
        raise ValueError(f"SSIM needs at least 3 x 3 pixels, but the shape is {original.shape}.")
    mean, values = structural_similarity(
        original.astype(np.float64),
        picture.astype(np.float64),
        win_size=window,
        data_range=_as_range(data_range, original),
        channel_axis=2 if original.ndim == 3 else None,
        full=True,
    )
    return float(mean if mask is None else values[_as_selection(mask, original)].mean())


def error_map(reference: ArrayLike, image: ArrayLike) -> NDArray[np.float64]:
    """Return the absolute error of each pixel, the mean over channels: (H, W)."""
    original, picture = _as_pair(reference, image)
    error: NDArray[np.float64] = np.abs(original.astype(np.float64) - picture.astype(np.float64))
    return error if error.ndim == 2 else error.mean(axis=2)


def _as_pair(reference: ArrayLike, image: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    original, picture = np.asarray(reference), np.asarray(image)
    if original.shape != picture.shape:
        raise ValueError(
            f"reference and image must have the same shape, but they have {original.shape} "
            f"and {picture.shape}."
        )
    if original.ndim not in (2, 3):
        raise ValueError(
            f"A picture has the shape (height, width) or (height, width, channels), not {original.shape}."
        )
    return original, picture


def _as_selection(mask: ArrayLike, original: NDArray[Any]) -> NDArray[np.bool_]:
    chosen = np.asarray(mask)
    if chosen.dtype != np.bool_:
        raise TypeError(f"mask must be boolean (True = missing), but its dtype is {chosen.dtype}.")
    if chosen.shape == original.shape[:2] and original.ndim == 3:
        chosen = chosen[:, :, None]
    try:
        return np.broadcast_to(chosen, original.shape)
    except ValueError:
        raise ValueError(
            f"mask must have the shape of the pictures, {original.shape}, but has {chosen.shape}."
        ) from None


def _as_range(data_range: float | None, original: NDArray[Any]) -> float:
    if data_range is not None:
        if not data_range > 0:
            raise ValueError(f"data_range must be positive, but is {data_range}.")
        return float(data_range)
    return float(np.iinfo(original.dtype).max) if np.issubdtype(original.dtype, np.integer) else 1.0
