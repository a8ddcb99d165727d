import numpy as np
import pytest
from brute_force import pad_supports
from constraints import KINDS, make_constraint
from hypothesis import given, settings
from hypothesis import strategies as st
from literal import Patches, gradient_rule, literal_run
from synthetic import least_squares, planted, random_ground_set, small_instance

from dictsel_core import (
    AverageSparsity,
    BlockSparsity,
    IndividualSparsity,
    MatroidSparsity,
    PartitionMatroid,
    ground_set_from_array,
    omp,
    replacement_omp,
    standard_ground_set,
)
from dictsel_core.constraints import OracleMatroid, ReplacementGains, UniformMatroid
from dictsel_core.selection import iter_replacement_omp, replacement_greedy, sds_ma, sds_omp
from dictsel_core.theory import approximation_bound

STANDARD = standard_ground_set()


def instance(seed, n_points=30, n_features=10, n_candidates=24):
    rng = np.random.default_rng(seed)
    ground_set = random_ground_set(rng, n_features, n_candidates)
    data = rng.normal(size=(n_points, n_features))
    return ground_set, data, rng.random(data.shape) < 0.3


def constraint_for(kind, data, ground_set):
    return make_constraint(kind, np.random.default_rng(len(data)), len(data), len(ground_set))


@pytest.mark.slow
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_supports_stay_feasible_and_the_objective_grows_by_half_the_gain(kind, masked):
    ground_set, data, mask = instance(1)
    constraint = constraint_for(kind, data, ground_set)
    before = 0.0
    for k in range(1, 13):
        selection = replacement_omp(ground_set, data, constraint, k, mask=mask if masked else None)
        assert constraint.is_feasible(selection.supports)
        assert set(np.concatenate(selection.supports)) <= set(selection.indices.tolist())
        assert selection.objective[-1] >= before + selection.gains[-1] / 2 - 1e-9
        before = selection.objective[-1]


@pytest.mark.parametrize("decay", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_coefficients_are_least_squares_on_observed_entries(kind, decay):
    ground_set, data, mask = instance(2)
    constraint = constraint_for(kind, data, ground_set)
    selection = replacement_omp(ground_set, data, constraint, 10, mask=mask, decay=decay)
    total = 0.0
    for y, missing, z, w in zip(data, mask, selection.supports, selection.coefficients, strict=True):
        assert len(set(z.tolist())) == len(z)
        expected, utility = least_squares(ground_set, y, missing, z)
        np.testing.assert_allclose(w, expected, rtol=1e-6, atol=1e-8)
        total += utility
    assert selection.objective[-1] == pytest.approx(total)


def assert_follows_the_definition(seed, kind, *, decay=False):
    """Replay a run by brute force; return how often an atom of the dictionary won again."""
    rng = np.random.default_rng(seed)
    ground_set, data, mask = small_instance(rng)
    constraint = make_constraint(kind, rng, len(data), len(ground_set))
    patches = Patches(ground_set, data, mask)
    rule = gradient_rule(patches, decay=decay)
    run = iter_replacement_omp(ground_set, data, constraint, 6, mask=mask, decay=decay)
    n_repeats = 0
    for expected in literal_run(patches, constraint, 6, rule, repeats=0 if decay else 6):
        step = next(run)
        assert step.atom == expected.atom
        assert step.gain == pytest.approx(expected.gain, abs=1e-9)
        assert [set(z.tolist()) for z in run.result.supports] == [set(z) for z in expected.supports]
        n_repeats += expected.n_repeats
    return n_repeats


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(list(KINDS)), decay=st.booleans())
def test_every_step_takes_the_largest_gain_of_all_feasible_replacements(seed, kind, decay):
    """From the definition: gradients and weights by LAPACK, replacements by enumeration."""
    assert_follows_the_definition(seed, kind, decay=decay)


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("individual", 10),
        ("average by patch", 83),
        ("average uncapped", 62),
        ("block by cap", 82),
        ("graphic matroid", 1),
    ],
)
def test_atoms_of_the_dictionary_may_win_again(kind, seed):
    """The paper maximizes over the whole ground set."""
    assert assert_follows_the_definition(seed, kind) > 0


@pytest.mark.parametrize(
    ("kind", "seed"),
    [("individual", 10), ("average by patch", 83), ("block by cap", 82)],
)
def test_repeats_may_count_as_steps_as_algorithm_1_has_it(kind, seed):
    rng = np.random.default_rng(seed)
    ground_set, data, mask = small_instance(rng)
    constraint = make_constraint(kind, rng, len(data), len(ground_set))
    patches = Patches(ground_set, data, mask)
    joined, iteration = [], 0
    for step in literal_run(patches, constraint, 5, gradient_rule(patches), repeats=100):
        iteration += step.n_repeats + 1
        joined.append((iteration, step))
    assert iteration > 5  # an atom wins again
    for n_iterations in range(1, 6):
        selection = replacement_omp(ground_set, data, constraint, n_iterations, mask=mask, repeats="steps")
        expected = [step for number, step in joined if number <= n_iterations]
        assert selection.indices.tolist() == [step.atom for step in expected]
        assert len(selection.gains) == n_iterations
        if joined[len(expected) - 1][0] == n_iterations:  # the last iteration is a new atom
            for ours, theirs in zip(selection.supports, expected[-1].supports, strict=True):
                assert sorted(ours.tolist()) == sorted(theirs)


def run_with_numpy(ground_set, data, mask, constraint, n_atoms):
    """Algorithm 1 on many patches, with fits by LAPACK; one half of the atoms equals the other."""
    patches, n = Patches(ground_set, data, mask), len(ground_set)
    capacity = constraint.capacity(len(data), n, n_atoms)
    supports = [[] for _ in data]
    chosen, objective, repeats = [], [], n_atoms
    while len(chosen) < n_atoms:
        squares = np.array([patches.squared_correlations(t, z) for t, z in enumerate(supports)])
        squares[:, n // 2 :] = squares[:, : n // 2]
        costs = np.full((len(data), capacity), np.inf)
        for t, z in enumerate(supports):
            squares[t, z] = 0
            costs[t, : len(z)] = (ground_set.smoothness * patches.weights(t, z)) ** 2
        sizes = np.array([len(z) for z in supports])
        table = ReplacementGains(squares, costs, pad_supports(supports, capacity), sizes)
        values = constraint.values(table)
        if not repeats:
            values[chosen] = 0
        atom = int(values.argmax())
        if values[atom] <= 0:  # the best new atom joins without being used
            new = np.setdiff1d(np.arange(n), chosen)
            chosen.append(int(new[squares[:, new].sum(axis=0).argmax()]))
            objective.append(objective[-1])
            continue
        found = constraint.replacement(table, atom)
        for t, (added, slot) in enumerate(zip(found.added.tolist(), found.removed.tolist(), strict=True)):
            if added and slot >= 0:
                supports[t][slot] = atom
            elif added:
                supports[t].append(atom)
            elif slot >= 0:  # the last atom moves there
                supports[t][slot] = supports[t][-1]
                supports[t].pop()
        if atom in chosen:
            repeats -= 1
        else:
            chosen.append(atom)
            objective.append(sum(patches.utility(t, z) for t, z in enumerate(supports)))
    return chosen, supports, objective


@pytest.mark.parametrize("masked", [False, True], ids=["complete", "masked"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "constraint",
    [
        IndividualSparsity(4),
        AverageSparsity(6, 150),
        BlockSparsity([[2 * b, 2 * b + 1] for b in range(20)], 4),
        MatroidSparsity(PartitionMatroid(np.arange(60) % 3, [2, 1, 1])),
    ],
    ids=["individual", "average", "block", "matroid"],
)
def test_compiled_selections_are_those_of_numpy(constraint, dtype, masked):
    """Of many patches, with every atom twice, where rounding could decide."""
    rng = np.random.default_rng(4)
    atoms = rng.normal(size=(12, 30))
    ground_set = ground_set_from_array(np.hstack([atoms, -atoms]))
    data = rng.normal(size=(40, 12)).astype(dtype)
    mask = rng.random(data.shape) < 0.2 if masked else np.zeros(data.shape, bool)
    selection = replacement_omp(ground_set, data, constraint, 10, mask=mask)
    chosen, supports, objective = run_with_numpy(ground_set, data.astype(float), mask, constraint, 10)
    assert selection.indices.tolist() == chosen
    assert [support.tolist() for support in selection.supports] == supports
    np.testing.assert_allclose(selection.objective, objective, rtol=1e-12 if dtype is np.float64 else 1e-6)


def test_repeats_can_be_extra_iterations_or_be_left_out():
    rng = np.random.default_rng(0)
    data, _ = planted(rng, STANDARD, 200, 60, 5)
    ends = {
        repeats: replacement_omp(STANDARD, data, IndividualSparsity(5), 60, repeats=repeats)
        for repeats in (None, "extra", "steps", "none")
    }
    assert ends[None].objective[-1] == ends["extra"].objective[-1]
    assert ends["extra"].objective[-1] > max(ends[name].objective[-1] for name in ("steps", "none"))
    assert len(ends["steps"].indices) < 60 == len(ends["none"].indices) == len(ends["steps"].gains)
    with pytest.raises(ValueError, match="repeats must be one of extra, steps, none"):
        replacement_omp(STANDARD, data, IndividualSparsity(5), 60, repeats="some")


@pytest.mark.parametrize("accuracy", [0.9, 0.5])
def test_approximate_steps_reach_their_fraction_of_the_largest_gain(accuracy):
    """Remark 4.4: one step of each run, from the same supports, against the best one."""
    rng = np.random.default_rng(3)
    data, _ = planted(rng, STANDARD, 150, 20, 5)
    constraint = AverageSparsity(6, 450)
    exact = iter_replacement_omp(STANDARD, data, constraint, 10)
    loose = iter_replacement_omp(STANDARD, data, constraint, 10, accuracy=accuracy)
    first, other = next(exact), next(loose)
    assert other.gain >= accuracy * first.gain
    assert sum(step.n_exact for step in loose) <= sum(step.n_exact for step in exact)
    bound = approximation_bound(STANDARD, constraint, n_points=150, n_atoms=10, accuracy=accuracy)
    assert loose.result.objective[-1] >= bound.ratio * exact.result.objective[-1]
    with pytest.raises(ValueError, match="accuracy must be at most 1"):
        replacement_omp(STANDARD, data, constraint, 10, accuracy=2.0)


def test_atoms_of_the_dictionary_may_win_again_and_only_help():
    """Within the first k iterations of the paper, so the guarantee of theorem 4.2 stands."""
    rng = np.random.default_rng(0)
    data, _ = planted(rng, STANDARD, 200, 60, 5)
    selection = replacement_omp(STANDARD, data, IndividualSparsity(5), 60)
    assert len(set(selection.indices.tolist())) == 60
    assert (np.diff(selection.objective) >= -1e-9).all()


@pytest.mark.parametrize("decay", [False, True])
def test_planted_dictionaries_are_recovered(decay):
    """The synthetic data of the paper. Orthonormal atoms: nothing else can explain the data as well."""
    rng = np.random.default_rng(3)
    ground_set = standard_ground_set(bases=["dct"])
    data, atoms = planted(rng, ground_set, 300, 12, 3)
    selection = replacement_omp(ground_set, data, IndividualSparsity(3), 12, decay=decay)
    assert np.sort(selection.indices).tolist() == atoms.tolist()
    assert selection.objective[-1] == pytest.approx((data**2).sum() / 2)


def test_planted_dictionaries_of_the_standard_ground_set_explain_unseen_data():
    rng = np.random.default_rng(4)
    data, _ = planted(rng, STANDARD, 400, 20, 5)
    train, test = data[:200], data[200:]
    selection = replacement_omp(STANDARD, train, IndividualSparsity(5), 20)
    codes = omp(selection.dictionary, test, 5)
    assert codes.residual_energy.sum() < 0.02 * (test**2).sum()


def test_a_generous_budget_makes_average_sparsity_individual():
    ground_set, data, mask = instance(5)
    individual = replacement_omp(ground_set, data, IndividualSparsity(3), 10, mask=mask)
    average = replacement_omp(ground_set, data, AverageSparsity(3, 3 * len(data)), 10, mask=mask)
    np.testing.assert_array_equal(individual.indices, average.indices)
    np.testing.assert_allclose(individual.objective, average.objective)


def test_special_cases_of_the_constraints_agree():
    ground_set, data, mask = instance(6)
    run = [
        replacement_omp(ground_set, data, constraint, 10, mask=mask)
        for constraint in (
            IndividualSparsity(3),
            MatroidSparsity(UniformMatroid(3)),
            MatroidSparsity(PartitionMatroid(np.zeros(len(ground_set), int), 3)),
            MatroidSparsity(OracleMatroid(lambda atoms: len(atoms) <= 3)),
            BlockSparsity(np.arange(len(data))[:, None], 3),
        )
    ]
    for other in run[1:]:
        np.testing.assert_array_equal(run[0].indices, other.indices)
        np.testing.assert_allclose(run[0].objective, other.objective)


def test_decay_keeps_gains_from_reaching_zero():
    rng = np.random.default_rng(7)
    data = rng.normal(size=(60, 64))
    plain = replacement_omp(STANDARD, data, IndividualSparsity(2), 120)
    decayed = replacement_omp(STANDARD, data, IndividualSparsity(2), 120, decay=True)
    assert (plain.gains == 0).any()
    assert (decayed.gains > 0).sum() > (plain.gains > 0).sum()


@pytest.mark.parametrize("kind", KINDS)
def test_one_patch_and_all_atoms(kind):
    ground_set, data, mask = instance(9, n_points=1, n_candidates=8)
    constraint = constraint_for(kind, data, ground_set)
    selection = replacement_omp(ground_set, data, constraint, 8, mask=mask)
    assert sorted(selection.indices.tolist()) == list(range(8))


@pytest.mark.parametrize("kind", KINDS)
def test_duplicate_and_dependent_atoms_constant_and_hidden_patches(kind):
    rng = np.random.default_rng(10)
    atoms = rng.normal(size=(9, 4))
    ground_set = ground_set_from_array(np.hstack([atoms, atoms, atoms @ rng.normal(size=(4, 4))]))
    data = np.vstack([rng.normal(size=(8, 9)), np.ones(9), np.zeros(9)])
    mask = rng.random(data.shape) < 0.4
    mask[3] = True
    constraint = constraint_for(kind, data, ground_set)
    for decay in (False, True):
        selection = replacement_omp(ground_set, data, constraint, 12, mask=mask, decay=decay)
        assert constraint.is_feasible(selection.supports)
        weights = np.concatenate(selection.coefficients)
        assert np.isfinite(weights).all()
        assert np.abs(weights).max() < 1e3
        assert len(selection.supports[3]) == 0
        assert sorted(selection.indices.tolist()) == list(range(12))


@pytest.mark.parametrize("kind", KINDS)
def test_float32_agrees_with_float64(kind):
    ground_set, data, mask = instance(11, n_points=40, n_features=20)
    constraint = constraint_for(kind, data, ground_set)
    single = replacement_omp(ground_set, data.astype(np.float32), constraint, 8, mask=mask)
    double = replacement_omp(ground_set, data, constraint, 8, mask=mask)
    np.testing.assert_array_equal(single.indices, double.indices)
    np.testing.assert_allclose(single.objective, double.objective, rtol=1e-4)


def test_input_may_be_read_only_and_strided_and_is_left_alone():
    ground_set, data, mask = instance(12)
    poisoned = np.where(mask, np.nan, data)
    strided = np.asfortranarray(np.repeat(poisoned, 2, axis=1))[:, ::2]
    strided.flags.writeable = mask.flags.writeable = False
    before = strided.copy()
    first = replacement_omp(ground_set, data, IndividualSparsity(3), 6, mask=mask)
    second = replacement_omp(ground_set, strided, IndividualSparsity(3), 6, mask=mask)
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_array_equal(first.objective, second.objective)
    np.testing.assert_array_equal(strided, before)


def test_of_equal_atoms_the_first_one_is_selected():
    rng = np.random.default_rng(16)
    ground_set = ground_set_from_array(np.hstack([atoms := rng.normal(size=(9, 6)), -atoms]))
    data = rng.normal(size=(40, 9))
    for select in (replacement_omp, replacement_greedy, sds_ma, sds_omp):
        atoms = select(ground_set, data, IndividualSparsity(3), 12).indices.tolist()
        assert all(atoms.index(a) < atoms.index(a + 6) for a in range(6))


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_extreme_sizes_leave_single_precision_unharmed(scale):
    ground_set, data, mask = instance(17)
    ordinary = replacement_omp(ground_set, data.astype(np.float32), IndividualSparsity(3), 6, mask=mask)
    scaled = (data * scale).astype(np.float32)
    extreme = replacement_omp(ground_set, scaled, IndividualSparsity(3), 6, mask=mask)
    np.testing.assert_array_equal(ordinary.indices, extreme.indices)


def test_nearly_dependent_atoms_are_fitted_as_well_as_lapack_does():
    for angle in (1e-3, 1e-5, 1e-7):
        ground_set = ground_set_from_array([[1.0, np.cos(angle)], [0.0, np.sin(angle)], [0.0, 0.0]])
        data = np.array([[1.0, 1.0, 0.0]])
        selection = sds_omp(ground_set, data, IndividualSparsity(2), 2)
        fit = ground_set.atoms[:, selection.supports[0]] @ selection.coefficients[0]
        np.testing.assert_allclose(fit, data[0], atol=1e-6)


def test_an_oracle_that_is_no_matroid_is_found_out():
    rng = np.random.default_rng(18)
    ground_set = random_ground_set(rng, 4, 6)
    liar = OracleMatroid(lambda atoms: list(atoms) in ([], [0]) or 0 not in atoms)
    with pytest.raises(ValueError, match="capacity of its constraint, 1;"):
        replacement_omp(ground_set, rng.normal(size=(5, 4)), MatroidSparsity(liar), 4)


@pytest.mark.parametrize("cap", [5, None])
def test_few_exact_solves_are_needed_under_average_sparsity(cap):
    """The price of the last step makes the bounds tight; without it some 25 solves per step are needed."""
    rng = np.random.default_rng(1)
    data, _ = planted(rng, STANDARD, 300, 30, 5)
    steps = list(iter_replacement_omp(STANDARD, data, AverageSparsity(cap, 900), 30))
    assert sum(step.n_exact for step in steps) < 3 * len(steps)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"n_atoms": 25}, ValueError, "n_atoms must be at most the size of the ground set, 24, but is 25"),
        ({"n_atoms": 0}, ValueError, "n_atoms must be at least 1"),
        ({"n_atoms": 2.0}, TypeError, "whole number"),
        ({"constraint": 3}, TypeError, "needs a sparsity constraint such as IndividualSparsity"),
        ({"constraint": IndividualSparsity}, TypeError, "not the class IndividualSparsity"),
        ({"constraint": IndividualSparsity([1])}, ValueError, "one per patch, 30, but there are 1"),
        ({"data": np.ones((30, 3))}, ValueError, "as many columns as an atom has entries, 10"),
        ({"data": np.full((30, 10), np.inf)}, ValueError, "finite where it is observed"),
        ({"data": np.ones((0, 10))}, ValueError, "must not be empty"),
        ({"data": [["a"] * 10]}, TypeError, "real numbers"),
        ({"data": np.ma.masked_array(np.ones((30, 10)))}, TypeError, "pass its mask as mask"),
        ({"mask": np.zeros((30, 9), bool)}, ValueError, "shape of data"),
        ({"ground_set": np.eye(10)}, TypeError, "must be a GroundSet"),
    ],
)
def test_bad_input_is_refused_before_any_step(change, error, sentence):
    ground_set, data, _ = instance(14)
    arguments = {
        "ground_set": ground_set,
        "data": data,
        "constraint": IndividualSparsity(3),
        "n_atoms": 3,
    } | change
    with pytest.raises(error, match=sentence):
        iter_replacement_omp(**arguments)


def test_replacement_greedy_refuses_average_sparsity_before_any_step():
    ground_set, data, _ = instance(15)
    with pytest.raises(TypeError, match="not AverageSparsity; use replacement_omp"):
        replacement_greedy(ground_set, data, AverageSparsity(3, 60), 5)
