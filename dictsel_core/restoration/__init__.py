"""Restoration of damaged pictures: arrays in, arrays out."""

from dictsel_core.restoration.pipeline import iter_restore, restore
from dictsel_core.restoration.result import Restoration, RestoreStep
from dictsel_core.restoration.settings import CONSTRAINTS, PRESETS, RestoreSettings

__all__ = [
    "CONSTRAINTS",
    "PRESETS",
    "Restoration",
    "RestoreSettings",
    "RestoreStep",
    "iter_restore",
    "restore",
]
