"""Dictionary learning, the alternative to dictionary selection: atoms are optimized, not selected."""

from dictsel_core.learning.learners import iter_ksvd, iter_mod, ksvd, mod
from dictsel_core.learning.run import LearnedDictionary, LearningRun, LearningStep

__all__ = ["LearnedDictionary", "LearningRun", "LearningStep", "iter_ksvd", "iter_mod", "ksvd", "mod"]
