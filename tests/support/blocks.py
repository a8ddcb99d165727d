"""A restoration in blocks, driven as a cluster drives it."""

import operator
from functools import reduce

import numpy as np

from dictsel_core import ImageSpec, PictureSurvey


def blocks_of(shape, size):
    """All blocks of an array, of this height and width or less."""
    height, width = shape
    return [
        (slice(top, min(top + size, height)), slice(left, min(left + size, width)))
        for top in range(0, height, size)
        for left in range(0, width, size)
    ]


def read(arrays, reads):
    """What a block needs."""
    return [arrays[each.array][each.rows, each.columns] for each in reads]


def given_arrays(image, mask):
    """Image and mask with an axis of layers."""
    return {
        "image": image.reshape(*image.shape[:2], -1),
        "mask": mask.reshape(*mask.shape[:2], -1),
    }


def plan_in_blocks(image, mask, settings, size):
    """The plan of an image that is looked at block by block, in a wild order."""
    arrays = given_arrays(image, mask)
    n_channels, n_layers = arrays["image"].shape[2], arrays["mask"].shape[2]
    survey = PictureSurvey(ImageSpec(*image.shape[:2], n_channels, str(image.dtype), n_layers), settings)
    places = blocks_of(image.shape[:2], size)[::-1]
    for step in (survey.details, None):
        found = [survey.measure(read(arrays, survey.reads(*place)), *place) for place in places]
        together = reduce(operator.add, found)
        survey = survey.details(together) if step else survey.plan(together)
    return survey


def run_stage(stage, arrays, size):
    """Compute the arrays of a stage in blocks."""
    for each in stage.writes:
        arrays[each.name] = np.empty(each.shape, each.dtype)
    for place in blocks_of(stage.shape, size)[::-1]:
        results = stage.apply(read(arrays, stage.reads(*place)), *place)
        for each, result in zip(stage.writes, results, strict=True):
            assert result.dtype == each.dtype
            arrays[each.name][place] = result


def restore_in_blocks(image, mask, settings, size):
    """The restored image, and the plan."""
    plan = plan_in_blocks(image, mask, settings, size)
    arrays = given_arrays(image, mask)
    for stage in plan.stages:
        run_stage(stage, arrays, size)
        for name in plan.released_after(stage):
            del arrays[name]
    return arrays[plan.output].reshape(image.shape), plan
