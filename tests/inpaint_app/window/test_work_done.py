"""How much work what the user does makes: views are resolved no more often than they change."""

import os
import sys
from pathlib import Path

import pytest
from gestures import LEFT, move, press, release
from PySide6.QtWidgets import QSlider
from windows import at, find, opened, settle

import inpaint_app
from inpaint_app.window.viewer import viewer as viewer_module


@pytest.fixture
def resolved(window, monkeypatch):
    """A list that grows with every time that all panes are resolved."""
    calls, resolve = [], viewer_module.resolve

    def counted(state):
        calls.append(state)
        return resolve(state)

    monkeypatch.setattr(viewer_module, "resolve", counted)
    return calls


def slider_step(window, sparsity: int) -> None:
    find(window.side, QSlider, "Sparsity s, slider").setValue(sparsity)


def test_opening_a_file_resolves_the_view_once(window, qtbot, files, resolved) -> None:
    opened(window, qtbot, files["damaged"])
    assert len(resolved) == 1
    window.files.open_file(files["whole"])
    settle(window, qtbot)
    assert len(resolved) == 2


def test_a_brush_that_moves_resolves_nothing(window, qtbot, files, resolved) -> None:
    opened(window, qtbot, files["damaged"])
    window.actions_.tools["brush"].trigger()
    canvas = window.viewer.panes["damaged"].canvas
    press(canvas, at(canvas, 20.5, 20.5))
    resolved.clear()
    for column in range(21, 60):
        move(canvas, at(canvas, 20.5, column + 0.5), LEFT)
    assert window.session.document.mask[20, 20:60].all()
    assert resolved == []
    release(canvas, at(canvas, 20.5, 59.5))
    assert len(resolved) == 1, "the stroke is a step"
    settle(window, qtbot)


def test_a_step_of_a_slider_resolves_the_view_at_most_twice(window, qtbot, files, resolved) -> None:
    opened(window, qtbot, files["damaged"])
    for sparsity in (5, 6):
        resolved.clear()
        slider_step(window, sparsity)
        settle(window, qtbot)
        assert window.session.state.preview is not None
        assert len(resolved) <= 2


def test_a_step_of_a_slider_passes_through_few_files(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    slider_step(window, 5)
    settle(window, qtbot)
    root, passed = f"{Path(inpaint_app.__file__).parent}{os.sep}", set()
    sys.setprofile(lambda frame, _event, _what: passed.add(frame.f_code.co_filename))
    slider_step(window, 6)
    sys.setprofile(None)
    settle(window, qtbot)
    own = sorted(name.removeprefix(root) for name in passed if name.startswith(root))
    assert len(own) <= 30, own
