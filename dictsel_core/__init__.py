"""Dictionary selection with generalized sparsity constraints (Fujii and Soma 2018).

Arrays in, arrays and frozen dataclasses out. Data points are rows; masks are True where missing. What most
programs need is here; everything else is in its submodule, such as `dictsel_core.selection`, `constraints`,
`pursuit`, `restoration`, `evaluation`, `detection`, `online` and `learning`, which is imported when it is
first used.

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

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from dictsel_core._version import __version__ as __version__
from dictsel_core.atoms import GroundSet, ground_set_from_array, standard_ground_set
from dictsel_core.constraints import (
    AverageSparsity,
    BlockSparsity,
    Constraint,
    IndividualSparsity,
    MatroidSparsity,
    PartitionMatroid,
)
from dictsel_core.evaluation import estimate_psnr, psnr, ssim, tune
from dictsel_core.pursuit import SparseCodes, constrained_omp, omp
from dictsel_core.restoration import (
    Restoration,
    RestoreSettings,
    RestoreStep,
    iter_restore,
    restore,
    restore_region,
)
from dictsel_core.selection import Selection, replacement_ols, replacement_omp

if TYPE_CHECKING:
    from dictsel_core.detection import detect_damage

__all__ = [
    "AverageSparsity",
    "BlockSparsity",
    "Constraint",
    "GroundSet",
    "IndividualSparsity",
    "MatroidSparsity",
    "PartitionMatroid",
    "Restoration",
    "RestoreSettings",
    "RestoreStep",
    "Selection",
    "SparseCodes",
    "constrained_omp",
    "detect_damage",
    "estimate_psnr",
    "ground_set_from_array",
    "iter_restore",
    "omp",
    "psnr",
    "replacement_ols",
    "replacement_omp",
    "restore",
    "restore_region",
    "ssim",
    "standard_ground_set",
    "tune",
]

_SUBMODULES = frozenset(each.name for each in iter_modules(__path__) if not each.name.startswith("_"))


def __getattr__(name: str) -> Any:  # noqa: ANN401  (whatever the name stands for)
    """Import a submodule when it is first used, and detection, which alone needs scipy.ndimage."""
    if name == "detect_damage":
        return import_module("dictsel_core.detection").detect_damage
    if name in _SUBMODULES:
        return import_module(f"dictsel_core.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names, those of submodules included."""
    return sorted({*globals(), *__all__, *_SUBMODULES})
