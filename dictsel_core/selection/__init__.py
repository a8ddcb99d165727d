"""Selectors: greedy algorithms that choose a dictionary from a ground set."""

from dictsel_core.selection._chunked_omp import chunked_replacement_omp, iter_chunked_replacement_omp
from dictsel_core.selection._replacement_greedy import iter_replacement_greedy, replacement_greedy
from dictsel_core.selection._replacement_ols import iter_replacement_ols, replacement_ols
from dictsel_core.selection._replacement_omp import iter_replacement_omp, replacement_omp
from dictsel_core.selection._sds import iter_sds_ma, iter_sds_omp, sds_ma, sds_omp
from dictsel_core.selection._stochastic_omp import (
    iter_stochastic_replacement_omp,
    stochastic_replacement_omp,
)
from dictsel_core.selection.run import Certificate, Selection, SelectionRun, SelectionStep

__all__ = [
    "Certificate",
    "Selection",
    "SelectionRun",
    "SelectionStep",
    "chunked_replacement_omp",
    "iter_chunked_replacement_omp",
    "iter_replacement_greedy",
    "iter_replacement_ols",
    "iter_replacement_omp",
    "iter_sds_ma",
    "iter_sds_omp",
    "iter_stochastic_replacement_omp",
    "replacement_greedy",
    "replacement_ols",
    "replacement_omp",
    "sds_ma",
    "sds_omp",
    "stochastic_replacement_omp",
]
