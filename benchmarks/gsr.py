"""GSR, a peer of the refinement: groups of similar patches of low rank. It takes minutes for one photograph.

So its figures are kept in docs/gsr.csv; what is not there yet is computed, ours always.

Written from the paper, with its parameters for inpainting: J. Zhang, D. Zhao and W. Gao, "Group-based sparse
representation for image restoration", IEEE Transactions on Image Processing 23(8), 2014,
:DOI:`10.1109/TIP.2014.2323127`.
"""

import csv
import time
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.interpolate import griddata
from scipy.linalg.lapack import ssyevx
from scipy.sparse import csr_array
from skimage.color import rgb2gray

from benchmarks.measure import print_table
from benchmarks.pictures import Image, Mask, damages, gray, photographs
from dictsel_core import psnr, restore
from dictsel_core.restoration import PresetName

Plane = NDArray[np.float32]

_SIZE, _STRIDE, _RADIUS, _N_MEMBERS = 8, 4, 20, 60
_MU, _LAMBDA = 0.0025, 0.082
#: Groups that are averaged together.
_CHUNK = 512
#: PSNR and processor seconds by damage and picture, as far as they were computed.
_RESULTS = Path(__file__).parents[1] / "docs" / "gsr.csv"
_DAMAGES = ("80 % random", "50 % random", "text")
#: Whole pictures, at half their size, and the name of their damage in the results.
_WHOLE = (
    "camera", "astronaut", "chelsea", "coffee", "rocket", "coins", "brick", "grass", "china", "flower",
)  # fmt: skip
_OF_WHOLE = "80 % random, whole"
_PRESETS: tuple[PresetName, ...] = ("best", "finest")


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
    patches = np.ascontiguousarray(sliding_window_view(plane, (_SIZE, _SIZE))).reshape(
        *np.subtract(plane.shape, _SIZE - 1), -1
    )
    grid = [np.unique([*range(0, length, _STRIDE), length - 1]) for length in patches.shape[:2]]
    references = np.stack(np.meshgrid(*grid, indexing="ij"), axis=-1).reshape(-1, 2)
    n_values = len(references) * _N_MEMBERS * _SIZE**2
    threshold = np.sqrt(2 * _LAMBDA * n_values / (_MU * plane.size))
    lengths = np.vecdot(patches, patches)
    sums = np.zeros((patches.shape[0] * patches.shape[1], _SIZE**2), np.float32)
    counts = np.zeros(len(sums), np.intp)
    for start in range(0, len(references), _CHUNK):
        members = np.stack([_similar(patches, lengths, *at) for at in references[start : start + _CHUNK]])
        values = _thresholded(patches.reshape(-1, _SIZE**2)[members], threshold)
        # Row p of this matrix picks the members at place p out of all groups.
        where = (members.ravel(), np.arange(members.size))
        sums += csr_array((np.ones(members.size, np.float32), where), (len(sums), members.size)) @ values
        counts += np.bincount(members.ravel(), minlength=len(sums))
    return _averaged(sums.reshape(patches.shape), counts.reshape(patches.shape[:2]), plane.shape)


def _similar(patches: Plane, lengths: Plane, row: int, column: int) -> NDArray[np.intp]:
    """Return the numbers of the patches most similar to the one at a place."""
    rows, columns = (slice(max(at - _RADIUS, 0), at + _RADIUS + 1) for at in (row, column))
    distances = lengths[rows, columns] - 2 * (patches[rows, columns] @ patches[row, column])
    nearest = np.argpartition(distances, _N_MEMBERS - 1, axis=None)[:_N_MEMBERS]
    down, right = np.divmod(nearest, distances.shape[1])
    return np.asarray((rows.start + down) * patches.shape[1] + columns.start + right)


def _thresholded(groups: Plane, threshold: float) -> Plane:
    """Set the singular values of groups (B, n, d) below a threshold to zero; return all members (B n, d).

    Only the eigenvectors of values above it are computed.
    """
    result = np.empty_like(groups)
    for number, (group, products) in enumerate(zip(groups, groups @ groups.swapaxes(1, 2), strict=True)):
        _, vectors, n_kept, *_ = ssyevx(products, range="V", vl=threshold**2, vu=np.finfo(np.float32).max)
        kept = vectors[:, :n_kept]
        result[number] = kept @ (kept.T @ group)
    return result.reshape(-1, groups.shape[2])


def _averaged(sums: Plane, counts: NDArray[np.intp], shape: tuple[int, ...]) -> Plane:
    """Average all patches that cover a pixel, from sums and counts by the place of a patch."""
    values, weights = np.zeros(shape), np.zeros(shape)
    height, width = counts.shape
    for i in range(_SIZE):
        for j in range(_SIZE):
            values[i : i + height, j : j + width] += sums[:, :, i * _SIZE + j]
            weights[i : i + height, j : j + width] += counts
    return (values / weights).astype(np.float32)


def cases() -> dict[tuple[str, str], tuple[Image, Mask]]:
    """Return picture and mask by damage and name, those first that are computed first."""
    found = {}
    for name, image in photographs().items():
        for damage in reversed(_DAMAGES):
            found[damage, name] = image, damages(image.shape)[damage]
    for name in _WHOLE:
        image = halved(whole(name))
        found[_OF_WHOLE, name] = image, np.random.default_rng(0).random(image.shape) < 0.8
    return found


def halved(image: Image) -> Image:
    """Return an image at half its size: means of 2 x 2 pixels."""
    height, width = (length // 2 for length in image.shape)
    means = image[: 2 * height, : 2 * width].reshape(height, 2, width, 2).mean(axis=(1, 3))
    return np.asarray(np.rint(means), dtype=np.uint8)


def whole(name: str) -> Image:
    """Return a whole photograph in gray, of scikit-image or scikit-learn."""
    if name in ("china", "flower"):
        from sklearn.datasets import load_sample_image

        return np.asarray(np.rint(rgb2gray(load_sample_image(f"{name}.jpg")) * 255), dtype=np.uint8)
    return gray(name)


def results() -> dict[tuple[str, str], float]:
    """Return the PSNR of GSR by damage and picture, as far as it was computed."""
    if not _RESULTS.exists():
        return {}
    with _RESULTS.open(newline="") as file:
        return {(row["damage"], row["picture"]): float(row["psnr"]) for row in csv.DictReader(file)}


def compute(damage: str, name: str, image: Image, mask: Mask) -> None:
    """Compute the PSNR of GSR for a case, and add it to the results."""
    start = time.process_time()
    quality = psnr(image, gsr(image, mask))
    is_new = not _RESULTS.exists()
    with _RESULTS.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(["damage", "picture", "psnr", "seconds"])
        writer.writerow([damage, name, f"{quality:.3f}", f"{time.process_time() - start:.0f}"])


def main() -> None:
    """Compute what is missing of GSR, case by case; print its PSNR and those of our best presets."""
    for case, pair in cases().items():
        if case not in results():
            compute(*case, *pair)
    show("gray photographs of 256 x 256", _DAMAGES)
    show("whole photographs at half their size", (_OF_WHOLE,))


def show(title: str, kinds: tuple[str, ...]) -> None:
    """Print the PSNR of GSR, as far as it was computed, and of our best presets."""
    rows, differences, peers = [], [], results()
    for kind in kinds:
        for (damage, name), (image, mask) in cases().items():
            if damage == kind and (damage, name) in peers:
                peer = peers[damage, name]
                ours = [psnr(image, restore(image, mask, preset).image) for preset in _PRESETS]
                differences.append([each - peer for each in ours])
                gains = [f"{each:+.2f}" for each in differences[-1]]
                rows.append([f"{damage}, {name}", f"{peer:.2f}", *(f"{each:.2f}" for each in ours), *gains])
    for label, figures in (("mean", np.mean(differences, axis=0)), ("least", np.min(differences, axis=0))):
        rows.append([f"{label} of these", "", *[""] * len(_PRESETS), *(f"{each:+.2f}" for each in figures)])
    header = ["damage, picture", "GSR", *_PRESETS, *(f"{preset} over GSR" for preset in _PRESETS)]
    print_table(f"GSR: {title}", header, rows)
