"""Detection of damage: from a picture to a mask of what should be restored."""

from dictsel_core.detection.analyze import (
    AnalysisStep,
    analyze_damage,
    detect_damage,
    iter_analyze_damage,
)
from dictsel_core.detection.creases import detect_creases
from dictsel_core.detection.damage import DamageAnalysis, Detection, Found
from dictsel_core.detection.dead_lines import detect_dead_lines
from dictsel_core.detection.dead_pixels import detect_dead_pixels
from dictsel_core.detection.dust import detect_dust
from dictsel_core.detection.scratches import detect_scratches
from dictsel_core.detection.stamps import detect_stamps

__all__ = [
    "AnalysisStep",
    "DamageAnalysis",
    "Detection",
    "Found",
    "analyze_damage",
    "detect_creases",
    "detect_damage",
    "detect_dead_lines",
    "detect_dead_pixels",
    "detect_dust",
    "detect_scratches",
    "detect_stamps",
    "iter_analyze_damage",
]
