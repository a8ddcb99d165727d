import numpy as np
import pytest
from brute_force import best_replacement
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import least_squares, planted, random_ground_set

from dictsel_core import (
    BlockSparsity,
    IndividualSparsity,
    MatroidSparsity,
    PartitionMatroid,
    ground_set_from_array,
    replacement_greedy,
    replacement_omp,
    standard_ground_set,
)

CONSTRAINTS = {
    "individual": IndividualSparsity(2),
    "individual by patch": IndividualSparsity([1, 2, 3]),
    "block": BlockSparsity([[0, 2], [1]], 2),
    "partition": MatroidSparsity(PartitionMatroid([0, 0, 1, 1, 2, 2], [1, 2, 1])),
}


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(list(CONSTRAINTS)))
def test_each_step_is_the_literal_definition(seed, kind):
    rng = np.random.default_rng(seed)
    ground_set = random_ground_set(rng, 5, 6)
    data = rng.normal(size=(3, 5))
    mask = rng.random(data.shape) < 0.2
    constraint = CONSTRAINTS[kind]
    for k in range(1, 5):
        before = replacement_greedy(ground_set, data, constraint, k - 1, mask=mask) if k > 1 else None
        after = replacement_greedy(ground_set, data, constraint, k, mask=mask)
        supports = [[] for _ in data] if before is None else [z.tolist() for z in before.supports]

        def utility(t, atoms):
            return least_squares(ground_set, data[t], mask[t], atoms)[1]

        def worth(t, option, atom, supports=supports):
            added, slot = option
            kept = [a for s, a in enumerate(supports[t]) if s != slot] + [atom] * added
            return utility(t, kept) - utility(t, supports[t])

        gains = [
            best_replacement(constraint, supports, atom, lambda t, o, atom=atom: worth(t, o, atom))
            for atom in range(len(ground_set))
        ]
        if before is not None and int(np.argmax(gains)) in before.atoms:
            return  # an atom of the dictionary wins again
        assert after.gains[-1] == pytest.approx(max(gains), rel=1e-5, abs=1e-9)
        if max(gains) > 1e-9:
            assert gains[after.atoms[-1]] == pytest.approx(max(gains), rel=1e-5, abs=1e-9)
        grown = sum(utility(t, z) for t, z in enumerate(after.supports))
        assert after.objective[-1] == pytest.approx(grown)
        assert constraint.is_feasible(after.supports)


@pytest.mark.parametrize("masked", [False, True])
def test_the_objective_grows_by_exactly_the_gain(masked):
    rng = np.random.default_rng(1)
    ground_set = standard_ground_set()
    data, _ = planted(rng, ground_set, 40, 15, 4)
    mask = (rng.random(data.shape) < 0.5) if masked else None
    first_atoms = replacement_greedy(ground_set, data, IndividualSparsity(4), 4, mask=mask)
    np.testing.assert_allclose(np.cumsum(first_atoms.gains), first_atoms.objective)


def test_it_does_at_least_as_well_as_replacement_omp_on_planted_data():
    rng = np.random.default_rng(2)
    ground_set = standard_ground_set()
    data, _ = planted(rng, ground_set, 100, 20, 5)
    greedy = replacement_greedy(ground_set, data, IndividualSparsity(5), 20)
    omp = replacement_omp(ground_set, data, IndividualSparsity(5), 20)
    assert greedy.objective[-1] > 0.99 * omp.objective[-1]


def test_duplicate_atoms_hidden_patches_and_float32():
    rng = np.random.default_rng(3)
    atoms = rng.normal(size=(9, 5))
    ground_set = ground_set_from_array(np.hstack([atoms, atoms]))
    data = rng.normal(size=(6, 9)).astype(np.float32)
    mask = rng.random(data.shape) < 0.3
    mask[2] = True
    selection = replacement_greedy(ground_set, data, IndividualSparsity(4), 10, mask=mask)
    assert sorted(selection.atoms.tolist()) == list(range(10))
    assert np.isfinite(np.concatenate(selection.coefficients)).all()
    assert len(selection.supports[2]) == 0
    double = replacement_greedy(ground_set, data.astype(float), IndividualSparsity(4), 10, mask=mask)
    np.testing.assert_allclose(selection.objective, double.objective, rtol=1e-4)


def test_a_missing_constraint_is_refused():
    with pytest.raises(TypeError, match="not int"):
        replacement_greedy(standard_ground_set(), np.ones((2, 64)), 5, 3)
