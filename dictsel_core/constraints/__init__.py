"""Sparsity constraints: which supports (Z_1, ..., Z_T) are allowed (section 3 of the paper)."""

from dictsel_core.constraints.average import AverageSparsity
from dictsel_core.constraints.block import BlockSparsity
from dictsel_core.constraints.block_matroid import BlockMatroidSparsity
from dictsel_core.constraints.constraint import (
    Constraint,
    LocalConstraint,
    Replacement,
    ReplacementGains,
    SeparableConstraint,
    SwapTable,
)
from dictsel_core.constraints.individual import IndividualSparsity
from dictsel_core.constraints.matroid import Matroid, OracleMatroid, PartitionMatroid, UniformMatroid
from dictsel_core.constraints.matroid_sparsity import MatroidSparsity

__all__ = [
    "AverageSparsity",
    "BlockMatroidSparsity",
    "BlockSparsity",
    "Constraint",
    "IndividualSparsity",
    "LocalConstraint",
    "Matroid",
    "MatroidSparsity",
    "OracleMatroid",
    "PartitionMatroid",
    "Replacement",
    "ReplacementGains",
    "SeparableConstraint",
    "SwapTable",
    "UniformMatroid",
]
