"""Three ways to place one atom under average sparsity, which must agree."""

from itertools import product

import numpy as np
import pytest
from algorithm_2 import Exchange, algorithm_2
from hypothesis import given, settings
from hypothesis import strategies as st

from dictsel_core import AverageSparsity
from dictsel_core.constraints import ReplacementGains

# Small whole numbers make ties frequent; that is where the greedy choices could go wrong.
NUMBERS = st.one_of(st.integers(0, 4).map(float), st.floats(0, 10, allow_subnormal=False))


@st.composite
def instances(draw, largest=5):
    n = draw(st.integers(1, largest))
    gains = np.array(draw(st.lists(NUMBERS, min_size=n, max_size=n)))
    costs = np.array(draw(st.lists(st.one_of(NUMBERS, st.just(np.inf)), min_size=n, max_size=n)))
    at_cap = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n))) & np.isfinite(costs)
    unused = draw(st.integers(0 if np.isfinite(costs).any() else 1, n + 1))  # a budget is at least 1
    return gains, costs, at_cap, unused


def as_problem(gains, costs, at_cap, unused):
    """The constraint and the table of one atom: a patch with a finite cost has another atom already."""
    sizes = np.isfinite(costs).astype(int)
    constraint = AverageSparsity(np.where(at_cap, 1, 2), int(sizes.sum()) + unused)
    supports = np.where(sizes[:, None] > 0, 1, -1)
    return constraint, ReplacementGains(gains[:, None], costs[:, None], supports, sizes)


def best_exchange(gains, costs, at_cap, unused):
    """What `AverageSparsity` does with the atom."""
    constraint, table = as_problem(gains, costs, at_cap, unused)
    found = constraint.replacement(table, 0)
    assert constraint.values(table)[0] == found.value
    return Exchange(found.value, found.added, found.removed >= 0), found.price


def value(gains, costs, added, removed):
    return gains[added].sum() - costs[removed].sum()


def is_allowed(costs, at_cap, unused, added, removed):
    return (
        added.sum() - removed.sum() <= unused
        and not (added & at_cap & ~removed).any()
        and np.isfinite(costs[removed]).all()
    )


def brute_force(gains, costs, at_cap, unused):
    sets = [np.array(bits) for bits in product([False, True], repeat=len(gains))]
    allowed = [(a, b) for a in sets for b in sets if is_allowed(costs, at_cap, unused, a, b)]
    return max(value(gains, costs, a, b) for a, b in allowed)


@pytest.mark.slow
@settings(max_examples=400)
@given(instances())
def test_fast_step_equals_algorithm_2_equals_brute_force(instance):
    gains, costs, at_cap, unused = instance
    optimum = brute_force(*instance)
    for exchange in (best_exchange(*instance)[0], algorithm_2(*instance)):
        assert exchange.value == pytest.approx(optimum, abs=1e-9)
        assert is_allowed(costs, at_cap, unused, exchange.added, exchange.removed)
        assert value(gains, costs, exchange.added, exchange.removed) == pytest.approx(exchange.value)


@given(st.integers(0, 2**32 - 1), st.integers(1, 400), st.booleans())
def test_fast_step_equals_algorithm_2_on_many_patches(seed, n, ties):
    rng = np.random.default_rng(seed)
    gains, costs = (rng.integers(0, 9, n).astype(float) if ties else rng.gamma(0.5, size=n) for _ in "gc")
    costs[rng.random(n) < 0.2] = np.inf
    at_cap = (rng.random(n) < rng.random()) & np.isfinite(costs)
    unused = int(rng.integers(0, n)) or 1
    fast, plain = best_exchange(gains, costs, at_cap, unused)[0], algorithm_2(gains, costs, at_cap, unused)
    assert fast.value == pytest.approx(plain.value, abs=1e-9)
    assert is_allowed(costs, at_cap, unused, fast.added, fast.removed)


@given(instances(largest=8), st.floats(0, 20))
def test_dual_bounds_from_above_and_is_exact_at_the_price(instance, price):
    exchange, best_price = best_exchange(*instance)
    constraint, table = as_problem(*instance)
    assert constraint.bounds(table, price)[0] >= exchange.value - 1e-9
    assert constraint.bounds(table, best_price)[0] == pytest.approx(exchange.value, abs=1e-9)


@given(instances(largest=8))
def test_useless_atoms_are_never_added(instance):
    gains, costs, at_cap, unused = instance
    gains[::2] = 0
    added = best_exchange(gains, costs, at_cap, unused)[0].added
    assert (gains[added] > 0).all()
