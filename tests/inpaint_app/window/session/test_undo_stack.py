"""One list of steps for mask and parameters."""

from dataclasses import replace

from dictsel_core import RestoreSettings
from inpaint_app.window.session.undo_stack import MERGE_SECONDS, UndoStack, UndoState

START = UndoState(RestoreSettings())


def with_settings(state: UndoState, **changes) -> UndoState:
    return replace(state, settings=replace(state.settings, **changes))


def test_steps_are_undone_and_redone_in_their_order() -> None:
    stack = UndoStack(START)
    painted = replace(START, mask_state=1)
    tuned = with_settings(painted, n_atoms=9)
    for place, state in enumerate((painted, tuned)):
        stack.record(state, {0, 1}, now=10.0 * place)
    assert (stack.undo_subject, stack.redo_subject) == ("parameters", "")
    assert stack.undo() == painted
    assert (stack.undo_subject, stack.redo_subject) == ("mask", "parameters")
    assert stack.undo() == START
    assert not stack.can_undo
    assert [stack.redo(), stack.redo()] == [painted, tuned]
    assert not stack.can_redo


def test_a_slider_that_is_dragged_is_one_step() -> None:
    stack = UndoStack(START)
    for place, n_atoms in enumerate(range(10, 40)):
        stack.record(with_settings(START, n_atoms=n_atoms), {0}, now=place * MERGE_SECONDS / 4)
    assert stack.undo() == START
    assert not stack.can_undo


def test_another_parameter_or_a_pause_begins_another_step() -> None:
    stack = UndoStack(START)
    first = with_settings(START, n_atoms=10)
    second, later = with_settings(first, sparsity=3), with_settings(first, n_atoms=11)
    stack.record(first, {0}, now=0)
    stack.record(second, {0}, now=0.1)
    assert stack.undo() == first
    stack.record(later, {0}, now=2 * MERGE_SECONDS)
    assert not stack.can_redo, "what was undone is forgotten"
    assert stack.undo() == first


def test_a_slider_that_comes_back_leaves_no_step() -> None:
    stack = UndoStack(START)
    for n_atoms in (10, 11, START.settings.n_atoms):
        stack.record(with_settings(START, n_atoms=n_atoms), {0}, now=0)
    assert not stack.can_undo


def test_strokes_are_steps_of_their_own_however_fast() -> None:
    stack = UndoStack(START)
    for state in (1, 2):
        stack.record(replace(START, mask_state=state), {0, 1, 2}, now=0)
    assert stack.undo().mask_state == 1


def test_states_that_the_mask_cannot_come_back_to_are_forgotten() -> None:
    stack = UndoStack(START)
    stack.record(replace(START, mask_state=1), {0, 1})
    stack.record(replace(START, mask_state=2), {0, 2})
    assert stack.undo().mask_state == 0, "state 2 took the place of 1"
    stack.redo()
    stack.record(replace(START, mask_state=3), {2, 3})
    assert stack.undo().mask_state == 2
    assert not stack.can_undo, "memory was short"


def test_nothing_new_is_no_step() -> None:
    stack = UndoStack(START)
    stack.record(START, {0})
    assert not stack.can_undo
