"""Restoration in blocks against that of the whole image: values that differ, and work that is added.

``python -m benchmarks blocks`` runs all cases, ``python -m benchmarks.blocks 2 8`` the second of eight parts.
"""

import itertools
import operator
import sys
import time
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
import skimage.data
from numpy.typing import NDArray

from benchmarks.measure import print_table
from benchmarks.pictures import Mask, damages
from dictsel_core import ImageSpec, PictureSurvey, PresetName, Read, RestoreSettings, restore

Arrays = dict[str, NDArray[Any]]
Block = tuple[slice, slice]

SIZES = (192, 384)
PRESETS: tuple[PresetName, ...] = ("fast", "balanced")
#: Odd, and not a multiple of anything.
_SHAPE = (477, 501)
_HOLE = 300


def main(part: int = 1, n_parts: int = 1) -> None:
    """Print how many values differ for every preset, damage, kind of image and size of block.

    Of all cases, every so many are run: the first part begins with the first case.
    """
    images, masks = _images(), _damages()
    cases = list(itertools.product(PRESETS, masks, images))[part - 1 :: n_parts]
    rows = []
    for preset, damage, kind in cases:
        settings = RestoreSettings(threads=1, rounds=RestoreSettings.preset(preset).rounds)
        image, mask = images[kind], masks[damage]
        missing = _separate(mask) if kind == "masks per channel" else mask
        start = time.process_time()
        whole = restore(image, missing, settings).image
        seconds = time.process_time() - start
        for size in SIZES:
            start = time.process_time()
            blocks = restored_in_blocks(image, missing, settings, size)
            ratio = (time.process_time() - start) / seconds
            n_different = int(np.count_nonzero(blocks != whole))
            rows.append([f"{preset}, {damage}, {kind}", str(size), str(n_different), f"{ratio:.2f}"])
            print(*rows[-1], sep="; ", flush=True)
    print_table("Blocks against the whole image", ["case", "block", "different", "work"], rows)


def restored_in_blocks(image: NDArray[Any], mask: Mask, settings: RestoreSettings, size: int) -> NDArray[Any]:
    """Return an image restored block by block, with nothing in common but the arrays."""
    height, width = image.shape[:2]
    arrays: Arrays = {"image": image.reshape(height, width, -1), "mask": mask.reshape(height, width, -1)}
    n_channels, n_layers = arrays["image"].shape[2], arrays["mask"].shape[2]
    survey = PictureSurvey(ImageSpec(height, width, n_channels, str(image.dtype), n_layers), settings)
    places = list(_places((height, width), size))
    details = survey.details(
        reduce(operator.add, [survey.measure(_read(arrays, survey.reads(*at)), *at) for at in places])
    )
    plan = details.plan(
        reduce(operator.add, [details.measure(_read(arrays, details.reads(*at)), *at) for at in places])
    )
    for stage in plan.stages:
        arrays |= {each.name: np.empty(each.shape, each.dtype) for each in stage.writes}
        for at in _places(stage.shape, max(stage.shape) if stage.is_whole else size):
            results = stage.apply(_read(arrays, stage.reads(*at)), *at)
            for each, result in zip(stage.writes, results, strict=True):
                arrays[each.name][at] = result
    return arrays[plan.output].reshape(image.shape)


def _places(shape: tuple[int, int], size: int) -> Iterator[Block]:
    """Yield all blocks of an array."""
    for top in range(0, shape[0], size):
        for left in range(0, shape[1], size):
            yield slice(top, min(top + size, shape[0])), slice(left, min(left + size, shape[1]))


def _read(arrays: Arrays, reads: Sequence[Read]) -> list[NDArray[Any]]:
    return [arrays[each.array][each.rows, each.columns] for each in reads]


def _images() -> dict[str, NDArray[Any]]:
    color = skimage.data.astronaut()[: _SHAPE[0], : _SHAPE[1]]
    gray = color.mean(axis=2)
    return {
        "uint8": gray.astype(np.uint8),
        "uint16": (gray * 257).astype(np.uint16),
        "float32": (gray / 255).astype(np.float32),
        "RGB": color,
        "masks per channel": color,
    }


def _damages() -> dict[str, Mask]:
    masks = {name: mask for name, mask in damages(_SHAPE).items() if name != "text"}
    hole = np.zeros(_SHAPE, bool)
    hole[90 : 90 + _HOLE, 120 : 120 + _HOLE] = True
    return masks | {f"hole of {_HOLE} px": hole}


def _separate(mask: Mask) -> Mask:
    """Return a mask for each of three channels."""
    return np.stack([mask, np.roll(mask, 17, axis=1), np.roll(mask, 31, axis=0)], axis=2)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
