"""Restore a dask.array lazily, chunk by chunk.

The plan of a restoration is made from statistics of the chunks; then every stage is a function of a block and
its surroundings, which Dask computes where and when it wants. The result is that of `restore`, to the bit.
"""

import argparse
from functools import reduce
from operator import add

import dask
import dask.array as da
import numpy as np

from dictsel_core import ArraySpec, ImageSpec, PictureSurvey, RestoreSettings, restore


def blocks_of(shape: tuple[int, ...], side: int) -> list[list[tuple[slice, slice]]]:
    """Return rows of blocks; `side` is a multiple of 64."""
    rows, columns = (
        [slice(start, min(start + side, size)) for start in range(0, size, side)] for size in shape[:2]
    )
    return [[(row, column) for column in columns] for row in rows]


def restore_lazily(image: da.Array, mask: da.Array, settings: RestoreSettings, side: int) -> da.Array:
    """Return the restored image, (H, W), as an array that is not computed yet."""
    arrays = {"image": image[:, :, None], "mask": mask[:, :, None]}

    def inputs(step: object, block: tuple[slice, slice]) -> list[da.Array]:
        return [arrays[each.array][each.rows, each.columns] for each in step.reads(*block)]

    def merged(survey: object) -> object:
        """Return the statistics of all blocks, which are computed now: the plan depends on them."""
        blocks = [block for row in blocks_of(image.shape, side) for block in row]
        measured = [dask.delayed(survey.measure)(inputs(survey, block), *block) for block in blocks]
        return reduce(add, dask.compute(*measured))

    survey = PictureSurvey(ImageSpec(*image.shape, 1, str(image.dtype)), settings)
    details = survey.details(merged(survey))
    plan = details.plan(merged(details))
    for stage in plan.stages:
        grid = blocks_of(stage.shape, side)
        results = [
            [(block, dask.delayed(stage.apply)(inputs(stage, block), *block)) for block in row]
            for row in grid
        ]
        for number, spec in enumerate(stage.writes):
            arrays[spec.name] = da.block(
                [[[part(result[number], block, spec)] for block, result in row] for row in results]
            )
    return arrays[plan.output][:, :, 0]


def part(result: object, block: tuple[slice, slice], spec: ArraySpec) -> da.Array:
    """Return one block of an array that a stage writes."""
    height, width = (side.stop - side.start for side in block)
    return da.from_delayed(result, (height, width, spec.shape[2]), spec.dtype)


def main(*, quick: bool) -> None:
    """Restore a picture of waves, half of which is missing, and compare with `restore`."""
    height, width = (150, 130) if quick else (600, 520)
    y, x = np.mgrid[:height, :width]
    image = np.uint8(120 + 80 * np.sin(y / 9) * np.cos(x / 13))
    mask = np.random.default_rng(0).random(image.shape) < 0.5
    settings = RestoreSettings.preset("fast")
    side = 64 if quick else 256
    lazy = restore_lazily(da.from_array(image, side), da.from_array(mask, side), settings, side)
    print(f"not computed yet: {lazy}")
    differing = np.count_nonzero(lazy.compute() != restore(image, mask, settings).image)
    print(f"pixels differing from restore(): {differing}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small picture")
    main(quick=parser.parse_args().quick)
