"""Dictionary learning, the alternative to dictionary selection: atoms are optimized, not selected."""

from dictsel_core.learning.learners import (
    LearnedDictionary,
    LearningRun,
    LearningStep,
    iter_ksvd,
    iter_mod,
    ksvd,
    mod,
)

__all__ = ["LearnedDictionary", "LearningRun", "LearningStep", "iter_ksvd", "iter_mod", "ksvd", "mod"]
