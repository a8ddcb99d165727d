"""Strokes of the healing brush: restored where they are, undone together with the mask."""

import numpy as np
import pytest
from windows import SLOW, opened, restored, settle

from inpaint_app.window.canvas.tools.healing_brush import HealingBrush
from inpaint_app.window.canvas.tools.tool import Place


def paint(session, qtbot, row: float = 30.5, *, settles: bool = True) -> None:
    """Heal a line from column 20 to 50."""
    session.set_view(session.view.with_brush(5))
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
    whole.notice.connect(notices.append)
    paint(whole, qtbot)
    record, pixels = whole.results.current, whole.source.picture.pixels
    assert whole.complaints == []
    assert np.array_equal(record.image[~whole.mask.mask], pixels[~whole.mask.mask])
    assert not np.array_equal(record.image, pixels)
    assert (record.n_strokes, len(whole.results.history)) == (1, 1)
    assert whole.runner.preview is None
    assert any("F5" in notice for notice in notices)
    assert whole.unsaved.has_result


def test_undo_takes_back_stroke_and_result_together(whole, qtbot) -> None:
    images = [None]
    for row in (20.5, 40.5):
        paint(whole, qtbot, row)
        images.append(whole.results.current.image)
    whole.changes.undo()
    settle(whole, qtbot)
    assert np.array_equal(whole.results.current.image, images[1])
    assert not whole.mask.mask[40, 25:45].any()
    whole.changes.undo()
    settle(whole, qtbot)
    assert whole.results.current is None
    assert not whole.mask.mask.any()
    for image in images[1:]:
        whole.changes.redo()
        settle(whole, qtbot)
        assert np.array_equal(whole.results.current.image, image)
    assert whole.results.current.n_strokes == 2


def test_a_stroke_changes_a_result_where_it_is(session, qtbot, files) -> None:
    restored(session, qtbot, files["damaged"])
    session.unsaved.mark_saved(session.results.current)
    before = session.results.current
    paint(session, qtbot)
    after = session.results.current
    assert after.number == before.number
    assert np.array_equal(after.image[50:], before.image[50:])
    assert not np.array_equal(after.image, before.image)
    assert session.unsaved.has_result
    session.changes.undo()
    settle(session, qtbot)
    assert np.array_equal(session.results.current.image, before.image)
    assert session.results.current.n_strokes == 0


def test_strokes_are_healed_in_their_order_and_undone_while_they_wait(whole, qtbot) -> None:
    for row in (15.5, 30.5, 45.5):
        paint(whole, qtbot, row, settles=False)
    whole.changes.undo()
    settle(whole, qtbot)
    assert whole.results.current.n_strokes == 2
    assert np.array_equal(whole.results.current.mask, whole.mask.mask)


def test_a_stroke_over_missing_pixels_is_healed_and_undone_too(whole, qtbot) -> None:
    paint(whole, qtbot)
    paint(whole, qtbot)
    assert whole.results.current.n_strokes == 2
    whole.changes.undo()
    settle(whole, qtbot)
    assert whole.mask.mask.any()
    assert whole.results.current.n_strokes == 1


def test_a_run_in_progress_is_restarted_with_the_stroke(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    session.set_settings(SLOW)
    session.run_starter.restore()
    paint(session, qtbot, settles=False)
    assert session.healer.activity is None
    assert session.runner.is_busy
    session.cancel()


def test_cancelling_leaves_the_stroke_in_the_mask(whole, qtbot) -> None:
    paint(whole, qtbot, settles=False)
    assert whole.activity.kind == "heal"
    whole.cancel()
    settle(whole, qtbot)
    assert whole.results.current is None
    assert whole.mask.mask.any()
    assert whole.activity is None
    whole.changes.undo()
    assert not whole.mask.mask.any()


def test_a_healed_run_is_not_taken_for_a_whole_one(whole, qtbot) -> None:
    paint(whole, qtbot)
    record = whole.results.current
    assert whole.results.history.find_run(record.requested, record.mask) is None
