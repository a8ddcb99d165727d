"""What wide holes may be filled from, drawn in the window."""

import numpy as np
import pytest
from onnx_files import byte_network
from windows import FAST, settle

from inpaint_app.model.picture import Picture, Rect
from inpaint_app.window.canvas.tools.areas import CopyArea
from inpaint_app.window.canvas.tools.brushes import HealingBrush
from inpaint_app.window.canvas.tools.tool import Place


@pytest.fixture
def halves(session, qtbot):
    """A session with a dark and a bright half, and a hole in the dark one."""
    pixels = np.random.default_rng(0).integers(40, 90, (60, 120)).astype(np.uint8)
    pixels[:, 70:] += 120
    session.set_settings(FAST)
    session.opening.open_picture(lambda: Picture(pixels), "halves")
    settle(session, qtbot)
    session.masking.fill(Rect(20, 20, 20, 20))
    session.running.restore()
    settle(session, qtbot)
    return session


def draw(tool, top, left, bottom, right):
    tool.press(Place(top, left))
    for place in (Place(top, right), Place(bottom, right), Place(bottom, left)):
        tool.move(place)
    tool.release()


def light(session):
    record = session.state.runs.current
    return record.image[record.mask].mean()


def test_drawing_around_an_area_fills_holes_from_it(halves, qtbot) -> None:
    before, tool = light(halves), CopyArea(halves)
    draw(tool, 0, 75, 60, 120)
    settle(halves, qtbot)
    assert light(halves) > before + 10
    assert tool.outline(None) is not None
    assert not halves.document.mask[:, 75:].any()  # it marks nothing
    tool.press(Place(5, 5))
    tool.release()
    settle(halves, qtbot)
    assert halves.state.hole_fill is None
    assert light(halves) == before


def test_the_right_button_keeps_an_area_from_holes(halves, qtbot) -> None:
    tool = CopyArea(halves)
    tool.is_reversed = True
    draw(tool, 0, 0, 60, 70)
    settle(halves, qtbot)
    allowed = halves.state.hole_fill.fill_from
    assert allowed[:, 70:].all() and not allowed[:, :70].any()
    tool.is_reversed = False
    draw(tool, 0, 60, 30, 120)
    settle(halves, qtbot)
    allowed = halves.state.hole_fill.fill_from
    assert allowed[:30, 70:].all() and allowed.sum() == 30 * 50


def test_too_small_an_area_ends_in_a_sentence_and_the_result_stays(halves, qtbot) -> None:
    sentences, number = [], halves.state.runs.current.number
    halves.document.problem.connect(sentences.append)
    draw(CopyArea(halves), 5, 80, 9, 84)
    settle(halves, qtbot)
    assert "too few observed pixels" in sentences[0]
    assert halves.state.runs.current.number == number


def test_another_picture_forgets_areas(halves, qtbot) -> None:
    draw(CopyArea(halves), 0, 75, 60, 120)
    settle(halves, qtbot)
    halves.opening.open_sample()
    settle(halves, qtbot)
    assert halves.state.hole_fill is None


def test_a_network_fills_holes_until_an_area_is_drawn(halves, qtbot, tmp_path) -> None:
    pytest.importorskip("onnxruntime")
    halves.filling.use_network(byte_network(tmp_path / "tiny.onnx"))
    settle(halves, qtbot)
    assert light(halves) == 0
    draw(CopyArea(halves), 0, 75, 60, 120)
    settle(halves, qtbot)
    assert light(halves) > 30


def test_a_file_without_a_network_ends_in_a_sentence(halves, qtbot, tmp_path) -> None:
    pytest.importorskip("onnxruntime")
    number = halves.state.runs.current.number
    (tmp_path / "text.onnx").write_text("no network")
    halves.filling.use_network(tmp_path / "text.onnx")
    settle(halves, qtbot)
    assert "holds no network" in halves.complaints[0]
    assert halves.state.hole_fill is None
    assert halves.state.runs.current.number == number


def test_every_change_of_a_fill_is_a_step_that_brings_its_result_back(halves, qtbot) -> None:
    seen = [(halves.state.runs.current.number, light(halves))]
    draw(CopyArea(halves), 0, 75, 60, 120)
    settle(halves, qtbot)
    seen.append((halves.state.runs.current.number, light(halves)))
    halves.filling.try_another()
    settle(halves, qtbot)
    seen.append((halves.state.runs.current.number, light(halves)))
    n_runs = len(halves.state.runs.records)
    assert halves.history.undo_text == "Fill of Holes"
    for number, mean in reversed(seen[:-1]):
        halves.history.undo()
        settle(halves, qtbot)
        assert (halves.state.runs.current.number, light(halves)) == (number, mean)
    assert halves.state.hole_fill is None
    assert halves.history.undo_text == "Mask Edit"
    for number, mean in seen[1:]:
        halves.history.redo()
        settle(halves, qtbot)
        assert (halves.state.runs.current.number, light(halves)) == (number, mean)
    assert halves.state.hole_fill is not None
    assert len(halves.state.runs.records) == n_runs  # nothing was restored again


def test_a_comparison_does_not_take_runs_that_were_filled_otherwise(halves, qtbot) -> None:
    number = halves.state.runs.current.number
    draw(CopyArea(halves), 0, 75, 60, 120)
    settle(halves, qtbot)
    halves.running.compare()
    settle(halves, qtbot)
    assert number not in halves.state.runs.comparison


def test_the_healing_brush_copies_from_there(halves, qtbot) -> None:
    draw(CopyArea(halves), 0, 75, 60, 120)
    settle(halves, qtbot)
    halves.document.set_view(halves.state.view.with_brush(31))
    brush = HealingBrush(halves)
    brush.press(Place(30, 50))
    brush.move(Place(31, 51))
    brush.release()
    settle(halves, qtbot)
    assert halves.state.runs.current.n_strokes == 1
    assert halves.state.runs.current.image[24:37, 44:57].mean() > 100
