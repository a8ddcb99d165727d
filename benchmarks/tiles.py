"""Images restored in tiles against the whole: PSNR by kind of damage, and the error at tile borders."""

import itertools
from collections import defaultdict
from collections.abc import Iterator

import dask
import dask.array as da
import numpy as np
import skimage.data
from numpy.typing import NDArray

from benchmarks.measure import print_table
from benchmarks.pictures import Mask, damages
from dictsel_core import psnr, restore
from dictsel_core.completion import wide_parts

#: Whole photographs of scikit-image; those in color are restored in gray too.
_NAMES = ("astronaut", "camera", "chelsea", "coffee", "coins", "rocket", "brick", "gravel", "grass", "page")
_COLOR = ("astronaut", "chelsea", "coffee", "rocket")
#: Small, so that there are many borders.
SIDE = 192
#: How far from a border its error is measured.
_NEAR = 4
#: Height and width of a wide hole, which crosses tiles.
_HOLE = 60


def main() -> None:
    """Print the change of PSNR for every picture and damage, and the mean for every damage."""
    rows: list[list[str]] = []
    changes: defaultdict[str, list[float]] = defaultdict(list)
    ratios: defaultdict[str, list[float]] = defaultdict(list)
    for (name, image), damage in itertools.product(
        _pictures(), ("80 % random", "50 % random", "scratches", "holes")
    ):
        mask = _damage(damage, image.shape[:2])
        whole = np.asarray(restore(image, mask).image)
        tiles = in_tiles(image, mask)
        narrow = mask & ~wide_parts(mask, 8)  # what fills a wide hole is invented, and has no PSNR
        change = psnr(image, tiles, mask=narrow) - psnr(image, whole, mask=narrow)
        border = _error_at_borders(image, tiles, narrow) / _error_at_borders(image, whole, narrow)
        changes[damage].append(change)
        ratios[damage].append(border)
        rows.append([name, damage, f"{change:+.3f}", f"{border:.3f}"])
        print(*rows[-1], sep="; ", flush=True)
    print_table("Tiles against the whole", ["picture", "damage", "dB", "error at borders"], rows)
    means = [
        [damage, f"{np.mean(found):+.3f}", f"{min(found):+.3f}", f"{np.mean(ratios[damage]):.3f}"]
        for damage, found in changes.items()
    ]
    print_table("By damage", ["damage", "mean dB", "least", "error at borders"], means)


def in_tiles(image: NDArray[np.uint8], mask: Mask, side: int = SIDE) -> NDArray[np.uint8]:
    """Return an image restored in tiles of this height and width."""
    chunks = (side, side, 3)[: image.ndim]
    lazy = restore(da.from_array(image, chunks), da.from_array(mask, (side, side))).image
    with dask.config.set(scheduler="synchronous"):
        return np.asarray(lazy)


def _pictures() -> Iterator[tuple[str, NDArray[np.uint8]]]:
    for name in _NAMES:
        image = getattr(skimage.data, name)()
        if name in _COLOR:
            yield f"{name}, color", image
            image = np.rint(image.mean(axis=2)).astype(np.uint8)
        yield name, image


def _damage(kind: str, shape: tuple[int, int]) -> Mask:
    if kind != "holes":
        return damages(shape)[kind]
    mask = damages(shape)["scratches"]
    for top, left in ((SIDE - _HOLE // 2, SIDE // 3), (SIDE // 2, shape[1] // 2)):
        mask[top : top + _HOLE, left : left + _HOLE] = True
    return mask


def _error_at_borders(image: NDArray[np.uint8], restored: NDArray[np.uint8], mask: Mask) -> float:
    """Return the mean squared error of missing pixels near the borders of tiles."""
    near = np.zeros(image.shape[:2], bool)
    for axis in (0, 1):
        for border in range(SIDE, image.shape[axis], SIDE):
            near[(slice(None),) * axis + (slice(border - _NEAR, border + _NEAR),)] = True
    chosen = near & mask
    difference = image.astype(float)[chosen] - restored.astype(float)[chosen]
    return float(np.square(difference).mean())
