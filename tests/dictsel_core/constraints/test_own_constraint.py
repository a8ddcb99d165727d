"""A constraint written by a user: the example in the documentation of `Constraint`."""

import doctest

import numpy as np
import pytest
from synthetic import random_ground_set

from dictsel_core import AverageSparsity, Constraint, IndividualSparsity, replacement_omp
from dictsel_core.constraints import LocalConstraint
from dictsel_core.guarantee import approximation_bound
from dictsel_core.selection import replacement_greedy


@pytest.fixture(scope="module")
def excluding():
    """The class that the documentation defines."""
    names: dict[str, object] = {}
    example = doctest.DocTestFinder(recurse=False).find(Constraint, "Constraint", globs=names)[0]
    assert doctest.DocTestRunner().run(example, clear_globs=False).failed == 0
    return example.globs["Excluding"]


@pytest.mark.parametrize("decay", [False, True])
def test_it_works_end_to_end(excluding, decay):
    rng = np.random.default_rng(0)
    ground_set, data = random_ground_set(rng, 8, 12), rng.normal(size=(20, 8))
    free = replacement_omp(ground_set, data, IndividualSparsity(2), 4, decay=decay)
    excluded = free.atoms[:2].tolist()
    constraint = excluding(2, excluded)
    selection = replacement_omp(ground_set, data, constraint, 4, decay=decay)
    assert constraint.is_feasible(selection.supports)
    assert not constraint.is_feasible(free.supports)
    assert set(selection.atoms.tolist()).isdisjoint(excluded)
    # Excluding nothing is the constraint it wraps.
    unrestricted = replacement_omp(ground_set, data, excluding(2, []), 4, decay=decay)
    np.testing.assert_array_equal(unrestricted.atoms, free.atoms)
    bound = approximation_bound(ground_set, constraint, n_points=20, n_atoms=4)
    assert (bound.sparsity, bound.replacement_sparsity) == (2, 4)


def test_replacement_greedy_asks_for_a_local_constraint(excluding):
    rng = np.random.default_rng(0)
    with pytest.raises(TypeError, match="not Excluding; use replacement_omp"):
        replacement_greedy(random_ground_set(rng, 4, 5), rng.normal(size=(3, 4)), excluding(1, [0]), 2)


@pytest.mark.parametrize("base", [Constraint, LocalConstraint])
def test_a_method_left_out_is_named(base):
    for name in base.__abstractmethods__:
        others = {other: getattr(AverageSparsity, other, None) for other in base.__abstractmethods__ - {name}}
        unfinished = type("Unfinished", (base,), others)
        with pytest.raises(TypeError, match=rf"Unfinished.* abstract method '?{name}\b"):
            unfinished()
