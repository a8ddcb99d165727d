"""A restoration in tiles, driven as a cluster drives it."""

import numpy as np

from dictsel_core import RestoreSettings
from dictsel_core.restoration import Mosaic, plan_from_bytes, plan_to_bytes
from dictsel_core.restoration.settings import as_settings


def restore_in_tiles(image, mask, settings, side):
    """The restored image, and the plan, which goes through bytes as on a cluster."""
    pixels, missing = image.reshape(*image.shape[:2], -1), mask.reshape(*mask.shape[:2], -1)
    asked = as_settings(settings)
    assert isinstance(asked, RestoreSettings)
    mosaic = mosaic_of(pixels, asked, side)

    def read(region):
        return pixels[region], missing[region]

    surveys = [mosaic.survey(*read(tile.outer), tile) for tile in mosaic.tiles()]
    plan = plan_from_bytes(plan_to_bytes(mosaic.plan(surveys, read)), threads=1)
    fills = []
    for hole in mosaic.holes(plan):
        near = [fill for other, fill in fills if other.part.overlaps(hole.outer) and other.wave < hole.wave]
        fills.append((hole, mosaic.fill(*read(hole.outer), hole, plan, near)))
    result = np.empty_like(pixels)
    for tile in mosaic.tiles()[::-1]:  # in any order
        near = [fill for hole, fill in fills if hole.part.overlaps(tile.outer)]
        result[tile.region] = mosaic.restore(*read(tile.outer), tile, plan, near)
    return result.reshape(image.shape), plan


def mosaic_of(pixels, settings, side):
    """An image (H, W, C) cut into tiles."""
    return Mosaic(pixels.shape, str(pixels.dtype), settings, side)
