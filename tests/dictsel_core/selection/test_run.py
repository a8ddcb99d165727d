"""A selection under way, with each of the selectors."""

import numpy as np
import pytest
from synthetic import random_ground_set

from dictsel_core import IndividualSparsity
from dictsel_core import selection as selectors

#: All that take data in one array, found by name.
SELECTORS = [
    name.removeprefix("iter_")
    for name in selectors.__all__
    if name.startswith("iter_") and "chunked" not in name
]
N_ATOMS = 8


@pytest.fixture(params=SELECTORS)
def pair(request):
    """Functions of the number of atoms: one begins a run, the other selects at once."""
    rng = np.random.default_rng(8)
    ground_set, data = random_ground_set(rng, 10, 24), rng.normal(size=(30, 10))
    begin, select = getattr(selectors, "iter_" + request.param), getattr(selectors, request.param)
    mask = rng.random(data.shape) < 0.2
    return (
        lambda n_atoms: begin(ground_set, data, IndividualSparsity(3), n_atoms, mask=mask),
        lambda n_atoms: select(ground_set, data, IndividualSparsity(3), n_atoms, mask=mask),
    )


def assert_equal(first, second):
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_array_equal(first.gains, second.gains)
    np.testing.assert_array_equal(first.objective, second.objective)
    for name in ("supports", "coefficients"):
        for ours, theirs in zip(getattr(first, name), getattr(second, name), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_before_the_first_step_nothing_is_selected(pair):
    run = pair[0](N_ATOMS)
    selection = run.result
    assert selection.indices.size == selection.objective.size == 0
    assert selection.dictionary.shape == (10, 0)
    assert [len(z) for z in selection.supports] == [0] * 30
    assert run.steps == ()
    assert run.n_atoms == N_ATOMS


def test_in_the_middle_the_selection_is_that_of_a_shorter_run(pair):
    begin, select = pair
    run = begin(N_ATOMS)
    for _ in range(4):
        next(run)
    assert_equal(run.result, select(4))


def test_looking_at_the_selection_changes_nothing_that_follows_or_came_before(pair):
    begin, select = pair
    run = begin(N_ATOMS)
    early = []
    for _ in run:
        early.append(run.result)
    assert_equal(run.result, select(N_ATOMS))
    for k, selection in enumerate(early, start=1):
        assert_equal(selection, select(k))


def test_at_the_end_steps_and_selection_agree_and_there_is_nothing_more(pair):
    begin, select = pair
    run = begin(N_ATOMS)
    steps = list(run)
    selection = run.result
    assert run.steps == tuple(steps)
    assert [step.atom for step in steps] == selection.indices.tolist()
    assert [step.gain for step in steps] == selection.gains.tolist()
    assert [step.objective for step in steps] == selection.objective.tolist()
    np.testing.assert_array_equal(selection.dictionary, selection.ground_set.atoms[:, selection.indices])
    with pytest.raises(StopIteration):
        next(run)
    assert_equal(run.finish(), select(N_ATOMS))


def test_a_run_that_was_left_can_be_finished(pair):
    begin, select = pair
    run = begin(N_ATOMS)
    next(run)
    assert_equal(run.finish(), select(N_ATOMS))


def test_a_run_stops_when_enough_is_explained_or_little_is_gained(pair):
    whole = pair[1](N_ATOMS)
    half = (1 - 1e-9) * whole.objective[3] / pair[0](1)._bound.energy
    enough = pair[0](N_ATOMS).finish_when(explained=half)
    assert len(enough.indices) <= 4
    assert enough.objective[-1] >= (1 - 1e-9) * whole.objective[3]
    growth = np.diff(whole.objective) / whole.objective[:-1]
    first = int(np.argmax(growth < 0.2)) + 2  # the step that adds too little is kept
    assert len(pair[0](N_ATOMS).finish_when(growth=0.2).indices) == first
    assert_equal(pair[0](N_ATOMS).finish_when(), whole)
