"""Restoration of damaged images: arrays in, arrays out."""

from dictsel_core._util.arrays import Region
from dictsel_core.restoration.damaged import has_wide_hole
from dictsel_core.restoration.mosaic import (
    GRID,
    TILE,
    Fill,
    HoleRegion,
    Mosaic,
    plan_from_bytes,
    plan_to_bytes,
)
from dictsel_core.restoration.plan import MAX_PATCHES, Plan
from dictsel_core.restoration.region import iter_restore_region, region_context, restore_region
from dictsel_core.restoration.restore import MAX_NEIGHBOR_PLANES, iter_restore, restore
from dictsel_core.restoration.result import STAGES, Restoration, RestoreStep, Stage
from dictsel_core.restoration.settings import (
    CONSTRAINTS,
    FILLS,
    MAX_PATCH_SIZE,
    PRESETS,
    SELECTORS,
    ConstraintName,
    FillName,
    Parameter,
    PresetName,
    ResolvedSettings,
    RestoreSettings,
    SelectorName,
)
from dictsel_core.restoration.survey import Survey, Tile

__all__ = [
    "CONSTRAINTS",
    "FILLS",
    "GRID",
    "MAX_NEIGHBOR_PLANES",
    "MAX_PATCHES",
    "MAX_PATCH_SIZE",
    "PRESETS",
    "SELECTORS",
    "STAGES",
    "TILE",
    "ConstraintName",
    "Fill",
    "FillName",
    "HoleRegion",
    "Mosaic",
    "Parameter",
    "Plan",
    "PresetName",
    "Region",
    "ResolvedSettings",
    "Restoration",
    "RestoreSettings",
    "RestoreStep",
    "SelectorName",
    "Stage",
    "Survey",
    "Tile",
    "has_wide_hole",
    "iter_restore",
    "iter_restore_region",
    "plan_from_bytes",
    "plan_to_bytes",
    "region_context",
    "restore",
    "restore_region",
]
