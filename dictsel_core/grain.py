"""Grain: restored pixels are smooth, and in a grainy picture they get the noise of the pixels around them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from dictsel_core._util.arrays import Axis, as_layout
from dictsel_core._util.validation import Bools, Doubles, Ints, as_bool_mask, as_generator, as_real_array
from dictsel_core.restoration.image import observed_ranges

Singles = NDArray[np.float32]

#: Side of the tiles in which noise is measured: large enough for the spectrum of blurred grain.
_TILE = 16
#: Tiles on each side of a tile that say what is around it.
_AROUND = 3
#: Fewer intact tiles say nothing about the noise.
_MIN_TILES = 8
#: Most tiles that are used for the spectrum, and that are looked at at once.
_MAX_TILES, _AT_ONCE = 4096, 512
#: Tiles by brightness are parted into as many groups, since grain depends on it.
_GROUPS = 8
#: The standard deviation of Gaussian noise over the median of its absolute values.
_DEVIATION = 1.4826
#: The flattest part of each group, and the variance, relative to it, up to which a tile is flat too.
_FLATTEST, _FLAT = 0.25, 1.5
#: Noise of less than so many levels is rounding.
_ROUNDING = 0.5
#: The field of noise repeats after as many pixels, which cannot be seen in what was restored.
_PERIOD = 512
#: Side of the cells in which the noise that restored pixels have already is measured.
_CELL = 64
#: Fewer values do not say how much noise restored pixels have.
_MIN_VALUES = 30
#: The part of them, the smallest, that is taken for noise.
_WITHOUT_EDGES = 0.75


def match_grain(
    image: ArrayLike,
    mask: ArrayLike,
    *,
    channel_axis: Axis | None = None,
    rng: np.random.Generator | int | None = None,
) -> NDArray[Any]:
    """Add grain to restored pixels, so that they do not show as a smooth band in a grainy picture.

    Noise is measured in the flattest intact tiles of 16 x 16 pixels around restored ones: its level by
    brightness and channel, its spectrum, and how channels depend on one another. Gaussian noise with these
    properties is added to restored pixels, less what they have of it already, as where texture was copied.
    Where the surroundings are clean, nothing is added. It is for the eye: errors become larger by it.

    Parameters
    ----------
    image : (H, W) or (H, W, C) array_like
        A restored image, as of `restore`. Floats are returned as they are: they are measurements.
    mask : array_like of bool
        True = restored. In the shape of the image, or without its channels.
    channel_axis : int, optional
        The axis of the channels, as for `restore`.
    rng : numpy.random.Generator or int, optional
        Random generator, or its seed. Default is 0.

    Returns
    -------
    ndarray
        A new image of the same shape and dtype. Pixels that are not in the mask are unchanged; the others
        stay within the range of these in each channel.

    Examples
    --------
    >>> import numpy as np
    >>> grain = np.random.default_rng(1).normal(0, 6, (128, 128))
    >>> image = np.rint(120 + grain).astype(np.uint8)
    >>> mask = np.zeros((128, 128), bool)
    >>> mask[40:80, 60:66] = True
    >>> image[mask] = 120
    >>> bool(4 < match_grain(image, mask)[mask].std() < 8)
    True
    """
    pixels, rng = as_real_array(image, "image"), as_generator(rng)
    layout = as_layout(pixels.shape, channel_axis)
    restored = layout.split_mask(as_bool_mask(mask))[0]
    if pixels.dtype.kind == "f" or not restored.any() or restored.all():
        return pixels.copy()
    planes = layout.split(pixels)[0]
    grain = _measure(planes, np.asarray(restored.any(axis=2)))
    return pixels.copy() if grain is None else layout.join(_with_grain(planes, restored, grain, rng))


@dataclass(frozen=True, eq=False)
class _Grain:
    """The noise around restored pixels; S tiles down and T across, C channels."""

    brightness: Doubles  #: (S, T): mean of each tile.
    around: Doubles  #: (S, T, C): median variance of the intact tiles around; infinite without any.
    groups: Doubles  #: (G,): brightness of each group, ascending.
    variances: Doubles  #: (G, C): of the noise in each group.
    spectrum: NDArray[np.complex128]  #: (16, 16, C, C): square root of the spectrum, for a variance of 1.

    def levels(self, rows: Ints, columns: Ints) -> Doubles:
        """Return the standard deviation of the noise, (n, C), of pixels."""
        tiles = rows // _TILE, columns // _TILE
        brightness, n_channels = self.brightness[tiles], self.variances.shape[1]
        by_brightness = [
            np.interp(brightness, self.groups, self.variances[:, channel]) for channel in range(n_channels)
        ]
        level = np.sqrt(np.minimum(np.stack(by_brightness, axis=1), self.around[tiles]))
        return np.where(level < _ROUNDING, 0.0, level)


def _measure(planes: NDArray[Any], restored: Bools) -> _Grain | None:
    height, width, n_channels = planes.shape
    shape = -(-height // _TILE), -(-width // _TILE)
    edges = np.arange(shape[0]) * _TILE, np.arange(shape[1]) * _TILE
    touched = np.logical_or.reduceat(np.logical_or.reduceat(restored, edges[0]), edges[1], axis=1)
    size = 2 * _AROUND + 1
    near: Bools = np.asarray(sliding_window_view(np.pad(touched, _AROUND), (size, size)).any(axis=(2, 3)))
    near[height // _TILE :] = near[:, width // _TILE :] = False  # incomplete tiles
    places = np.argwhere(near & ~touched)
    if len(places) < _MIN_TILES:
        return None
    rows = (planes[top : top + _TILE].mean(axis=2, dtype=np.float32).sum(axis=0) for top in edges[0])
    sums = np.stack([np.add.reduceat(row, edges[1]) for row in rows])
    areas = np.outer(np.diff([*edges[0], height]), np.diff([*edges[1], width]))
    brightness = np.asarray(sums / areas, np.float64)
    variances = np.full((*shape, n_channels), np.inf)
    for part in np.array_split(places, -(-len(places) // _AT_ONCE)):
        medians = np.median(np.abs(_residuals(planes, part)), axis=(1, 2))  # edges count little
        variances[tuple(part.T)] = np.square(_DEVIATION * medians)
    at = tuple(places.T)
    groups, levels, flat = _by_brightness(brightness[at], variances[at])
    chosen = places[flat][:: -(-int(flat.sum()) // _MAX_TILES)]
    spectrum = _spectrum(_residuals(planes, chosen))
    return _Grain(brightness, _medians_around(variances, touched), groups, levels, spectrum)


def _residuals(planes: NDArray[Any], places: Ints) -> Singles:
    """Return tiles, (n, 16, 16, C), without a polynomial of degree 3 in each."""
    steps = np.arange(_TILE)
    rows, columns = (places[:, axis, None] * _TILE + steps for axis in (0, 1))
    tiles = planes[rows[:, :, None], columns[:, None, :]].astype(np.float32)
    y, x = (each.ravel() / _TILE - 0.5 for each in np.mgrid[:_TILE, :_TILE])
    powers = [x**across * y**down for across in range(4) for down in range(4 - across)]
    basis = np.linalg.qr(np.stack(powers, axis=1))[0].astype(np.float32)
    flat = tiles.reshape(len(tiles), _TILE**2, -1)
    smooth = np.einsum("pk,nkc->npc", basis, np.einsum("pk,npc->nkc", basis, flat))
    residuals: Singles = (flat - smooth).reshape(tiles.shape)
    return residuals


def _by_brightness(brightness: Doubles, variances: Doubles) -> tuple[Doubles, Doubles, Bools]:
    """Return brightness and noise of groups of tiles, and which tiles hold nothing but noise."""
    order = np.argsort(brightness, kind="stable")
    flat = np.zeros(len(order), np.bool_)
    centers, levels = [], []
    for group in np.array_split(order, min(_GROUPS, len(order) // _MIN_TILES)):
        totals = variances[group].sum(axis=1)
        chosen = group[totals <= _FLAT * np.quantile(totals, _FLATTEST)]
        flat[chosen] = True
        centers.append(brightness[chosen].mean())
        levels.append(variances[chosen].mean(axis=0))
    return np.array(centers), np.array(levels), flat


def _medians_around(variances: Doubles, touched: Bools) -> Doubles:
    """Return the median variance of the intact tiles around each touched tile; infinite without any."""
    medians = np.full(variances.shape, np.inf)
    size = 2 * _AROUND + 1
    padded = np.pad(variances, ((_AROUND, _AROUND), (_AROUND, _AROUND), (0, 0)), constant_values=np.inf)
    windows = sliding_window_view(padded, (size, size), axis=(0, 1))[touched]
    ordered = np.sort(windows.reshape(*windows.shape[:2], -1), axis=2)
    middle = (np.isfinite(ordered).sum(axis=2, keepdims=True) - 1) // 2  # -1, which is infinite, without any
    medians[touched] = np.take_along_axis(ordered, middle, axis=2)[..., 0]
    return medians


def _spectrum(residuals: Singles) -> NDArray[np.complex128]:
    """Return the square root of the mean cross-spectrum, for channels of variance 1."""
    window = np.hanning(_TILE + 2)[1:-1]
    scale = np.maximum(residuals.std(axis=(0, 1, 2), dtype=np.float64), np.finfo(np.float32).tiny)
    cross = np.zeros((_TILE, _TILE, len(scale), len(scale)), np.complex128)
    for start in range(0, len(residuals), _AT_ONCE):
        tiles = residuals[start : start + _AT_ONCE] / scale * np.outer(window, window)[:, :, None]
        waves = np.fft.fft2(tiles, axes=(1, 2))
        cross += np.einsum("nyxc,nyxd->yxcd", waves, waves.conj())
    variance = np.einsum("yxcc->c", cross).real
    cross /= np.sqrt(np.outer(variance, variance)).clip(min=np.finfo(np.float64).tiny) / _TILE**2
    values, vectors = np.linalg.eigh(cross)
    root: NDArray[np.complex128] = np.einsum(
        "yxce,yxe,yxde->yxcd", vectors, np.sqrt(values.clip(min=0)), vectors.conj()
    )
    return root


def _field(spectrum: NDArray[np.complex128], rng: np.random.Generator) -> Singles:
    """Return periodic Gaussian noise, (512, 512, C), with a spectrum; `_residuals` have a variance of 1."""
    n_channels = spectrum.shape[2]
    kernel = np.fft.ifft2(spectrum, axes=(0, 1)).real
    half = _TILE // 2
    padded = np.zeros((_PERIOD, _PERIOD, n_channels, n_channels))
    padded[:_TILE, :_TILE] = np.roll(kernel, (half, half), axis=(0, 1))
    white = rng.standard_normal((_PERIOD, _PERIOD, n_channels))
    waves = np.einsum("yxcd,yxd->yxc", np.fft.rfft2(padded, axes=(0, 1)), np.fft.rfft2(white, axes=(0, 1)))
    field = np.fft.irfft2(waves, (_PERIOD, _PERIOD), axes=(0, 1)).astype(np.float32)
    tiles = np.argwhere(np.ones((_PERIOD // _TILE, _PERIOD // _TILE), np.bool_))
    left = _residuals(field, tiles).var(axis=(1, 2)).mean(axis=0)
    field /= np.sqrt(np.maximum(left, np.finfo(np.float32).tiny))
    return field


def _with_grain(
    planes: NDArray[Any], restored: Bools, grain: _Grain, rng: np.random.Generator
) -> NDArray[Any]:
    """Return the image with noise at restored pixels, cell by cell."""
    result, field = planes.copy(), _field(grain.spectrum, rng)
    anywhere: Bools = np.asarray(restored.any(axis=2))
    hidden, info = np.broadcast_to(restored, planes.shape), np.iinfo(planes.dtype)
    ranges = [
        (each.low, each.high) if each else (info.min, info.max) for each in observed_ranges(planes, restored)
    ]
    least, most = np.array(ranges, planes.dtype).T
    for top in range(0, planes.shape[0], _CELL):
        for left in range(0, planes.shape[1], _CELL):
            cell = np.s_[top : top + _CELL, left : left + _CELL]
            if not anywhere[cell].any():
                continue
            rows, columns = np.nonzero(anywhere[cell])
            noise = np.zeros(planes[cell].shape, np.float32)
            drawn = field[(rows + top) % _PERIOD, (columns + left) % _PERIOD]
            noise[rows, columns] = drawn * grain.levels(rows + top, columns + left)
            noise *= _lack(planes[cell], noise, anywhere[cell])
            noisy = np.clip(np.rint(planes[cell] + noise), least, most)
            result[cell] = np.where(hidden[cell], noisy.astype(planes.dtype), planes[cell])
    return result


def _lack(pixels: NDArray[Any], noise: Singles, restored: Bools) -> float:
    """Return the factor for noise, 0 to 1, that with the noise of restored pixels gives its full level."""
    has, full = _roughness(pixels.astype(np.float32), restored), _roughness(np.rint(noise), restored)
    if full is None or has is None:
        return 1.0
    return float(np.sqrt(1 - has / full)) if has < full else 0.0


def _roughness(values: Singles, restored: Bools) -> float | None:
    """Return the mean square of second differences of restored pixels, without edges; None for too few."""
    squares = []
    for axis in (0, 1):
        if restored.shape[axis] < 3:
            return None
        inside = sliding_window_view(restored, 3, axis=axis).all(axis=-1)
        squares.append(np.diff(values, 2, axis=axis)[inside].ravel() ** 2)
    ordered = np.sort(np.concatenate(squares))
    smaller = ordered[: int(len(ordered) * _WITHOUT_EDGES)]
    return float(smaller.mean()) if len(ordered) >= _MIN_VALUES else None
