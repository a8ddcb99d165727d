"""The healing brush: what a stroke covers, and what it surrounds."""

import numpy as np
import pytest
from windows import FAST, opened

from inpaint_app.window.canvas.tools.brushes import HealingBrush
from inpaint_app.window.canvas.tools.tool import Place

_LOOP = ((20, 30), (20, 60), (45, 60), (45, 30), (21, 30))


@pytest.fixture
def tool(session, qtbot, files):
    """A healing brush of 5 pixels on a whole picture of 72 x 96 pixels."""
    session.set_settings(FAST)
    opened(session, qtbot, files["whole"])
    session.document.set_view(session.state.view.with_brush(5))
    return HealingBrush(session)


def stroke(tool: HealingBrush, qtbot, *places: tuple[float, float]) -> None:
    tool.press(Place(*places[0]))
    for place in places[1:]:
        tool.move(Place(*place))
    tool.release()
    qtbot.waitUntil(lambda: tool.session.is_settled, timeout=600_000)


def test_a_stroke_around_something_heals_it_in_one_step(tool, qtbot) -> None:
    stroke(tool, qtbot, *_LOOP)
    assert tool.session.document.mask[20:45, 30:60].all()
    record = tool.session.state.runs.current
    assert record.mask[20:45, 30:60].all()
    assert record.n_strokes == 1
    tool.session.history.undo()
    assert not tool.session.document.mask.any()


def test_the_outline_shows_what_is_surrounded(tool) -> None:
    tool.press(Place(*_LOOP[0]))
    for place in _LOOP[1:-1]:
        tool.move(Place(*place))
    outline = tool.outline(None)
    tool.move(Place(*_LOOP[-1]))
    closed = tool.outline(None)
    tool.cancel()
    assert not outline.contains(closed.boundingRect().center())
    assert closed.contains(closed.boundingRect().center())


def test_the_outline_of_a_long_stroke_is_drawn_from_few_places(tool) -> None:
    tool.press(Place(40, 10))
    for number in range(2_000):
        tool.move(Place(40 + 10 * np.sin(number / 40), 10 + 70 * number / 2_000))
    outline = tool.outline(None)
    tool.cancel()
    assert outline.elementCount() < 3_000
    assert abs(outline.boundingRect().right() - 82.5) < 1, "as far as the last place"


@pytest.mark.parametrize(
    "places",
    [
        pytest.param(_LOOP[:-1], id="open"),
        pytest.param(((3, 3), (3, 92), (68, 92), (68, 3), (4, 3)), id="along the border of the picture"),
        pytest.param(((20, 10), (21, 80), (22, 10)), id="back and forth"),
    ],
)
def test_other_strokes_cover_nothing_else(tool, qtbot, places) -> None:
    tool.press(Place(*places[0]))
    for place in places[1:]:
        tool.move(Place(*place))
    covered = tool.session.document.mask.copy()
    tool.release()
    qtbot.waitUntil(lambda: tool.session.is_settled, timeout=600_000)
    assert np.array_equal(tool.session.document.mask, covered)


def test_the_right_button_brings_back_what_it_surrounds(tool, qtbot) -> None:
    stroke(tool, qtbot, *_LOOP)
    tool.is_reversed = True
    tool.session.document.set_view(tool.session.state.view.with_brush(9))
    stroke(tool, qtbot, *_LOOP)
    assert not tool.session.document.mask.any()
    current = tool.session.state.runs.current
    assert current is None or np.array_equal(current.image, tool.session.state.source.picture.pixels)
