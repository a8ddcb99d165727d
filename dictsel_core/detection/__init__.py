"""Detection of damage: from a picture to a mask of what should be restored."""

from dictsel_core.detection.analyze import (
    AnalysisStep,
    analyze_damage,
    detect_damage,
    iter_analyze_damage,
)
from dictsel_core.detection.damage import DamageAnalysis, Detection, Found, region_contrasts

__all__ = [
    "AnalysisStep",
    "DamageAnalysis",
    "Detection",
    "Found",
    "analyze_damage",
    "detect_damage",
    "iter_analyze_damage",
    "region_contrasts",
]
