"""Restoration of damaged images: arrays in, arrays out."""

from dictsel_core.restoration.parameters import Parameter
from dictsel_core.restoration.pipeline import iter_restore, restore
from dictsel_core.restoration.region import Region, iter_restore_region, restore_region
from dictsel_core.restoration.result import STAGES, Restoration, RestoreStep, Stage
from dictsel_core.restoration.sampling import MAX_PATCHES
from dictsel_core.restoration.settings import (
    CONSTRAINTS,
    FILLS,
    MAX_PATCH_SIZE,
    PRESETS,
    SELECTORS,
    ConstraintName,
    FillName,
    PresetName,
    ResolvedSettings,
    RestoreSettings,
    SelectorName,
)

__all__ = [
    "CONSTRAINTS",
    "FILLS",
    "MAX_PATCHES",
    "MAX_PATCH_SIZE",
    "PRESETS",
    "SELECTORS",
    "STAGES",
    "ConstraintName",
    "FillName",
    "Parameter",
    "PresetName",
    "Region",
    "ResolvedSettings",
    "Restoration",
    "RestoreSettings",
    "RestoreStep",
    "SelectorName",
    "Stage",
    "iter_restore",
    "iter_restore_region",
    "restore",
    "restore_region",
]
