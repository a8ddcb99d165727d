"""Online selectors against the offline definitions of their gains."""

from functools import partial

import numpy as np
import pytest
from near_parallel import ExactPatch, near_parallel_set
from synthetic import least_squares, planted, random_ground_set
from utility_patches import UtilityPatches

from dictsel_core import IndividualSparsity, replacement_omp, standard_ground_set
from dictsel_core.online import (
    FixedHedge,
    OnlineReplacementGreedy,
    OnlineReplacementOMP,
    OnlineSDSMA,
    alpha_regret,
    utilities,
)
from dictsel_core.utility import HuberUtility, LogisticUtility

SELECTORS = [OnlineSDSMA, OnlineReplacementGreedy, OnlineReplacementOMP]


class Rule:
    """Gains of a support by definition, each regression solved by LAPACK."""

    def __init__(self, ground_set, y, missing, sparsity):
        self.ground_set, self.y, self.missing, self.sparsity = ground_set, y, missing, sparsity
        self.everyone = range(len(ground_set))

    def utility(self, support):
        return least_squares(self.ground_set, self.y, self.missing, support)[1]

    def weights(self, support):
        return least_squares(self.ground_set, self.y, self.missing, support)[0]

    def slopes(self, support):
        fit = self.ground_set.atoms[:, support] @ self.weights(support)
        return self.ground_set.atoms.T @ np.where(self.missing, 0, self.y - fit)


class Modular(Rule):
    """Appendix D.1: here the support is the whole dictionary so far."""

    def surrogate(self, atoms):
        return sum(sorted((self.utility([a]) for a in set(atoms)), reverse=True)[: self.sparsity])

    def gains(self, support):
        return [self.surrogate([*support, a]) - self.surrogate(support) for a in self.everyone]

    def after(self, support, atom):
        return [*support, atom]


class Greedy(Rule):
    """Appendix D.2."""

    def options(self, support, atom):
        if atom in support:
            return [support]
        if len(support) < self.sparsity:
            return [[*support, atom]]
        swaps = [[*(b for b in support if b != gone), atom] for gone in support]
        return [support, *swaps]

    def gains(self, support):
        now = self.utility(support)
        return [max(self.utility(z) for z in self.options(support, a)) - now for a in self.everyone]

    def after(self, support, atom):
        return max(self.options(support, atom), key=self.utility)


class Gradient(Rule):
    """Appendix D.3, with the factors of algorithm 3."""

    def parts(self, support):
        weights, slopes = self.weights(support), self.slopes(support)
        slopes[support] = 0
        m = self.ground_set.smoothness
        cost = m * (weights**2).min() if len(support) >= self.sparsity else 0.0
        return np.maximum(slopes**2 / m - cost, 0), weights

    def gains(self, support):
        return self.parts(support)[0]

    def after(self, support, atom):
        gains, weights = self.parts(support)
        if gains[atom] <= 0:
            return support
        if len(support) < self.sparsity:
            return [*support, atom]
        gone = support[int((weights**2).argmin())]
        return [*(b for b in support if b != gone), atom]


RULES = {OnlineSDSMA: Modular, OnlineReplacementGreedy: Greedy, OnlineReplacementOMP: Gradient}


class Recorder:
    """A bank of learners that plays what it is told and keeps what it is fed."""

    def __init__(self, picks):
        self.picks, self.fed = np.array(picks), None

    def play(self):
        return self.picks

    def observe(self, gains):
        self.fed = gains


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_every_learner_is_fed_the_gains_of_the_definition(selector, masked, seed):
    rng = np.random.default_rng(seed)
    ground_set = random_ground_set(rng, 8, 12)
    y = rng.normal(size=8)
    missing = rng.random(8) < 0.25 if masked else np.zeros(8, bool)
    online = selector(ground_set, 6, 2)
    recorder = online.learners = Recorder(rng.integers(0, 12, 6))  # some may agree
    online.observe(np.where(missing, np.nan, y), missing if masked else None)
    rule = RULES[selector](ground_set, y, missing, 2)
    support = []
    for gains, pick in zip(recorder.fed, recorder.picks.tolist(), strict=True):
        np.testing.assert_allclose(gains, rule.gains(support), atol=1e-9)
        support = rule.after(support, pick)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("angle", [3e-4, 1e-4, 1e-5, 1e-6])
def test_gains_of_nearly_parallel_atoms_are_true_differences(angle, masked):
    for seed in range(30):
        rng = np.random.default_rng([seed, int(1 / angle)])
        ground_set, y = near_parallel_set(rng, angle), rng.normal(size=5)
        missing = np.arange(5) == seed % 5 if masked else np.zeros(5, bool)
        energy = float(np.square(y[~missing]).sum())
        online = OnlineReplacementGreedy(ground_set, 5, 3, largest_energy=energy * (1 + 1e-12))
        recorder = online.learners = Recorder(rng.integers(0, len(ground_set), 5))
        online.observe(y, missing if masked else None)
        rule, patch, support = Greedy(ground_set, y, missing, 3), ExactPatch(ground_set, y, missing), []
        rule.utility = patch.utility
        for gains, pick in zip(recorder.fed, recorder.picks.tolist(), strict=True):
            np.testing.assert_allclose(gains, rule.gains(support), atol=1e-6 * energy)
            support = rule.after(support, pick)


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("utility", [HuberUtility(0.4), LogisticUtility(0.05)], ids=["huber", "logistic"])
def test_every_learner_is_fed_the_gains_of_the_utility(selector, utility):
    rng = np.random.default_rng(3)
    ground_set = random_ground_set(rng, 8, 10)
    y, missing = rng.integers(0, 2, 8).astype(float), np.arange(8) == 5
    energy = 2 * utility.largest(y[~missing]).sum()
    online = selector(ground_set, 5, 2, utility=utility, largest_energy=energy)
    recorder = online.learners = Recorder(rng.integers(0, 10, 5))
    online.observe(np.where(missing, np.nan, y), missing)
    rule = RULES[selector](ground_set, y, missing, 2)
    patches = UtilityPatches(ground_set, y[None], (~missing[None]).astype(float), utility)
    scale = np.sqrt(utility.smoothness)
    rule.utility, rule.weights = partial(patches.utility, 0), partial(patches.weights, 0)
    rule.slopes = lambda support: ground_set.atoms.T @ patches.fit(0, support)[1] / scale
    support = []
    for gains, pick in zip(recorder.fed, recorder.picks.tolist(), strict=True):
        np.testing.assert_allclose(gains, rule.gains(support), rtol=1e-5, atol=1e-7)
        support = rule.after(support, pick)


@pytest.mark.parametrize("selector", SELECTORS)
def test_gains_never_exceed_what_the_rate_of_theory_counts_on(selector):
    """`observe` refuses gains that do."""
    ground_set = standard_ground_set((4, 4))
    rng = np.random.default_rng(0)
    data = rng.normal(size=(40, 16))
    data[::2] = 3 * ground_set.atoms[:, rng.integers(0, len(ground_set), 20)].T  # one atom explains all
    online = selector(ground_set, 5, 2, largest_energy=(data**2).sum(axis=1).max(), rounds=40)
    largest = []
    plain = online.learners.observe
    online.learners.observe = lambda gains: (largest.append(gains.max()), plain(gains))
    for y in data:
        online.play()
        online.observe(y)
    assert len(largest) == 40
    assert 0 < max(largest) <= online.learners._largest


@pytest.mark.parametrize("seed", range(10))
def test_gains_are_right_where_hardly_anything_is_observed(seed):
    """Atoms look alike on a tenth of the pixels, so that supports are close to dependent."""
    rng = np.random.default_rng(seed)
    ground_set = standard_ground_set()
    y, missing = rng.normal(size=64), rng.random(64) < 0.9
    online = OnlineReplacementGreedy(ground_set, 20, 5)
    recorder = online.learners = Recorder(rng.integers(0, len(ground_set), 20))
    online.observe(y, missing)
    energy = (y[~missing] ** 2).sum()
    assert recorder.fed.max() <= energy / 2 * (1 + 1e-6)
    rule = Greedy(ground_set, y, missing, 5)
    support = []
    for pick in recorder.picks.tolist():
        support = rule.after(support, pick)
    own = recorder.fed[np.arange(20), recorder.picks].sum()
    assert own == pytest.approx(rule.utility(support), rel=1e-6)


@pytest.mark.parametrize("selector", SELECTORS)
def test_planted_dictionary_is_learned_and_average_regret_falls(selector):
    rng = np.random.default_rng(1)
    ground_set = standard_ground_set((4, 4), ["dct"])
    data, truth = planted(rng, ground_set, 400, 3, 2)
    online = selector(ground_set, 3, 2, rng=rng)
    rewards = []
    for y in data:
        rewards.append(utilities(ground_set.atoms[:, online.play()], y, 2)[0])
        online.observe(y)
    offline = replacement_omp(ground_set, data, IndividualSparsity(2), 3)
    regret = alpha_regret(rewards, utilities(offline.dictionary, data, 2)) / np.arange(1, 401)
    assert regret[399] < regret[99] < regret[19]
    assert sorted(online.play().tolist()) == truth.tolist()


@pytest.mark.parametrize("selector", SELECTORS)
def test_the_seed_decides_and_play_waits_for_observe(selector):
    ground_set = standard_ground_set((4, 4))
    data = np.random.default_rng(2).normal(size=(30, 16))
    games = []
    for rng in (np.random.default_rng(7), 7, 8):
        online = selector(ground_set, 4, 2, rng=rng)
        played = []
        for y in data:
            atoms = online.play()
            np.testing.assert_array_equal(atoms, online.play())
            assert len(set(atoms.tolist())) == len(atoms) == 4
            played.append(atoms.tolist())
            online.observe(y)
        games.append(played)
    assert games[0] == games[1] != games[2]


@pytest.mark.parametrize("selector", SELECTORS)
def test_dictionaries_stay_full_and_feedback_is_that_of_the_picks(selector):
    """All learners want the same two atoms; the dictionary holds them, and more."""
    ground_set = standard_ground_set((4, 4))
    data = np.random.default_rng(3).normal(size=(60, 2)) @ ground_set.atoms[:, [5, 9]].T
    played = selector(ground_set, 4, 2, rng=5)
    unplayed = selector(ground_set, 4, 2, rng=5)
    collisions = 0
    for y in data:
        atoms = played.play()
        assert len(set(atoms.tolist())) == 4
        picks = played._draw()
        collisions += len(set(picks.tolist())) < 4
        assert set(picks.tolist()) <= set(atoms.tolist())
        played.observe(y)
        unplayed.observe(y)
    assert collisions > 10
    np.testing.assert_array_equal(played.learners.probabilities, unplayed.learners.probabilities)


def test_a_dictionary_as_large_as_the_ground_set_holds_every_atom():
    ground_set = standard_ground_set((4, 4), ["dct"])
    online = OnlineReplacementOMP(ground_set, 16, 2)
    for y in np.random.default_rng(4).normal(size=(5, 16)):
        assert sorted(online.play().tolist()) == list(range(16))
        online.observe(y)


@pytest.mark.parametrize("selector", SELECTORS)
def test_patches_that_say_nothing_teach_nothing(selector):
    ground_set = standard_ground_set((4, 4))
    online = selector(ground_set, 3, 2)
    online.observe(np.zeros(16))
    online.observe(np.full(16, np.nan), np.ones(16, bool))
    np.testing.assert_allclose(online.learners.probabilities, 1 / len(ground_set))


@pytest.mark.parametrize("selector", SELECTORS)
def test_wrong_use_is_refused_in_words(selector):
    ground_set = standard_ground_set((4, 4))
    with pytest.raises(TypeError, match="largest_energy"):
        selector(ground_set, 3, 2, rounds=10)
    with pytest.raises(TypeError, match="must be a GroundSet"):
        selector(ground_set.atoms, 3, 2)
    with pytest.raises(ValueError, match="one patch"):
        selector(ground_set, 3, 2).observe(np.zeros((2, 16)))
    with pytest.raises(ValueError, match="y must be one patch"):
        selector(ground_set, 3, 2).observe(np.zeros(15))
    with pytest.raises(ValueError, match="mask must have the shape of y"):
        selector(ground_set, 3, 2).observe(np.zeros(16), np.zeros(15, bool))
    with pytest.raises(TypeError, match="already have a rate"):
        selector(ground_set, 3, 2, learners=FixedHedge(64, n_learners=3, rate=1.0), rng=0)
    with pytest.raises(TypeError, match="learners must be an ExpertBank"):
        selector(ground_set, 3, 2, learners=[FixedHedge(64, rate=1.0)])
    with pytest.raises(ValueError, match="learners must be 3 over 64 atoms"):
        selector(ground_set, 3, 2, learners=FixedHedge(64, n_learners=2, rate=1.0))
    for energy in (0.0, np.inf):
        with pytest.raises(ValueError, match="largest_energy must be positive and finite"):
            selector(ground_set, 3, 2, largest_energy=energy)
    with pytest.raises(ValueError, match="largest_energy must be the largest"):
        selector(ground_set, 3, 2, largest_energy=1.0).observe(9 * ground_set.atoms[:, 0])
    with pytest.raises(ValueError, match="must be finite"):
        selector(ground_set, 3, 2).observe(np.full(16, np.nan))


@pytest.mark.parametrize("selector", SELECTORS)
def test_learners_of_ones_own_play_and_are_fed(selector):
    ground_set = standard_ground_set((4, 4))
    learners = FixedHedge(64, n_learners=3, rate=1.0)
    online = selector(ground_set, 3, 2, learners=learners)
    for _ in range(20):
        online.observe(9 * ground_set.atoms[:, 5])
    assert online.play()[0] == 5
    assert online.learners is learners


def test_a_smaller_smoothness_of_ones_own_gives_larger_gains():
    rng = np.random.default_rng(3)
    ground_set, y = random_ground_set(rng, 8, 12), rng.normal(size=8)
    fed = []
    for smoothness in (None, 1.0):
        online = OnlineReplacementOMP(ground_set, 2, 2, smoothness=smoothness)
        recorder = online.learners = Recorder([3, 4])
        online.observe(y)
        fed.append(recorder.fed)
    np.testing.assert_allclose(fed[1], ground_set.smoothness * fed[0])
    with pytest.raises(ValueError, match="smoothness must be positive and finite"):
        OnlineReplacementOMP(ground_set, 2, 2, smoothness=0.0)


def test_regret_is_what_the_reference_has_more():
    player, reference = np.array([1.0, 0.0, 2.0]), np.array([2.0, 2.0, 2.0])
    np.testing.assert_allclose(alpha_regret(player, reference), [1, 3, 3])
    np.testing.assert_allclose(alpha_regret(player, reference, 0.5), [0, 1, 0])
    with pytest.raises(ValueError, match="one utility per round"):
        alpha_regret(player, reference[:2])


def test_utilities_count_observed_entries_only():
    data = np.array([[3.0, 4.0, np.nan]])
    assert utilities(np.eye(3)[:, :1], data, 1, mask=[[False, False, True]]).tolist() == [4.5]
    assert utilities(np.eye(3)[:, :1], data[0], 1, mask=[False, False, True]).tolist() == [4.5]


def test_utilities_are_never_negative():
    """Where the atoms explain nothing, the rounded residual may be longer than the patch."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    data = rng.normal(size=(200, 5)) @ basis[:, 3:].T
    assert (utilities(basis[:, :3], data.astype(np.float32), 2) >= 0).all()


def test_masked_arrays_do_not_lose_their_mask_in_silence():
    y = np.ma.masked_equal(np.arange(16.0), 3.0)
    with pytest.raises(TypeError, match="y must be a plain array; pass its mask"):
        OnlineReplacementOMP(standard_ground_set((4, 4)), 3, 2).observe(y)
    with pytest.raises(TypeError, match="data must be a plain array; pass its mask"):
        utilities(np.eye(16)[:, :2], y[None], 1)
