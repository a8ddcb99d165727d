"""Orthogonal matching pursuit of many patches with missing entries at once."""

from dictsel_core.pursuit.codes import SparseCodes, omp
from dictsel_core.pursuit.constrained import constrained_omp

__all__ = ["SparseCodes", "constrained_omp", "omp"]
