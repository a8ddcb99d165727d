"""Dictionary selection with generalized sparsity constraints (Fujii and Soma 2018).

Arrays in, arrays and frozen dataclasses out. Data points are rows; masks are True where missing.

Get candidate atoms from `standard_ground_set` or `ground_set_from_array`, choose a sparsity constraint
such as `IndividualSparsity`, and call a selector, such as `replacement_omp`. `omp` codes further data in the
selected dictionary. `restore` restores the missing pixels of an image.

References
----------
.. [1] K. Fujii and T. Soma, "Fast greedy algorithms for dictionary selection with generalized sparsity
   constraints", NeurIPS 2018. :DOI:`10.48550/arXiv.1809.02314`. Section, algorithm and equation numbers in
   this package refer to it.
.. [2] A. Krause and V. Cevher, "Submodular dictionary selection for sparse representation", ICML 2010: SDS_MA
   and SDS_OMP.
.. [3] V. Cevher and A. Krause, "Greedy dictionary selection for sparse representation", IEEE Journal of
   Selected Topics in Signal Processing 5(5), 2011: average sparsity.

Examples
--------
>>> import numpy as np
>>> data = np.random.default_rng(0).normal(size=(100, 64))  # patches of 8 x 8 pixels, as rows
>>> selection = replacement_omp(standard_ground_set(), data, IndividualSparsity(5), 20)
>>> selection.dictionary.shape
(64, 20)
>>> omp(selection.dictionary, data, 5).rebuilt.shape
(100, 64)
"""

from typing import TYPE_CHECKING, Any

from dictsel_core._support.compilation import Compilation, compilation, follow_compilation
from dictsel_core._support.runs import GeneratorRun, Run
from dictsel_core._version import __version__ as __version__
from dictsel_core.bases import AtomOrigin
from dictsel_core.constraints import (
    AverageSparsity,
    BlockMatroidSparsity,
    BlockSparsity,
    Constraint,
    IndividualSparsity,
    LocalConstraint,
    Matroid,
    MatroidSparsity,
    OracleMatroid,
    PartitionMatroid,
    Replacement,
    ReplacementGains,
    SwapTable,
    UniformMatroid,
)
from dictsel_core.damage_kinds import DAMAGE_KINDS, USUAL_KINDS, DamageKind
from dictsel_core.estimation import QualityEstimate, estimate_psnr
from dictsel_core.grain import match_grain
from dictsel_core.ground_set import STANDARD_BASES, GroundSet, ground_set_from_array, standard_ground_set
from dictsel_core.guarantee import (
    ApproximationBound,
    GuaranteedSelector,
    OnlineSelectorName,
    RegretBound,
    approximation_bound,
    regret_bound,
)
from dictsel_core.learning import (
    LearnedDictionary,
    LearningRun,
    LearningStep,
    iter_ksvd,
    iter_mod,
    ksvd,
    mod,
)
from dictsel_core.metrics import error_map, observed_range, psnr, rmse, ssim
from dictsel_core.online import (
    AdaptiveHedge,
    ExpertBank,
    FixedHedge,
    Hedge,
    OnlineReplacementGreedy,
    OnlineReplacementOMP,
    OnlineSDSMA,
    OnlineSelector,
    alpha_regret,
    utilities,
)
from dictsel_core.pursuit import SparseCodes, constrained_omp, omp
from dictsel_core.restoration import (
    CONSTRAINTS,
    FILLS,
    MAX_PATCH_SIZE,
    MAX_PATCHES,
    PRESETS,
    SELECTORS,
    STAGES,
    ConstraintName,
    FillName,
    Parameter,
    PresetName,
    ResolvedSettings,
    Restoration,
    RestoreSettings,
    RestoreStep,
    SelectorName,
    Stage,
    has_wide_hole,
    iter_restore,
    iter_restore_region,
    region_context,
    restore,
    restore_region,
)
from dictsel_core.selection import (
    Certificate,
    Selection,
    SelectionRun,
    SelectionStep,
    chunked_replacement_omp,
    iter_chunked_replacement_omp,
    iter_replacement_greedy,
    iter_replacement_ols,
    iter_replacement_omp,
    iter_sds_ma,
    iter_sds_omp,
    iter_stochastic_replacement_omp,
    replacement_greedy,
    replacement_ols,
    replacement_omp,
    sds_ma,
    sds_omp,
    stochastic_replacement_omp,
)
from dictsel_core.tuning import TuneStep, Tuning, TuningTrial, iter_tune, tune
from dictsel_core.utility import HuberUtility, LogisticUtility, SquaredUtility, Utility

if TYPE_CHECKING:
    from dictsel_core.detection import (
        AnalysisStep,
        DamageAnalysis,
        Detection,
        Found,
        analyze_damage,
        detect_damage,
        detect_dead_lines,
        detect_dead_pixels,
        detect_dust,
        detect_scratches,
        detect_stamps,
        iter_analyze_damage,
        region_contrasts,
    )


__all__ = [
    "CONSTRAINTS",
    "DAMAGE_KINDS",
    "FILLS",
    "MAX_PATCHES",
    "MAX_PATCH_SIZE",
    "PRESETS",
    "SELECTORS",
    "STAGES",
    "STANDARD_BASES",
    "USUAL_KINDS",
    "AdaptiveHedge",
    "AnalysisStep",
    "ApproximationBound",
    "AtomOrigin",
    "AverageSparsity",
    "BlockMatroidSparsity",
    "BlockSparsity",
    "Certificate",
    "Compilation",
    "Constraint",
    "ConstraintName",
    "DamageAnalysis",
    "DamageKind",
    "Detection",
    "ExpertBank",
    "FillName",
    "FixedHedge",
    "Found",
    "GeneratorRun",
    "GroundSet",
    "GuaranteedSelector",
    "Hedge",
    "HuberUtility",
    "IndividualSparsity",
    "LearnedDictionary",
    "LearningRun",
    "LearningStep",
    "LocalConstraint",
    "LogisticUtility",
    "Matroid",
    "MatroidSparsity",
    "OnlineReplacementGreedy",
    "OnlineReplacementOMP",
    "OnlineSDSMA",
    "OnlineSelector",
    "OnlineSelectorName",
    "OracleMatroid",
    "Parameter",
    "PartitionMatroid",
    "PresetName",
    "QualityEstimate",
    "RegretBound",
    "Replacement",
    "ReplacementGains",
    "ResolvedSettings",
    "Restoration",
    "RestoreSettings",
    "RestoreStep",
    "Run",
    "Selection",
    "SelectionRun",
    "SelectionStep",
    "SelectorName",
    "SparseCodes",
    "SquaredUtility",
    "Stage",
    "SwapTable",
    "TuneStep",
    "Tuning",
    "TuningTrial",
    "UniformMatroid",
    "Utility",
    "alpha_regret",
    "analyze_damage",
    "approximation_bound",
    "chunked_replacement_omp",
    "compilation",
    "constrained_omp",
    "detect_damage",
    "detect_dead_lines",
    "detect_dead_pixels",
    "detect_dust",
    "detect_scratches",
    "detect_stamps",
    "error_map",
    "estimate_psnr",
    "follow_compilation",
    "ground_set_from_array",
    "has_wide_hole",
    "iter_analyze_damage",
    "iter_chunked_replacement_omp",
    "iter_ksvd",
    "iter_mod",
    "iter_replacement_greedy",
    "iter_replacement_ols",
    "iter_replacement_omp",
    "iter_restore",
    "iter_restore_region",
    "iter_sds_ma",
    "iter_sds_omp",
    "iter_stochastic_replacement_omp",
    "iter_tune",
    "ksvd",
    "match_grain",
    "mod",
    "observed_range",
    "omp",
    "psnr",
    "region_context",
    "region_contrasts",
    "regret_bound",
    "replacement_greedy",
    "replacement_ols",
    "replacement_omp",
    "restore",
    "restore_region",
    "rmse",
    "sds_ma",
    "sds_omp",
    "ssim",
    "standard_ground_set",
    "stochastic_replacement_omp",
    "tune",
    "utilities",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (whatever the name stands for)
    """Import detection when it is first used: it alone needs scipy.ndimage."""
    if name in __all__:
        from dictsel_core import detection  # noqa: PLC0415

        return getattr(detection, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names, those of detection included."""
    return sorted({*globals(), *__all__})
