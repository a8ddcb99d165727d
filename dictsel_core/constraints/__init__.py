"""Sparsity constraints: which supports (Z_1, ..., Z_T) are allowed (section 3 of the paper)."""

from dictsel_core.constraints.average import AverageSparsity
from dictsel_core.constraints.block import BlockSparsity
from dictsel_core.constraints.block_matroid import BlockMatroidSparsity
from dictsel_core.constraints.individual import IndividualSparsity
from dictsel_core.constraints.matroid import Matroid, OracleMatroid, PartitionMatroid, UniformMatroid
from dictsel_core.constraints.matroid_sparsity import MatroidSparsity
from dictsel_core.constraints.protocol import (
    Constraint,
    LocalConstraint,
    Replacement,
    ReplacementGains,
    SwapTable,
)

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
    "SwapTable",
    "UniformMatroid",
]
