"""Dictionary selection with generalized sparsity constraints (Fujii and Soma 2018).

Arrays in, arrays and frozen dataclasses out. Data points are rows; masks are True where missing. What most
programs need is here; everything else is in its submodule, such as `dictsel_core.selection`, `constraints`,
`pursuit`, `restoration`, `evaluation`, `detection`, `online` and `learning`. All of it is imported when it is
first used; the names are listed in `__init__.pyi`.

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
>>> from dictsel_core import IndividualSparsity, omp, replacement_omp, standard_ground_set
>>> data = np.random.default_rng(0).normal(size=(100, 64))  # patches of 8 x 8 pixels, as rows
>>> selection = replacement_omp(standard_ground_set(), data, IndividualSparsity(5), 20)
>>> selection.dictionary.shape
(64, 20)
>>> omp(selection.dictionary, data, 5).rebuilt.shape
(100, 64)
"""

from pkgutil import iter_modules

import lazy_loader

from dictsel_core._version import __version__ as __version__

__getattr__, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)
_submodules = {each.name for each in iter_modules(__path__)}
__all__ = [name for name in _names if name not in _submodules and name != "__version__"]
