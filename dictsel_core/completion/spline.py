"""A smooth surface through the pixels around a hole."""

import numpy as np
from scipy.ndimage import distance_transform_cdt, find_objects
from scipy.sparse import csr_array, diags_array, eye_array, kron
from scipy.sparse.linalg import splu

from dictsel_core._support.validation import Bools
from dictsel_core.completion.scale import Single

#: Tension of the spline, in pixels to the power of -1: beyond a few of its inverse, slopes do not continue.
_TENSION = 0.2
#: How far from the border it is computed; and the depth of a hole in whose middle its weight is exp(-1).
_REACH, _SCALE = 24, 20.0
#: In deeper holes so little of it is left that it is not computed.
_MAX_DEPTH = 64
#: Weight of the estimate that is there in the equations, which have no solution where nothing is observed.
_MIN_WEIGHT = 1e-6
#: Pixels around a hole that the equations see.
_MARGIN = 3


def smooth_fill(planes: Single, hole: Bools) -> Single:
    """Return a smooth estimate of the pixels of a hole: (N, C).

    Near the border it is a spline under tension, the solution of

        (L^2 - t^2 L) u = 0

    with the Laplacian L and the pixels around the hole; t = 0 would be biharmonic inpainting. It continues
    slopes, which coarser scales do not. Farther inside it is more and more the estimate that is in the hole,
    in deep holes sooner than in shallow ones.

    Parameters
    ----------
    planes : (H, W, C) ndarray of float32
        Of about unit range, with an estimate in the hole.
    hole : (H, W) ndarray of bool
        With at least one pixel.
    """
    rows, columns = find_objects(hole.view(np.uint8))[0]
    box = tuple(
        slice(max(each.start - _MARGIN, 0), min(each.stop + _MARGIN, n))
        for each, n in zip((rows, columns), hole.shape, strict=True)
    )
    inside = hole[box]
    depth = np.abs(distance_transform_cdt(inside, metric="chessboard"))
    if depth.max() > _MAX_DEPTH:
        return planes[hole]
    values = planes[box].astype(np.float64)
    unknown = (inside & (depth <= _REACH)).ravel()
    pixels = values.reshape(unknown.size, -1)
    matrix = _energy(inside.shape)[unknown]
    right = _MIN_WEIGHT * pixels[unknown] - matrix[:, ~unknown] @ pixels[~unknown]
    left = matrix[:, unknown] + _MIN_WEIGHT * eye_array(np.count_nonzero(unknown))
    # Orders for symmetric matrices take hundreds of times as long in slanted scratches.
    solver = splu(left.tocsc(), permc_spec="COLAMD", diag_pivot_thresh=0.0)
    spline = np.clip(solver.solve(right), 0, 1)
    weights = np.exp(-float(depth.max()) * depth.ravel()[unknown, None] / _SCALE**2)
    pixels[unknown] += weights * (spline - pixels[unknown])
    return np.asarray(pixels[inside.ravel()], np.float32)


def _energy(shape: tuple[int, ...]) -> csr_array:
    """Return L^2 - t^2 L for an image, beyond whose border pixels are repeated: (H W, H W)."""
    down, across = (_second_difference(length) for length in shape)
    laplacian = csr_array(kron(eye_array(shape[0]), across) + kron(down, eye_array(shape[1])))
    return csr_array(laplacian @ laplacian - _TENSION**2 * laplacian)


def _second_difference(length: int) -> csr_array:
    middle = np.full(length, -2.0)
    middle[0] += 1
    middle[-1] += 1
    return csr_array(diags_array([np.ones(length - 1), middle, np.ones(length - 1)], offsets=[-1, 0, 1]))
