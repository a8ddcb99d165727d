"""Selection by other utilities: algorithm 1 with their gradients, refitted by their maximum."""

import numpy as np
import pytest
from literal import difference_rule, gradient_rule, literal_run
from synthetic import random_ground_set
from utility_patches import UtilityPatches

import dictsel_core
from dictsel_core import (
    AverageSparsity,
    BlockSparsity,
    IndividualSparsity,
    replacement_omp,
    standard_ground_set,
)
from dictsel_core.selection import iter_replacement_omp, replacement_greedy, sds_ma, sds_omp
from dictsel_core.theory import approximation_bound, regret_bound
from dictsel_core.utility import HuberUtility, LogisticUtility, SquaredUtility, Utility

UTILITIES = {
    "squared": SquaredUtility(),
    "huber": HuberUtility(0.4),
    "logistic": LogisticUtility(0.05),
}


def sample(rng, name, shape):
    data = rng.normal(size=shape)
    return (data > 0).astype(float) if name == "logistic" else data


def test_every_utility_is_tested():
    ours = [each for each in Utility.__subclasses__() if each.__module__.startswith("dictsel_core")]
    assert {type(each) for each in UTILITIES.values()} == set(ours)
    assert all(hasattr(dictsel_core.utility, each.__name__) for each in ours)


@pytest.mark.parametrize("name", UTILITIES)
def test_slope_curvature_and_supremum_are_those_of_the_value(name):
    utility = UTILITIES[name]
    rng = np.random.default_rng(0)
    y, x = sample(rng, name, 50), rng.normal(size=50) * 2
    h = 1e-5
    np.testing.assert_allclose(utility.value(y, np.zeros(50)), 0, atol=1e-12)
    numeric = (utility.value(y, x + h) - utility.value(y, x - h)) / (2 * h)
    np.testing.assert_allclose(utility.slope(y, x), numeric, atol=1e-6)
    smooth = np.abs(np.abs(y - x) - 0.4) > 1e-3  # away from the kinks of Huber's slope
    numeric = -(utility.slope(y, x + h) - utility.slope(y, x - h)) / (2 * h)
    np.testing.assert_allclose(utility.curvature(y, x)[smooth], numeric[smooth], atol=1e-6)
    assert utility.concavity <= utility.curvature(y, x).min()
    assert utility.curvature(y, x).max() <= utility.smoothness
    grid = np.linspace(-20, 20, 4001)[:, None]
    best = utility.value(y, grid + 0 * y).max(axis=0)
    assert (best <= utility.largest(y) + 1e-12).all()
    if name != "logistic":  # whose penalty keeps it out of reach
        np.testing.assert_allclose(best, utility.largest(y), atol=1e-4)


def problem(name, weighted):
    """A small problem, its weights, and the literal computations."""
    rng = np.random.default_rng(4)
    ground_set, data = random_ground_set(rng, 6, 7), sample(rng, name, (4, 6))
    weights = rng.choice([0.0, 0.5, 2.0], size=data.shape) if weighted else np.ones(data.shape)
    weights[:, 0] = 1.0
    data[weights == 0] = np.nan
    return ground_set, data, weights, UtilityPatches(ground_set, data, weights, UTILITIES[name])


def check_against_the_steps(selection, patches, steps):
    assert selection.indices.tolist() == [step.atom for step in steps]
    np.testing.assert_allclose(selection.gains, [step.gain for step in steps], rtol=1e-4, atol=1e-8)
    final = steps[-1].supports
    assert [sorted(z.tolist()) for z in selection.supports] == [sorted(z) for z in final]
    reached = sum(patches.utility(t, z) for t, z in enumerate(final))
    np.testing.assert_allclose(selection.objective[-1], reached, rtol=1e-7)
    assert selection.certificate.achieved <= selection.certificate.upper_bound
    for t, (z, w) in enumerate(zip(selection.supports, selection.coefficients, strict=True)):
        np.testing.assert_allclose(w, patches.fit(t, z.tolist())[0], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("constraint", [IndividualSparsity(2), AverageSparsity(2, 6)], ids=["own", "shared"])
@pytest.mark.parametrize("name", ["huber", "logistic"])
def test_replacement_omp_is_algorithm_1_for_the_utility(name, constraint, weighted):
    ground_set, data, weights, patches = problem(name, weighted)
    selection = replacement_omp(ground_set, data, constraint, 4, weights=weights, utility=UTILITIES[name])
    steps = list(literal_run(patches, constraint, 4, gradient_rule(patches), repeats=4))
    check_against_the_steps(selection, patches, steps)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("constraint", [IndividualSparsity(2), BlockSparsity([[0, 1], [2, 3]], 2)])
@pytest.mark.parametrize("name", ["huber", "logistic"])
def test_replacement_greedy_is_algorithm_1_for_the_utility(name, constraint, weighted):
    ground_set, data, weights, patches = problem(name, weighted)
    selection = replacement_greedy(ground_set, data, constraint, 4, weights=weights, utility=UTILITIES[name])
    steps = list(literal_run(patches, constraint, 4, difference_rule(patches), repeats=4))
    check_against_the_steps(selection, patches, steps)


@pytest.mark.parametrize("name", ["huber", "logistic"])
def test_sds_ma_adds_up_the_utilities_of_single_atoms(name):
    ground_set, data, weights, patches = problem(name, True)
    selection = sds_ma(ground_set, data, IndividualSparsity(2), 4, weights=weights, utility=UTILITIES[name])
    single = np.array([[patches.utility(t, [a]) for a in range(len(ground_set))] for t in range(len(data))])

    def modular(atoms):
        return np.sort(single[:, atoms], axis=1)[:, -2:].sum()

    chosen = []
    for atom, objective in zip(selection.indices.tolist(), selection.objective, strict=True):
        best = max(modular([*chosen, a]) for a in range(len(ground_set)) if a not in chosen)
        chosen.append(atom)
        np.testing.assert_allclose([modular(chosen), objective], best, rtol=1e-6)


@pytest.mark.parametrize("decay", [False, True])
def test_the_squared_utility_is_the_default(decay):
    rng = np.random.default_rng(5)
    ground_set, data = standard_ground_set((4, 4)), rng.normal(size=(40, 16))
    mask = rng.random(data.shape) < 0.2
    given = ground_set, data, IndividualSparsity(3), 12
    general = replacement_omp(*given, mask=mask, utility=SquaredUtility(), decay=decay)
    default = replacement_omp(*given, mask=mask, decay=decay)
    np.testing.assert_array_equal(general.indices, default.indices)
    np.testing.assert_allclose(general.objective, default.objective)
    assert general.supports[7].tolist() == default.supports[7].tolist()


@pytest.mark.parametrize("name", ["huber", "logistic"])
def test_the_objective_grows_by_half_the_gain_at_least_and_stays_within_reach(name):
    rng = np.random.default_rng(6)
    data = sample(rng, name, (30, 16)).astype(np.float32)
    run = iter_replacement_omp(
        standard_ground_set((4, 4)), data, IndividualSparsity(3), 15, utility=UTILITIES[name]
    )
    before = 0.0
    for step in run:
        assert step.objective >= before + step.gain / 2 * (1 - 1e-5) - 1e-9
        before = step.objective
    assert before <= run.result.certificate.upper_bound
    assert run.result.certificate.upper_bound < 1.01 * UTILITIES[name].largest(data.astype(float)).sum()


def test_separable_binary_data_have_finite_weights():
    ground_set = standard_ground_set((2, 2), bases=["haar"])
    data = (ground_set.atoms.T > 0).astype(float)  # an atom alone tells zeros from ones
    selection = replacement_omp(ground_set, data, IndividualSparsity(2), 4, utility=LogisticUtility(1e-4))
    assert all(np.isfinite(w).all() for w in selection.coefficients)
    assert selection.certificate.ratio > 0.9


def test_the_guarantee_is_that_of_the_utility():
    basis = standard_ground_set(bases=["dct"])
    sizes = {"n_points": 100, "n_atoms": 20}
    plain = approximation_bound(basis, IndividualSparsity(5), **sizes)
    ridge = approximation_bound(basis, IndividualSparsity(5), **sizes, utility=LogisticUtility(0.25))
    assert plain == approximation_bound(basis, IndividualSparsity(5), **sizes, utility=SquaredUtility())
    np.testing.assert_allclose([ridge.smoothness, ridge.concavity], [0.5, 0.25])
    np.testing.assert_allclose(ridge.ratio, 0.25 * (1 - np.exp(-2)))
    assert approximation_bound(basis, IndividualSparsity(5), **sizes, utility=HuberUtility(1)).ratio == 0
    modular = approximation_bound(
        basis, IndividualSparsity(5), **sizes, selector="sds_ma", utility=LogisticUtility(0.25)
    )
    np.testing.assert_allclose(modular.ratio, 0.25 * (1 - np.exp(-1)))  # m_1 m_s / M_1 M_s
    with pytest.raises(ValueError, match="omitted for sds_omp"):
        approximation_bound(
            basis, IndividualSparsity(5), **sizes, selector="sds_omp", utility=SquaredUtility()
        )


@pytest.mark.parametrize("selector", ["replacement_omp", "replacement_greedy", "sds_ma"])
def test_the_regret_is_that_of_the_utility(selector):
    basis = standard_ground_set(bases=["dct"])
    game = {"sparsity": 5, "n_atoms": 20, "rounds": 100, "largest_energy": 2.0, "selector": selector}
    plain, ridge = (regret_bound(basis, **game, utility=u) for u in (None, LogisticUtility(0.25)))
    assert plain == regret_bound(basis, **game, utility=SquaredUtility())
    offline = {"n_points": 100, "n_atoms": 20, "selector": selector, "utility": LogisticUtility(0.25)}
    assert ridge.alpha == pytest.approx(approximation_bound(basis, IndividualSparsity(5), **offline).ratio)
    assert ridge.regret == pytest.approx(plain.regret * (0.5 if selector == "sds_ma" else 1))


def test_what_is_no_utility_and_data_out_of_its_domain_are_refused():
    ground_set = standard_ground_set((2, 2))
    data = np.full((3, 4), 2.0)
    with pytest.raises(TypeError, match="must be a Utility such as"):
        replacement_omp(ground_set, data, IndividualSparsity(1), 2, utility="huber")
    with pytest.raises(TypeError, match="give it its parameters"):
        replacement_omp(ground_set, data, IndividualSparsity(1), 2, utility=HuberUtility)
    with pytest.raises(TypeError, match="must be a Utility such as"):
        approximation_bound(ground_set, IndividualSparsity(1), n_points=3, n_atoms=2, utility="huber")
    with pytest.raises(ValueError, match="between 0 and 1"):
        replacement_omp(ground_set, data, IndividualSparsity(1), 2, utility=LogisticUtility())
    with pytest.raises(ValueError, match="threshold must be positive"):
        HuberUtility(0)
    with pytest.raises(TypeError, match="utility"):
        sds_omp(ground_set, data, IndividualSparsity(1), 2, utility=HuberUtility(1))
