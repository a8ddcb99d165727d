"""Online selection: a dictionary for every round, before its patch is known (section 5, appendix D)."""

from dictsel_core.online.hedge import AdaptiveHedge, ExpertBank, FixedHedge, Hedge
from dictsel_core.online.selectors import (
    OnlineReplacementGreedy,
    OnlineReplacementOMP,
    OnlineSDSMA,
    OnlineSelector,
    alpha_regret,
    utilities,
)

__all__ = [
    "AdaptiveHedge",
    "ExpertBank",
    "FixedHedge",
    "Hedge",
    "OnlineReplacementGreedy",
    "OnlineReplacementOMP",
    "OnlineSDSMA",
    "OnlineSelector",
    "alpha_regret",
    "utilities",
]
