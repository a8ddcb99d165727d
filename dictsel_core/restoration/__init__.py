"""Restoration of damaged pictures: arrays in, arrays out."""

from dictsel_core.restoration.parameters import Parameter
from dictsel_core.restoration.pipeline import iter_restore, restore
from dictsel_core.restoration.result import Restoration, RestoreStep
from dictsel_core.restoration.sampling import MOST_PATCHES, patch_places
from dictsel_core.restoration.settings import CONSTRAINTS, PRESETS, SELECTORS, RestoreSettings

__all__ = [
    "CONSTRAINTS",
    "MOST_PATCHES",
    "PRESETS",
    "SELECTORS",
    "Parameter",
    "Restoration",
    "RestoreSettings",
    "RestoreStep",
    "iter_restore",
    "patch_places",
    "restore",
]
