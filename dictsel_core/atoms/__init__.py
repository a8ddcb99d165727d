"""Candidate atoms: orthonormal bases of patches, and ground sets made of them or of any columns."""

from dictsel_core.atoms.bases import AtomOrigin
from dictsel_core.atoms.ground_set import (
    STANDARD_BASES,
    GroundSet,
    ground_set_from_array,
    standard_ground_set,
)

__all__ = ["STANDARD_BASES", "AtomOrigin", "GroundSet", "ground_set_from_array", "standard_ground_set"]
