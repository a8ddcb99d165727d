"""A restoration as a lazy Dask array, for those who compute with `dask.array` themselves.

The two surveys are computed at once, since the plan depends on them; every stage after that is an array, with
blocks made from regions of the arrays before it. The result is that of `restore`, bit for bit. With less
memory, and so that it can be resumed, the command `inpaint restore` does the same.
"""

import argparse
import operator
from functools import reduce
from itertools import product
from typing import Any

import dask
import dask.array as da
import numpy as np
import skimage.data

from dictsel_core import ArraySpec, ImageSpec, PictureSurvey, PresetName, Read, restore

Arrays = dict[str, Any]
Block = tuple[slice, slice]


def main() -> None:
    """Restore a photograph in blocks, and compare with the whole."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smaller photograph")
    length, size = (100, 64) if parser.parse_args().quick else (512, 256)
    image = skimage.data.camera()[:length, :length, None]
    mask = np.random.default_rng(0).random(image.shape) < 0.5
    lazy = restored(da.from_array(image), da.from_array(mask), "fast", size)
    print(f"{lazy.numblocks[0]} x {lazy.numblocks[1]} blocks")
    n_different = np.count_nonzero(lazy.compute() != restore(image, mask, "fast").image)
    print(f"{n_different} values differ from those of the whole")


def restored(image: da.Array, mask: da.Array, settings: PresetName, size: int) -> da.Array:
    """Return an image (H, W, C) restored in blocks of `size`, a multiple of 64; the mask is (H, W, c)."""
    survey = PictureSurvey(ImageSpec(*image.shape, str(image.dtype), mask.shape[2]), settings)
    arrays = {"image": image, "mask": mask}
    details = survey.details(_surveyed(survey, arrays, size))
    plan = details.plan(_surveyed(details, arrays, size))
    for stage in plan.stages:
        # The stage that fills a wide hole costs as much for a part of the hole as for all of it.
        side = max(stage.shape) if stage.is_whole else size
        apply, places = dask.delayed(stage.apply), _blocks(stage.shape, side)
        results = [apply(_read(arrays, stage.reads(*at)), *at) for at in places]
        for number, array in enumerate(stage.writes):
            arrays[array.name] = _joined([each[number] for each in results], array, places)
    return arrays[plan.output]


def _surveyed(survey: Any, arrays: Arrays, size: int) -> Any:  # noqa: ANN401  (either of two surveys)
    """Return what is known of all blocks together."""
    measure = dask.delayed(survey.measure)
    looks = [measure(_read(arrays, survey.reads(*at)), *at) for at in _blocks(survey.spec.shape, size)]
    return reduce(operator.add, dask.compute(*looks))


def _blocks(shape: tuple[int, int], size: int) -> list[Block]:
    rows, columns = ([slice(at, min(at + size, length)) for at in range(0, length, size)] for length in shape)
    return list(product(rows, columns))


def _read(arrays: Arrays, reads: tuple[Read, ...]) -> list[da.Array]:
    return [arrays[each.array][each.rows, each.columns] for each in reads]


def _joined(results: list[Any], array: ArraySpec, places: list[Block]) -> da.Array:
    """Return the array that consists of these blocks."""
    rows: dict[int, list[da.Array]] = {}
    for result, (down, across) in zip(results, places, strict=True):
        shape = down.stop - down.start, across.stop - across.start, array.shape[2]
        rows.setdefault(down.start, []).append(da.from_delayed(result, shape, array.dtype))
    return da.concatenate([da.concatenate(row, axis=1) for row in rows.values()])


if __name__ == "__main__":
    main()
