"""Strokes of the healing brush: restored where they are, undone together with the mask."""

import numpy as np
import pytest
from windows import SLOW, opened, restored, settle

from inpaint_app.model.picture import Picture
from inpaint_app.window.canvas.tools.brushes import HealingBrush
from inpaint_app.window.canvas.tools.tool import Place


def paint(session, qtbot, row: float = 30.5, *, settles: bool = True) -> None:
    """Heal a line from column 20 to 50."""
    session.document.set_view(session.state.view.with_brush(5))
    brush = HealingBrush(session)
    brush.press(Place(row, 20.5))
    brush.move(Place(row, 50.5))
    brush.release()
    if settles:
        settle(session, qtbot)


@pytest.fixture
def whole(session, qtbot, files):
    return opened(session, qtbot, files["whole"])


def test_a_stroke_is_healed_without_a_run_before(whole, qtbot) -> None:
    notices = []
    whole.document.notice.connect(notices.append)
    paint(whole, qtbot)
    record, pixels = whole.state.runs.current, whole.state.source.picture.pixels
    assert whole.complaints == []
    assert np.array_equal(record.image[~whole.document.mask], pixels[~whole.document.mask])
    assert not np.array_equal(record.image, pixels)
    assert (record.n_strokes, len(whole.state.runs)) == (1, 1)
    assert whole.state.preview is None
    assert any("F5" in notice for notice in notices)
    assert whole.state.has_unsaved_result


def test_undo_takes_back_stroke_and_result_together(whole, qtbot) -> None:
    images = [None]
    for row in (20.5, 40.5):
        paint(whole, qtbot, row)
        images.append(whole.state.runs.current.image)
    whole.history.undo()
    settle(whole, qtbot)
    assert np.array_equal(whole.state.runs.current.image, images[1])
    assert not whole.document.mask[40, 25:45].any()
    whole.history.undo()
    settle(whole, qtbot)
    assert whole.state.runs.current is None
    assert not whole.document.mask.any()
    for image in images[1:]:
        whole.history.redo()
        settle(whole, qtbot)
        assert np.array_equal(whole.state.runs.current.image, image)
    assert whole.state.runs.current.n_strokes == 2


def test_a_stroke_changes_a_result_where_it_is(session, qtbot, files) -> None:
    restored(session, qtbot, files["damaged"])
    session.document.mark_saved(session.state.runs.current)
    before = session.state.runs.current
    paint(session, qtbot)
    after = session.state.runs.current
    assert after.number == before.number
    assert np.array_equal(after.image[50:], before.image[50:])
    assert not np.array_equal(after.image, before.image)
    assert session.state.has_unsaved_result
    session.history.undo()
    settle(session, qtbot)
    assert np.array_equal(session.state.runs.current.image, before.image)
    assert session.state.runs.current.n_strokes == 0


def test_strokes_are_healed_in_their_order_and_undone_while_they_wait(whole, qtbot) -> None:
    for row in (15.5, 30.5, 45.5):
        paint(whole, qtbot, row, settles=False)
    whole.history.undo()
    settle(whole, qtbot)
    assert whole.state.runs.current.n_strokes == 2
    assert np.array_equal(whole.state.runs.current.mask, whole.document.mask)


def test_a_stroke_over_missing_pixels_is_healed_and_undone_too(whole, qtbot) -> None:
    paint(whole, qtbot)
    paint(whole, qtbot)
    assert whole.state.runs.current.n_strokes == 2
    whole.history.undo()
    settle(whole, qtbot)
    assert whole.document.mask.any()
    assert whole.state.runs.current.n_strokes == 1


def test_a_run_in_progress_is_restarted_with_the_stroke(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    session.set_settings(SLOW)
    session.running.restore()
    paint(session, qtbot, settles=False)
    assert session.healing.task.activity is None
    assert session.running.is_busy
    session.cancel()


def test_cancelling_leaves_the_stroke_in_the_mask(whole, qtbot) -> None:
    paint(whole, qtbot, settles=False)
    assert whole.state.activity.kind == "heal"
    whole.cancel()
    settle(whole, qtbot)
    assert whole.state.runs.current is None
    assert whole.document.mask.any()
    assert whole.state.activity is None
    whole.history.undo()
    assert not whole.document.mask.any()


def test_a_healed_run_is_not_taken_for_a_whole_one(whole, qtbot) -> None:
    paint(whole, qtbot)
    record = whole.state.runs.current
    assert whole.state.runs.find_run(record.requested, record.packed_mask) is None


def test_undo_of_a_stroke_that_a_run_restored_previews_what_has_changed(whole, qtbot) -> None:
    paint(whole, qtbot, 15.5)
    paint(whole, qtbot, 45.5)
    whole.running.restore()
    settle(whole, qtbot)
    whole.history.undo()
    settle(whole, qtbot)
    assert whole.state.runs.current.number == 2
    assert whole.state.preview is not None


def test_a_stroke_undone_before_it_was_healed_is_healed_when_redone(whole, qtbot) -> None:
    paint(whole, qtbot, settles=False)
    whole.history.undo()
    settle(whole, qtbot)
    assert whole.state.runs.current is None
    whole.history.redo()
    settle(whole, qtbot)
    assert whole.state.runs.current.n_strokes == 1
    assert np.array_equal(whole.state.runs.current.mask, whole.document.mask)


def test_undo_never_removes_a_run_made_after_the_stroke_was_undone(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    paint(session, qtbot)
    session.history.undo()
    settle(session, qtbot)
    session.running.restore()
    settle(session, qtbot)
    run = session.state.runs.current
    for change in (session.history.redo, session.history.undo):
        change()
        settle(session, qtbot)
    assert session.state.runs.find(run.number) is run


def test_a_run_renamed_while_it_is_healed_keeps_its_name(session, qtbot, files) -> None:
    restored(session, qtbot, files["damaged"])
    paint(session, qtbot, settles=False)
    session.rename_run(1, "the best")
    settle(session, qtbot)
    assert (session.state.runs.current.name, session.state.runs.current.n_strokes) == ("the best", 1)


def test_deleting_another_run_leaves_strokes_that_can_be_undone(session, qtbot, files) -> None:
    restored(session, qtbot, files["damaged"])
    session.running.restore()
    settle(session, qtbot)
    before = session.state.runs.current
    paint(session, qtbot)
    session.delete_runs([1])
    session.history.undo()
    settle(session, qtbot)
    assert np.array_equal(session.state.runs.current.image, before.image)


def test_deleting_the_run_that_is_healed_ends_the_healing(session, qtbot, files) -> None:
    restored(session, qtbot, files["damaged"])
    paint(session, qtbot, settles=False)
    session.delete_runs([1])
    settle(session, qtbot)
    assert len(session.state.runs) == 0
    session.history.undo()
    settle(session, qtbot)
    assert (session.complaints, session.state.runs.current) == ([], None)


def test_undo_within_a_stroke_takes_back_the_stroke_alone(whole, qtbot) -> None:
    paint(whole, qtbot)
    before = whole.document.mask.copy()
    brush = HealingBrush(whole)
    brush.press(Place(50.5, 20.5))
    whole.history.undo()
    brush.move(Place(50.5, 50.5))
    brush.release()
    settle(whole, qtbot)
    assert np.array_equal(whole.document.mask, before)
    assert whole.state.runs.current.n_strokes == 1


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (3, 3, 3), (9, 2)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_tiny_pictures_are_healed_or_refused_in_a_sentence(session, qtbot, shape, dtype) -> None:
    session.opening.open_picture(lambda: Picture(np.ones(shape, dtype)), "tiny")
    settle(session, qtbot)
    for diameter in (1, 500):
        session.document.set_view(session.state.view.with_brush(diameter))
        brush = HealingBrush(session)
        brush.press(Place(0.5, 0.5))
        brush.release()
        settle(session, qtbot)
    assert len(session.complaints) == (2 if np.prod(shape[:2]) == 1 else 1)
    assert all("went wrong" not in complaint for complaint in session.complaints)


def test_erasing_with_the_healing_brush_brings_the_damaged_pixels_back(whole, qtbot) -> None:
    paint(whole, qtbot)
    brush = HealingBrush(whole)
    brush.is_reversed = True
    brush.press(Place(30.5, 20.5))
    brush.move(Place(30.5, 50.5))
    brush.release()
    settle(whole, qtbot)
    assert whole.complaints == []
    assert not whole.document.mask.any()
    assert np.array_equal(whole.state.runs.current.image, whole.state.source.picture.pixels)
