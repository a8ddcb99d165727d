"""Pixels copied from another place of a picture, as they are or with the tones of where they go."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaint_app.model.picture import Array, Mask, Rect

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_Values = npt.NDArray[np.float64]
#: Larger areas begin with the solution for half as many rows and columns.
_MAX_DIRECT = 2_000
_MAX_STEPS = 300


class Offset(NamedTuple):
    """How far from a pixel the one lies that is copied onto it."""

    rows: int
    columns: int


@dataclass(frozen=True)
class CopySource:
    """Where a stroke copies from."""

    offset: Offset
    #: Whether colors and brightness remain those around the stroke, and only the texture is copied.
    keeps_tones: bool


def copied(
    image: Array, seen: Mask, rect: Rect, wanted: Mask, source: CopySource, check: Callable[[], None]
) -> tuple[Array, Mask]:
    """Return the pixels of a rectangle with the wanted ones copied, and which of these could be.

    Pixels beside the picture and those that are not seen, True in `seen`, are not copied. `check` is called
    now and then; what it raises ends the work.
    """
    from scipy import ndimage  # noqa: PLC0415  (slow to import)

    outer = rect.widened(1, image.shape)
    texture, is_there = _shifted(image, seen, outer, source.offset)
    area = np.zeros(is_there.shape, np.bool_)
    area[rect.within(outer).slices] = wanted
    area &= is_there
    target = image[outer.slices]
    pixels = np.array(target)
    pixels[area] = texture[area]
    if source.keeps_tones and area.any():
        rim = ndimage.binary_dilation(area) & ~area & is_there & seen[outer.slices]
        step = np.where(np.atleast_3d(rim), np.atleast_3d(target).astype(float) - np.atleast_3d(texture), 0.0)
        change = membrane(step, area, rim, check)
        toned = np.atleast_3d(texture).astype(float) + change
        if image.dtype.kind in "iu":
            limits = np.iinfo(image.dtype)
            toned = np.clip(np.rint(toned), limits.min, limits.max)
        pixels[area] = toned.reshape(pixels.shape)[area].astype(image.dtype)
    inner = rect.within(outer).slices
    return pixels[inner], area[inner]


def _shifted(image: Array, seen: Mask, outer: Rect, offset: Offset) -> tuple[Array, Mask]:
    """Return the pixels that lie at an offset from those of a rectangle, and which of them there are."""
    moved = Rect(outer.row + offset.rows, outer.column + offset.columns, outer.height, outer.width)
    there = moved.clipped(image.shape)
    texture = np.zeros((outer.height, outer.width, *image.shape[2:]), image.dtype)
    is_there = np.zeros(texture.shape[:2], np.bool_)
    if not there.is_empty:
        place = there.within(moved).slices
        texture[place], is_there[place] = image[there.slices], seen[there.slices]
    return texture, is_there


def membrane(values: _Values, area: Mask, rim: Mask, check: Callable[[], None]) -> _Values:
    """Return what is known on a rim, (H, W, C), continued over an area by means of neighbors.

    It is harmonic, as the correction in Pérez, Gangnet and Blake, Poisson image editing (2003). Solved by
    conjugate gradients, which begin with the solution of a smaller picture.
    """
    from scipy.sparse import linalg  # noqa: PLC0415  (slow to import)

    check()
    result = np.where(rim[..., None], values, 0.0)
    if not (area.any() and rim.any()):
        return result
    n_pixels = np.count_nonzero(area)
    start = None if n_pixels <= _MAX_DIRECT else _coarser(values, area, rim, check)[area]
    matrix, spread = _laplacian(area, rim)
    for channel in range(values.shape[2]):
        right = spread @ values[..., channel][rim]
        if start is None:
            solved = linalg.spsolve(matrix, right)
        else:
            solved, _ = linalg.cg(
                matrix, right, start[:, channel], rtol=1e-4, maxiter=_MAX_STEPS, callback=lambda _now: check()
            )
        result[area, channel] = solved
    return result


def _coarser(values: _Values, area: Mask, rim: Mask, check: Callable[[], None]) -> _Values:
    """Return the membrane of half as many rows and columns, enlarged."""
    height, width = area.shape
    pad = (0, height % 2), (0, width % 2)

    def halved(array: _Values) -> _Values:
        padded = np.pad(array, (*pad, (0, 0)))
        summed: _Values = padded.reshape(-(-height // 2), 2, -(-width // 2), 2, -1).sum(axis=(1, 3))
        return summed

    n_rim = halved(rim[..., None].astype(float))
    mean = halved(np.where(rim[..., None], values, 0.0)) / np.maximum(n_rim, 1)
    is_rim = n_rim[..., 0] > 0
    is_area = (halved(area[..., None].astype(float))[..., 0] > 0) & ~is_rim
    coarse = membrane(mean, is_area, is_rim, check)
    return np.repeat(np.repeat(coarse, 2, axis=0), 2, axis=1)[:height, :width]


def _laplacian(area: Mask, rim: Mask) -> "tuple[csr_matrix, csr_matrix]":
    """Return the equations of the pixels of an area: their own part, and that of the rim."""
    from scipy import sparse  # noqa: PLC0415  (slow to import)

    n_area, n_rim = np.count_nonzero(area), np.count_nonzero(rim)
    numbers = np.full(area.shape, -1)
    numbers[area], numbers[rim] = np.arange(n_area), n_area + np.arange(n_rim)
    pairs = [
        np.stack((one.ravel(), other.ravel()))
        for one, other in ((numbers[1:], numbers[:-1]), (numbers[:, 1:], numbers[:, :-1]))
    ]
    edges = np.concatenate([*pairs, *(pair[::-1] for pair in pairs)], axis=1)
    edges = edges[:, (edges[0] >= 0) & (edges[0] < n_area) & (edges[1] >= 0)]
    links = sparse.csr_matrix((np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(n_area, n_area + n_rim))
    # A part without a rim has no solution of its own: it is kept near zero.
    degrees = np.asarray(links.sum(axis=1)).ravel() + 1e-9
    return sparse.csr_matrix(sparse.diags(degrees) - links[:, :n_area]), links[:, n_area:]
