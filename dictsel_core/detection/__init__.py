"""Detection of damage: from a picture to a mask of what should be restored."""

from dictsel_core.detection.analyze import (
    AnalysisStep,
    analyze_damage,
    detect_damage,
    iter_analyze_damage,
)
from dictsel_core.detection.contrast import region_contrasts
from dictsel_core.detection.damage import DamageAnalysis, Detection, Found
from dictsel_core.detection.kinds import (
    detect_dead_lines,
    detect_dead_pixels,
    detect_dust,
    detect_scratches,
    detect_stamps,
)

__all__ = [
    "AnalysisStep",
    "DamageAnalysis",
    "Detection",
    "Found",
    "analyze_damage",
    "detect_damage",
    "detect_dead_lines",
    "detect_dead_pixels",
    "detect_dust",
    "detect_scratches",
    "detect_stamps",
    "iter_analyze_damage",
    "region_contrasts",
]
