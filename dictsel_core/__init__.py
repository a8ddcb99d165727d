"""Dictionary selection with generalized sparsity constraints (Fujii and Soma 2018).

Arrays in, arrays and frozen dataclasses out. Data points are rows; masks are True where missing.
"""

from dictsel_core._runs import Run
from dictsel_core.bases import AtomOrigin
from dictsel_core.constraints import (
    AverageSparsity,
    BlockSparsity,
    Constraint,
    IndividualSparsity,
    LocalConstraint,
    Matroid,
    MatroidSparsity,
    Offer,
    OracleMatroid,
    PartitionMatroid,
    Replacement,
    SwapTable,
    UniformMatroid,
)
from dictsel_core.ground_set import STANDARD_BASES, GroundSet, ground_set_from_array, standard_ground_set
from dictsel_core.guarantee import ApproximationBound, approximation_bound
from dictsel_core.metrics import error_map, psnr, ssim
from dictsel_core.pursuit import SparseCodes, omp
from dictsel_core.restoration import (
    CONSTRAINTS,
    PRESETS,
    Restoration,
    RestoreSettings,
    RestoreStep,
    iter_restore,
    restore,
)
from dictsel_core.selection import (
    Selection,
    SelectionRun,
    SelectionStep,
    iter_replacement_greedy,
    iter_replacement_omp,
    iter_sds_ma,
    iter_sds_omp,
    replacement_greedy,
    replacement_omp,
    sds_ma,
    sds_omp,
)
from dictsel_core.tuning import TuneStep, Tuning, TuningTrial, estimate_psnr, iter_tune, tune

__version__ = "0.1.0"

__all__ = [
    "CONSTRAINTS",
    "PRESETS",
    "STANDARD_BASES",
    "ApproximationBound",
    "AtomOrigin",
    "AverageSparsity",
    "BlockSparsity",
    "Constraint",
    "GroundSet",
    "IndividualSparsity",
    "LocalConstraint",
    "Matroid",
    "MatroidSparsity",
    "Offer",
    "OracleMatroid",
    "PartitionMatroid",
    "Replacement",
    "Restoration",
    "RestoreSettings",
    "RestoreStep",
    "Run",
    "Selection",
    "SelectionRun",
    "SelectionStep",
    "SparseCodes",
    "SwapTable",
    "TuneStep",
    "Tuning",
    "TuningTrial",
    "UniformMatroid",
    "approximation_bound",
    "error_map",
    "estimate_psnr",
    "ground_set_from_array",
    "iter_replacement_greedy",
    "iter_replacement_omp",
    "iter_restore",
    "iter_sds_ma",
    "iter_sds_omp",
    "iter_tune",
    "omp",
    "psnr",
    "replacement_greedy",
    "replacement_omp",
    "restore",
    "sds_ma",
    "sds_omp",
    "ssim",
    "standard_ground_set",
    "tune",
]
