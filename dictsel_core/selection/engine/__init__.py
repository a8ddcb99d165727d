"""The parts of selectors, from which others can be made: see "Constraints and selectors of your own"."""

from dictsel_core.selection.engine.omp import OMPEngine
from dictsel_core.selection.engine.selector import (
    GainCostEngine,
    ReplacementEngine,
    SelectedAtom,
    Selector,
    best_replacement,
)
from dictsel_core.selection.engine.state import SupportState
from dictsel_core.selection.problem import Problem

__all__ = [
    "GainCostEngine",
    "OMPEngine",
    "Problem",
    "ReplacementEngine",
    "SelectedAtom",
    "Selector",
    "SupportState",
    "best_replacement",
]
