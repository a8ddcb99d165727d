"""The methods that the paper compares, by their names there, and Replacement OLS, which is ours."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dictsel_core import Constraint, IndividualSparsity, Selection, replacement_ols, replacement_omp
from dictsel_core.learning import LearnedDictionary, ksvd, mod
from dictsel_core.selection import replacement_greedy, sds_ma, sds_omp
from experiments.data import GROUND_SET, Array

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Method:
    """How a method computes a dictionary.

    Attributes
    ----------
    make : callable
        Takes data, constraint, dictionary size, mask and seed; returns the dictionary (d, k).
    nested : bool
        Whether the first atoms of a dictionary are the dictionary of a smaller size.
    """

    make: Callable[[Array, Constraint, int, Mask | None, int], Array]
    nested: bool


def _select(
    selector: Callable[..., Selection],
    data: Array,
    constraint: Constraint,
    size: int,
    mask: Mask | None,
    seed: int,
) -> Array:
    chosen = selector(GROUND_SET, data, constraint, size, mask=mask)
    return np.asarray(chosen.dictionary)


def _learn(
    learner: Callable[..., LearnedDictionary],
    data: Array,
    constraint: Constraint,
    size: int,
    mask: Mask | None,
    seed: int,
) -> Array:
    sparsity = constraint.capacity(len(data), size, size)
    learned = learner(data, size, sparsity, mask=mask, rng=np.random.default_rng(seed))
    return np.asarray(learned.dictionary)


#: Algorithm 1 to the letter: an iteration that repeats an atom is one of the k, and there may be fewer atoms.
_literal_omp = partial(_select, partial(replacement_omp, repeats="steps"))

METHODS = {
    "SDS_MA": Method(partial(_select, sds_ma), nested=True),
    "SDS_OMP": Method(partial(_select, sds_omp), nested=True),
    "RG": Method(partial(_select, replacement_greedy), nested=True),
    "ROMP": Method(partial(_select, replacement_omp), nested=True),
    "ROMP, k iterations": Method(_literal_omp, nested=False),
    "ROMPd": Method(partial(_select, partial(replacement_omp, decay=True)), nested=True),
    "ROLS": Method(partial(_select, replacement_ols), nested=True),
    "MOD": Method(partial(_learn, mod), nested=False),
    "K-SVD": Method(partial(_learn, ksvd), nested=False),
}


def warm_up() -> None:
    """Run every method once, so that first calls are not timed."""
    data = np.random.default_rng(0).normal(size=(20, GROUND_SET.n_features))
    for method in METHODS.values():
        method.make(data, IndividualSparsity(2), 3, None, 0)
