"""Hedge against its regret bounds, and against the definition of its probabilities."""

import numpy as np
import pytest

from dictsel_core.online import AdaptiveHedge, FixedHedge, Hedge

N_ACTIONS, ROUNDS, RATE = 6, 300, 0.05


def drifting(rng, scale=1.0):
    """Gains whose best action changes once."""
    means = np.linspace(0.2, 0.8, N_ACTIONS)
    gains = rng.random((ROUNDS, N_ACTIONS)) * means
    gains[ROUNDS // 2 :] = gains[ROUNDS // 2 :, ::-1]
    return scale * gains


def adversarial(rng, scale=1.0):
    """The action that is played most likely gains nothing, the others all there is."""
    gains = np.ones((ROUNDS, N_ACTIONS))
    gains[np.arange(ROUNDS), np.arange(ROUNDS) % N_ACTIONS] = 0
    return scale * gains


def sparse(rng, scale=1.0):
    """Now and then one of two actions gains something, as atoms do in dictionary selection."""
    gains = np.zeros((ROUNDS, N_ACTIONS))
    gains[::20, 1] = 1
    gains[5::40, 2] = 1
    return scale * gains


def expected_regret(hedge, table):
    """Best single action in hindsight by brute force, minus the expected gain of the player."""
    earned = 0.0
    for gains in table:
        earned += hedge.probabilities[0] @ gains
        hedge.observe(gains)
    return max(table[:, action].sum() for action in range(N_ACTIONS)) - earned


def makers(scale):
    return {
        "known end": lambda: Hedge(N_ACTIONS, rounds=ROUNDS, largest_gain=scale),
        "doubling": lambda: Hedge(N_ACTIONS, largest_gain=scale),
        "adaptive": lambda: AdaptiveHedge(N_ACTIONS),
        "fixed": lambda: FixedHedge(N_ACTIONS, rate=RATE),
    }


@pytest.mark.parametrize("game", [drifting, adversarial, sparse])
@pytest.mark.parametrize("kind", makers(1.0))
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_regret_is_within_what_theory_promises(game, kind, scale):
    hedge = makers(scale)[kind]()
    regret = expected_regret(hedge, game(np.random.default_rng(0), scale))
    single = scale * np.sqrt(ROUNDS * np.log(N_ACTIONS) / 2)
    closed = {
        "known end": single,
        "doubling": np.sqrt(2) / (np.sqrt(2) - 1) * single,
        "adaptive": np.sqrt(2) * single + scale * (4 / 3 * np.log(N_ACTIONS) + 2),
        "fixed": np.log(N_ACTIONS) / RATE + RATE * ROUNDS * scale**2 / 8,
    }[kind]
    assert regret <= hedge.regret_bound[0] + 1e-9
    assert hedge.regret_bound[0] <= closed * (1 + 1e-9)


def test_known_rate_gives_the_closed_bound_exactly():
    hedge = Hedge(N_ACTIONS, rounds=ROUNDS, largest_gain=3.0)
    for gains in 3.0 * adversarial(None):
        hedge.observe(gains)
    assert hedge.regret_bound[0] == pytest.approx(3.0 * np.sqrt(ROUNDS * np.log(N_ACTIONS) / 2))


def test_probabilities_are_exponential_in_the_totals():
    rng = np.random.default_rng(1)
    table = rng.random((10, 2, N_ACTIONS))
    rate = np.sqrt(8 * np.log(N_ACTIONS) / 10)
    for hedge in (Hedge(N_ACTIONS, n_learners=2, rounds=10), FixedHedge(N_ACTIONS, n_learners=2, rate=rate)):
        for gains in table:
            hedge.observe(gains)
        powers = np.exp(rate * table.sum(axis=0))
        np.testing.assert_allclose(hedge.probabilities, powers / powers.sum(axis=1, keepdims=True))


def test_adaptive_rate_follows_its_definition():
    table = np.random.default_rng(2).random((40, N_ACTIONS))
    hedge = AdaptiveHedge(N_ACTIONS)
    totals, gap = np.zeros(N_ACTIONS), 0.0
    for gains in table:
        if gap == 0:
            p = (totals == totals.max()) / np.count_nonzero(totals == totals.max())
            mixture = (totals + gains).max() - totals.max()
        else:
            rate = np.log(N_ACTIONS) / gap
            p = np.exp(rate * totals) / np.exp(rate * totals).sum()
            mixture = np.log(p @ np.exp(rate * gains)) / rate
        np.testing.assert_allclose(hedge.probabilities[0], p)
        hedge.observe(gains)
        gap += mixture - p @ gains
        totals += gains
        assert hedge.regret_bound[0] == pytest.approx(2 * gap)


def test_adaptive_play_does_not_depend_on_the_scale():
    table = drifting(np.random.default_rng(3))
    plays = []
    for scale in (1.0, 2.0**20):
        hedge = AdaptiveHedge(N_ACTIONS, rng=np.random.default_rng(4))
        for gains in table:
            plays.append(int(hedge.play()[0]))
            hedge.observe(scale * gains)
    assert plays[:ROUNDS] == plays[ROUNDS:]


def test_average_reward_of_many_draws_is_the_expected_one():
    hedge = Hedge(N_ACTIONS, n_learners=20_000, rounds=10, rng=np.random.default_rng(5))
    gains = np.linspace(0, 1, N_ACTIONS)
    for _ in range(3):
        hedge.observe(np.broadcast_to(gains, (20_000, N_ACTIONS)))
    expected = hedge.probabilities[0] @ gains
    assert gains[hedge.play()].mean() == pytest.approx(expected, abs=5 * gains.std() / np.sqrt(20_000))


def test_learners_side_by_side_do_not_disturb_each_other():
    table = np.random.default_rng(6).random((50, 3, N_ACTIONS))
    for make in (lambda m: Hedge(N_ACTIONS, n_learners=m), lambda m: AdaptiveHedge(N_ACTIONS, n_learners=m)):
        bank, alone = make(3), [make(1) for _ in range(3)]
        for gains in table:
            bank.observe(gains)
            for each, row in zip(alone, gains, strict=True):
                each.observe(row)
        np.testing.assert_allclose(bank.probabilities, np.vstack([each.probabilities for each in alone]))


def test_a_single_action_is_no_choice():
    for hedge in (Hedge(1, rounds=5), Hedge(1), AdaptiveHedge(1)):
        for _ in range(5):
            assert hedge.play().tolist() == [0]
            hedge.observe([0.5])
        assert hedge.regret_bound.tolist() == [0.0]
    hedge = AdaptiveHedge(1)
    for _ in range(20):
        hedge.observe([0.1])  # sums of which are rounded
    assert hedge.play().tolist() == hedge.regret_bound.tolist() == [0]


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_bounds_do_not_depend_on_the_unit_of_the_gains(unit):
    ours, reference = Hedge(3, largest_gain=unit), Hedge(3)
    ours.observe([0.0, unit, 0.0])
    reference.observe([0.0, 1.0, 0.0])
    np.testing.assert_allclose(ours.regret_bound / unit, reference.regret_bound)


def test_wrong_use_is_refused_in_words():
    hedge = Hedge(3, largest_gain=2.0)
    with pytest.raises(ValueError, match="gains must be at most largest_gain"):
        hedge.observe([0.0, 1.0, 2.5])
    with pytest.raises(ValueError, match="at least 0"):
        hedge.observe([0.0, -1.0, 1.0])
    with pytest.raises(ValueError, match="finite"):
        hedge.observe([0.0, np.nan, 1.0])
    with pytest.raises(ValueError, match=r"shape \(1, 3\)"):
        hedge.observe([0.0, 1.0])
    with pytest.raises(TypeError, match="gains must hold real numbers, but the dtype is complex"):
        hedge.observe([0.0, 1.0, 1j])
    with pytest.raises(ValueError, match="actions must be one for each of 1 learners, below 3"):
        hedge.distinct([3])
    with pytest.raises(ValueError, match="2 learners, but only 1 actions"):
        Hedge(1, n_learners=2).distinct([0, 0])
    with pytest.raises(ValueError, match="positive and finite"):
        Hedge(3, largest_gain=0.0)
    with pytest.raises(ValueError, match="rate must be positive and finite"):
        FixedHedge(3, rate=0.0)


def test_repeated_actions_give_way_to_the_best_that_nobody_takes():
    learners = Hedge(5, n_learners=4)
    first, second = np.array([9.0, 8, 7, 6, 5]) / 9, np.array([0.0, 1, 2, 3, 9]) / 9
    learners.observe([first, first, second, second])
    assert learners.distinct([0, 0, 4, 4]).tolist() == [0, 1, 4, 3]
    assert learners.distinct([0, 0, 1, 1]).tolist() == [0, 2, 1, 4]
    assert learners.distinct([3, 2, 1, 0]).tolist() == [3, 2, 1, 0]


def test_repeated_actions_remember_gains_before_a_restart():
    """The doubling trick forgets totals; which action comes next best is known all the same."""
    learners = Hedge(4, n_learners=2)
    learners.observe([[0.0, 1.0, 0.0, 0.5]] * 2)  # after one round the learners start again
    assert (learners._totals == 0).all()
    assert learners.distinct([1, 1]).tolist() == [1, 3]
