"""GSR, a peer of the refinement: groups of similar patches of low rank. It takes minutes for one photograph.

Written from the paper, with its parameters for inpainting: J. Zhang, D. Zhao and W. Gao, "Group-based sparse
representation for image restoration", IEEE Transactions on Image Processing 23(8), 2014,
:DOI:`10.1109/TIP.2014.2323127`.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import griddata

from benchmarks.measure import print_table
from benchmarks.pictures import Image, Mask, damages, photographs
from dictsel_core import psnr, restore
from dictsel_core._threads import as_thread_count, map_chunks
from dictsel_core.patches import all_patches

Plane = NDArray[np.float32]

_SIZE, _STRIDE, _RADIUS, _N_MEMBERS = 8, 4, 20, 60
_MU, _LAMBDA = 0.0025, 0.082
#: Groups whose singular values are computed together.
_CHUNK = 64


def gsr(image: Image, mask: Mask, n_iterations: int | None = None) -> NDArray[np.uint8]:
    """Restore a gray image by split Bregman iterations: 200 if most pixels are missing, otherwise 100."""
    if n_iterations is None:
        n_iterations = 200 if mask.mean() > 0.65 else 100
    known = image.astype(np.float32)
    estimate = _interpolated(known, mask)
    low_rank, bregman = estimate.copy(), np.zeros_like(estimate)
    for _ in range(n_iterations):
        prior = low_rank + bregman
        estimate = np.where(mask, prior, (known + np.float32(_MU) * prior) / np.float32(1 + _MU))
        low_rank = _low_rank(estimate - bregman)
        bregman -= estimate - low_rank
    return np.where(mask, np.clip(np.rint(low_rank), 0, 255), image).astype(np.uint8)


def _interpolated(known: Plane, mask: Mask) -> Plane:
    """Fill missing pixels linearly, and from the nearest one outside the hull of the observed ones."""
    at, missing = np.nonzero(~mask), np.nonzero(mask)
    filled = known.copy()
    linear = griddata(at, known[at], missing, method="linear")
    nearest = griddata(at, known[at], missing, method="nearest")
    filled[missing] = np.where(np.isnan(linear), nearest, linear)
    return filled


def _low_rank(plane: Plane) -> Plane:
    """Average the groups of all references after hard thresholding of their singular values."""
    patches = np.ascontiguousarray(all_patches(plane, _SIZE)).reshape(
        *np.subtract(plane.shape, _SIZE - 1), -1
    )
    grid = [np.unique([*range(0, length, _STRIDE), length - 1]) for length in patches.shape[:2]]
    references = np.stack(np.meshgrid(*grid, indexing="ij"), axis=-1).reshape(-1, 2)
    n_values = len(references) * _N_MEMBERS * _SIZE**2
    threshold = np.sqrt(2 * _LAMBDA * n_values / (_MU * plane.size))
    lengths = np.vecdot(patches, patches)
    sums, counts = np.zeros(patches.shape), np.zeros(patches.shape[:2])

    def groups(start: int, stop: int) -> tuple[NDArray[np.intp], Plane]:
        members = np.stack([_similar(patches, lengths, *place) for place in references[start:stop]])
        values = patches.reshape(-1, _SIZE**2)[members]
        return members, _thresholded(values, threshold)

    for members, values in map_chunks(groups, len(references), _CHUNK, as_thread_count(None)):
        np.add.at(sums.reshape(-1, _SIZE**2), members, values)
        np.add.at(counts.reshape(-1), members, 1)
    return _averaged(sums, counts, plane.shape)


def _similar(patches: Plane, lengths: Plane, row: int, column: int) -> NDArray[np.intp]:
    """Return the numbers of the patches most similar to the one at a place."""
    rows, columns = (slice(max(at - _RADIUS, 0), at + _RADIUS + 1) for at in (row, column))
    distances = lengths[rows, columns] - 2 * (patches[rows, columns] @ patches[row, column])
    nearest = np.argpartition(distances, _N_MEMBERS - 1, axis=None)[:_N_MEMBERS]
    down, right = np.divmod(nearest, distances.shape[1])
    return np.asarray((rows.start + down) * patches.shape[1] + columns.start + right)


def _thresholded(groups: Plane, threshold: float) -> Plane:
    """Set the singular values of groups (B, n, d) below a threshold to zero."""
    squares, vectors = np.linalg.eigh(groups @ groups.swapaxes(1, 2))
    kept = vectors * (squares > threshold**2)[:, None, :]
    return kept @ (vectors.swapaxes(1, 2) @ groups)


def _averaged(sums: NDArray[np.float64], counts: NDArray[np.float64], shape: tuple[int, ...]) -> Plane:
    """Average all patches that cover a pixel, from sums and counts by the place of a patch."""
    values, weights = np.zeros(shape), np.zeros(shape)
    height, width = counts.shape
    for i in range(_SIZE):
        for j in range(_SIZE):
            values[i : i + height, j : j + width] += sums[:, :, i * _SIZE + j]
            weights[i : i + height, j : j + width] += counts
    return (values / weights).astype(np.float32)


def main() -> None:
    """Print the PSNR of GSR and of the preset best for every photograph."""
    rows = []
    for damage in ("80 % random", "50 % random", "text"):
        mask = damages((256, 256))[damage]
        for name, image in photographs().items():
            peer, ours = psnr(image, gsr(image, mask)), psnr(image, restore(image, mask, "best").image)
            rows.append([f"{damage}, {name}", f"{peer:.2f}", f"{ours:.2f}", f"{ours - peer:+.2f}"])
    print_table("GSR: gray photographs of 256 x 256", ["damage, picture", "GSR", "best", "difference"], rows)
