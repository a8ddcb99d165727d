"""Images in several tiles, for programs that read, restore and write them in parts; see `Mosaic`."""

from dictsel_core._support.arrays import Region
from dictsel_core.restoration.mosaic import GRID, TILE, Fill, HoleRegion, Mosaic
from dictsel_core.restoration.plan import Plan
from dictsel_core.restoration.survey import Survey
from dictsel_core.restoration.tiles import Tile

__all__ = ["GRID", "TILE", "Fill", "HoleRegion", "Mosaic", "Plan", "Region", "Survey", "Tile"]
