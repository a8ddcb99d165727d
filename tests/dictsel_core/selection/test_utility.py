"""Selection by other utilities: algorithm 1 with their gradients, refitted by their maximum."""

import numpy as np
import pytest
from literal import Patches, gradient_rule, literal_run
from scipy.optimize import minimize
from synthetic import random_ground_set

import dictsel_core
from dictsel_core import (
    AverageSparsity,
    HuberUtility,
    IndividualSparsity,
    LogisticUtility,
    SquaredUtility,
    Utility,
    approximation_bound,
    iter_replacement_omp,
    replacement_greedy,
    replacement_omp,
    standard_ground_set,
)

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
    assert all(each.__name__ in dictsel_core.__all__ for each in ours)


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


class UtilityPatches(Patches):
    """Literal definitions: refits by a general optimizer, gradients, and the smoothness of each patch."""

    def __init__(self, ground_set, data, weights, utility):
        super().__init__(ground_set, data, weights == 0)
        self.entry_weights, self.utility_function = weights, utility
        self.curvatures = utility.smoothness * weights.max(axis=1)
        self.known = {}

    def fit(self, t, support):
        key = t, tuple(support)
        if key not in self.known:
            columns, y = self.ground_set.atoms[:, support], np.nan_to_num(self.data[t])
            count = self.entry_weights[t]

            def loss(w):
                return -(count * self.utility_function.value(y, columns @ w)).sum()

            def slope(w):
                return -columns.T @ (count * self.utility_function.slope(y, columns @ w))

            weights = np.zeros(len(support))
            if len(support):
                weights = minimize(loss, weights, jac=slope, options={"gtol": 1e-10}).x
            residual = count * self.utility_function.slope(y, columns @ weights)
            self.known[key] = weights, residual, -loss(weights)
        return self.known[key]

    def utility(self, t, support):
        return self.fit(t, support)[2]

    def weights(self, t, support):
        return self.fit(t, support)[0] * np.sqrt(self.curvatures[t])

    def squared_correlations(self, t, support):
        squares = (self.ground_set.atoms.T @ self.fit(t, support)[1]) ** 2 / self.curvatures[t]
        squares[support] = 0
        return np.where(squares > 1e-11, squares, 0)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("constraint", [IndividualSparsity(2), AverageSparsity(2, 6)], ids=["own", "shared"])
@pytest.mark.parametrize("name", ["huber", "logistic"])
def test_replacement_omp_is_algorithm_1_for_the_utility(name, constraint, weighted):
    rng = np.random.default_rng(4)
    ground_set, data = random_ground_set(rng, 6, 7), sample(rng, name, (4, 6))
    weights = rng.choice([0.0, 0.5, 2.0], size=data.shape) if weighted else np.ones(data.shape)
    weights[:, 0] = 1.0
    data[weights == 0] = np.nan
    utility = UTILITIES[name]
    selection = replacement_omp(ground_set, data, constraint, 4, weights=weights, utility=utility)
    patches = UtilityPatches(ground_set, data, weights, utility)
    steps = list(literal_run(patches, constraint, 4, gradient_rule(patches), repeats=4))
    assert selection.atoms.tolist() == [step.atom for step in steps]
    np.testing.assert_allclose(selection.gains, [step.gain for step in steps], rtol=1e-4, atol=1e-8)
    final = steps[-1].supports
    assert [sorted(z.tolist()) for z in selection.supports] == [sorted(z) for z in final]
    reached = sum(patches.utility(t, z) for t, z in enumerate(final))
    np.testing.assert_allclose(selection.objective[-1], reached, rtol=1e-7)
    assert selection.certificate.achieved <= selection.certificate.upper_bound
    for t, (z, w) in enumerate(zip(selection.supports, selection.coefficients, strict=True)):
        np.testing.assert_allclose(w, patches.fit(t, z.tolist())[0], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("decay", [False, True])
def test_the_squared_utility_is_the_default(decay):
    rng = np.random.default_rng(5)
    ground_set, data = standard_ground_set((4, 4)), rng.normal(size=(40, 16))
    mask = rng.random(data.shape) < 0.2
    problem = ground_set, data, IndividualSparsity(3), 12
    general = replacement_omp(*problem, mask=mask, utility=SquaredUtility(), decay=decay)
    default = replacement_omp(*problem, mask=mask, decay=decay)
    np.testing.assert_array_equal(general.atoms, default.atoms)
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
    with pytest.raises(ValueError, match="replacement_omp only"):
        approximation_bound(
            basis, IndividualSparsity(5), **sizes, selector="sds_ma", utility=SquaredUtility()
        )


def test_what_is_no_utility_and_data_out_of_its_domain_are_refused():
    ground_set = standard_ground_set((2, 2))
    data = np.full((3, 4), 2.0)
    with pytest.raises(TypeError, match="must be a Utility such as"):
        replacement_omp(ground_set, data, IndividualSparsity(1), 2, utility="huber")
    with pytest.raises(TypeError, match="give it its parameters"):
        replacement_omp(ground_set, data, IndividualSparsity(1), 2, utility=HuberUtility)
    with pytest.raises(ValueError, match="between 0 and 1"):
        replacement_omp(ground_set, data, IndividualSparsity(1), 2, utility=LogisticUtility())
    with pytest.raises(ValueError, match="threshold must be positive"):
        HuberUtility(0)
    with pytest.raises(TypeError, match="utility"):
        replacement_greedy(ground_set, data, IndividualSparsity(1), 2, utility=HuberUtility(1))
