"""Strokes that are soft, faded or copied: each one step, whatever is done to it."""

from dataclasses import replace

import numpy as np
import pytest
import tifffile
from windows import opened, settle

from inpaint_app.model.picture import Rect
from inpaint_app.window.canvas.tools.brushes import CloneStamp, HealingBrush
from inpaint_app.window.canvas.tools.tool import Place


@pytest.fixture
def whole(session, qtbot, files):
    opened(session, qtbot, files["whole"])
    session.document.set_view(session.state.view.with_brush(5))
    return session


def stroke(tool, qtbot, *places: tuple[float, float]) -> None:
    tool.press(Place(*places[0]))
    for place in places[1:]:
        tool.move(Place(*place))
    tool.release()
    settle(tool.session, qtbot)


def image(session) -> np.ndarray:
    return session.state.runs.current.image


def test_fading_the_last_stroke_is_part_of_its_step(whole, qtbot) -> None:
    pixels = whole.state.source.picture.pixels
    stroke(HealingBrush(whole), qtbot, (20.5, 20.5), (20.5, 50.5))
    full, n_steps = image(whole), len(whole.history.steps)
    for strength in (0.8, 0.25, 0.5):
        whole.healing.fade(strength)
    settle(whole, qtbot)
    assert len(whole.history.steps) == n_steps
    half = (full.astype(float) + pixels) / 2
    assert np.abs(image(whole) - half).max() <= 0.5
    assert whole.state.runs.current.n_strokes == 1
    faded = image(whole)
    whole.history.undo()
    settle(whole, qtbot)
    assert whole.state.runs.current is None
    whole.history.redo()
    settle(whole, qtbot)
    assert np.array_equal(image(whole), faded)
    assert whole.healing.last_strength == 0.5


def test_only_the_last_stroke_can_be_faded(whole, qtbot) -> None:
    assert whole.healing.last_strength is None
    stroke(HealingBrush(whole), qtbot, (20.5, 20.5), (20.5, 50.5))
    assert whole.healing.last_strength == 1.0
    whole.masking.invert()
    settle(whole, qtbot)
    assert whole.healing.last_strength is None
    before = image(whole)
    whole.healing.fade(0.1)
    settle(whole, qtbot)
    assert image(whole) is before


def test_the_opacity_of_the_brush_is_that_of_the_stroke(whole, qtbot) -> None:
    whole.document.set_view(replace(whole.state.view, opacity=30))
    stroke(HealingBrush(whole), qtbot, (20.5, 20.5), (20.5, 50.5))
    assert whole.healing.last_strength == 0.3
    whole.healing.fade(0.0)
    settle(whole, qtbot)
    assert np.array_equal(image(whole), whole.state.source.picture.pixels)


def test_a_clone_copies_from_the_chosen_place_and_is_undone(whole, qtbot) -> None:
    pixels, tool = whole.state.source.picture.pixels, CloneStamp(whole)
    tool.pick_source(Place(50.5, 60.5))
    stroke(tool, qtbot, (20.5, 20.5), (20.5, 30.5))
    covered = whole.document.mask
    rows, columns = np.nonzero(covered)
    assert np.array_equal(image(whole)[covered], pixels[rows + 30, columns + 40])
    whole.history.undo()
    settle(whole, qtbot)
    assert whole.state.runs.current is None
    assert not whole.document.mask.any()
    whole.history.redo()
    settle(whole, qtbot)
    assert np.array_equal(image(whole)[rows, columns], pixels[rows + 30, columns + 40])


@pytest.mark.parametrize("is_aligned", [True, False])
def test_aligned_strokes_copy_from_the_same_distance(whole, qtbot, is_aligned) -> None:
    whole.document.set_view(replace(whole.state.view, is_aligned=is_aligned))
    pixels, tool = whole.state.source.picture.pixels, CloneStamp(whole)
    tool.pick_source(Place(50.5, 20.5))
    stroke(tool, qtbot, (10.5, 20.5))
    stroke(tool, qtbot, (10.5, 40.5))
    expected = pixels[50, 40] if is_aligned else pixels[50, 20]
    assert np.array_equal(image(whole)[10, 40], expected)


def test_a_clone_needs_a_source(whole, qtbot) -> None:
    notices = []
    whole.document.notice.connect(notices.append)
    stroke(CloneStamp(whole), qtbot, (20.5, 20.5))
    assert "Alt+click" in notices[-1]
    assert not whole.document.mask.any()


def test_the_source_belongs_to_the_picture(whole, qtbot, files) -> None:
    CloneStamp(whole).pick_source(Place(50.5, 60.5))
    assert whole.state.copy_source is not None
    opened(whole, qtbot, files["damaged"])
    assert whole.state.copy_source is None


def test_the_healing_brush_takes_texture_from_a_source_until_that_is_forgotten(whole, qtbot) -> None:
    tool = HealingBrush(whole)
    tool.pick_source(Place(50.5, 60.5))
    stroke(tool, qtbot, (20.5, 20.5), (20.5, 30.5))
    assert whole.state.runs.current.touched is not None
    whole.healing.forget_source()
    stroke(tool, qtbot, (60.5, 20.5), (60.5, 30.5))
    record = whole.state.runs.current
    assert not record.touched.unpack()[55:].any()
    assert record.mask[60, 20:30].all()


def test_the_source_is_shown_where_it_will_be_copied_from(whole, qtbot) -> None:
    tool = CloneStamp(whole)
    tool.pick_source(Place(50, 60))
    assert tool.outline(Place(10, 10)).contains(tool.outline(None).boundingRect().center())
    stroke(tool, qtbot, (20, 20))
    assert tool.outline(None).boundingRect().center().toTuple() == (60, 50)
    bounds = tool.outline(Place(30, 25)).boundingRect()
    assert abs(bounds.bottom() - (60 + 4)) < 3, "thirty rows below the pointer"
    assert abs(bounds.right() - (65 + 4)) < 3


def test_no_stroke_is_copied_while_a_run_is_in_progress(whole, qtbot, monkeypatch) -> None:
    tool = CloneStamp(whole)
    tool.pick_source(Place(50.5, 60.5))
    monkeypatch.setattr(type(whole.running), "is_busy", property(lambda _self: True))
    tool.press(Place(20, 20))
    assert not tool.is_active
    monkeypatch.undo()


def test_the_object_inside_a_line_is_marked_in_one_step(whole, qtbot) -> None:
    whole.masking.mark_object(Rect(10, 10, 50, 60), np.ones((50, 60), bool))
    assert whole.state.activity.kind == "outline"
    settle(whole, qtbot)
    assert whole.document.mask.any()
    assert not whole.document.mask[:10].any()
    whole.history.undo()
    assert not whole.document.mask.any()


def test_looking_for_an_object_can_be_cancelled(whole, qtbot) -> None:
    whole.masking.mark_object(Rect(10, 10, 50, 60), np.ones((50, 60), bool))
    whole.cancel()
    settle(whole, qtbot)
    assert not whole.document.mask.any()
    assert whole.state.activity is None


def test_pixels_that_are_no_numbers_are_healed(session, qtbot, tmp_path) -> None:
    rows, columns = np.mgrid[:48, :60]
    values = (0.5 + 0.3 * np.sin(rows / 5) * np.cos(columns / 7)).astype(np.float32)
    values[20:24, 20:30] = np.nan
    tifffile.imwrite(tmp_path / "holes.tif", values, photometric="minisblack")
    opened(session, qtbot, tmp_path / "holes.tif")
    session.document.set_view(session.state.view.with_brush(9))
    stroke(HealingBrush(session), qtbot, (22.0, 20.0), (22.0, 30.0))
    assert session.complaints == []
    assert np.isfinite(image(session)).all()
    session.healing.fade(0.5)
    settle(session, qtbot)
    assert np.isfinite(image(session)).all()
    session.history.undo()
    settle(session, qtbot)
    assert np.isnan(session.state.source.picture.pixels[20:24, 20:30]).all()


@pytest.fixture
def cloned(whole, qtbot):
    """A picture with a scratch that is marked, and pixels that were copied beside it."""
    whole.masking.fill(Rect(50, 10, 3, 40))
    tool = CloneStamp(whole)
    tool.pick_source(Place(50.5, 60.5))
    stroke(tool, qtbot, (20.5, 20.5), (20.5, 30.5))
    return whole


def test_what_was_copied_is_pasted_into_every_run(cloned, qtbot) -> None:
    pixels, copied = image(cloned), cloned.state.runs.current.touched
    for run in (cloned.running.restore, cloned._restore_found, cloned.running.compare):
        run()
        settle(cloned, qtbot)
        record = cloned.state.runs.current
        assert record.touched is copied
        assert np.array_equal(record.image[copied.unpack()], pixels[copied.unpack()])
    assert not np.array_equal(image(cloned)[51, 10:50], cloned.state.source.picture.pixels[51, 10:50])


def test_undo_takes_what_was_copied_out_of_a_later_run_and_redo_puts_it_in_again(cloned, qtbot) -> None:
    own = cloned.state.source.picture.pixels
    where = cloned.state.runs.current.touched.unpack()
    cloned.running.restore()
    settle(cloned, qtbot)
    restored = image(cloned)
    cloned.history.undo()
    settle(cloned, qtbot)
    assert cloned.state.runs.current.touched is None
    assert np.array_equal(image(cloned)[where], own[where])
    assert np.array_equal(image(cloned)[51], restored[51]), "the rest of the run stays"
    cloned.history.redo()
    settle(cloned, qtbot)
    assert np.array_equal(image(cloned), restored)
    assert np.array_equal(cloned.state.runs.current.touched.unpack(), where)


def test_what_is_no_longer_marked_is_the_pictures_own_again(cloned, qtbot) -> None:
    where = cloned.state.runs.current.touched.unpack()
    cloned.masking.fill(Rect(10, 10, 20, 15), missing=False)
    cloned.running.restore()
    settle(cloned, qtbot)
    left = cloned.state.runs.current.touched.unpack()
    assert left.any()
    assert not left[:, :25].any()
    gone = where & ~left
    assert gone.any()
    assert np.array_equal(image(cloned)[gone], cloned.state.source.picture.pixels[gone])


def test_a_clone_beside_pixels_that_are_no_numbers(session, qtbot, tmp_path) -> None:
    values = np.random.default_rng(0).random((48, 60), np.float32)
    values[20:24, 20:30] = np.nan
    tifffile.imwrite(tmp_path / "holes.tif", values, photometric="minisblack")
    opened(session, qtbot, tmp_path / "holes.tif")
    session.document.set_view(session.state.view.with_brush(1))
    session.healing.choose_source(40.5, 30.5)
    stroke(CloneStamp(session), qtbot, (18.5, 20.5))
    assert session.complaints == []
    assert image(session)[18, 20] == values[40, 30]
