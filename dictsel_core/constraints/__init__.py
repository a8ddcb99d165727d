"""Sparsity constraints: which supports (Z_1, ..., Z_T) are allowed (section 3 of the paper)."""

from dictsel_core.constraints.block import BlockMatroidSparsity, BlockSparsity
from dictsel_core.constraints.constraint import (
    Constraint,
    LocalConstraint,
    Replacement,
    ReplacementGains,
    SeparableConstraint,
    SwapTable,
)
from dictsel_core.constraints.matroid import (
    Matroid,
    MatroidSparsity,
    OracleMatroid,
    PartitionMatroid,
    UniformMatroid,
)
from dictsel_core.constraints.sparsity import AverageSparsity, IndividualSparsity

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
