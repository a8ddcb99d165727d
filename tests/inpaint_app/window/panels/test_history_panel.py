"""The list of runs: choosing one goes back to it."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QTreeWidget
from windows import FAST, find, opened, restored, settle, texts

from inpaint_app.model.picture import Rect
from inpaint_app.window.document.view_state import COMPARISON
from inpaint_app.window.panels.history_panel import HistoryPanel


@pytest.fixture
def panel(session, actions, qtbot):
    made = HistoryPanel(session, actions)
    qtbot.addWidget(made)
    made.resize(600, 200)
    made.show()
    return made


@pytest.fixture
def runs(panel):
    return find(panel, QTreeWidget, "Restorations")


def click(runs: QTreeWidget, row: int, qtbot, key=Qt.KeyboardModifier.NoModifier) -> None:
    place = runs.visualItemRect(runs.topLevelItem(row)).center()
    qtbot.mouseClick(runs.viewport(), Qt.MouseButton.LeftButton, key, pos=place)


@pytest.fixture
def three_runs(runs, session, qtbot, files):
    opened(session, qtbot, files["damaged"], reference=files["whole"])
    for n_atoms in (6, 7, 9):
        session.set_settings(replace(FAST, n_atoms=n_atoms))
        session.running.restore()
        settle(session, qtbot)
    return runs


def test_an_empty_history_says_what_it_will_hold(panel, runs) -> None:
    assert "Every restoration is kept here" in texts(panel)
    assert not runs.isVisible()


def test_an_earlier_run_comes_back_with_its_parameters(runs, session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    for n_atoms in (6, 9):
        session.set_settings(replace(FAST, n_atoms=n_atoms))
        session.running.restore()
        settle(session, qtbot)
    assert [runs.topLevelItem(row).text(0) for row in range(2)] == ["2", "1"], "newest first"
    assert runs.currentItem().text(0) == "2"
    runs.setCurrentItem(runs.topLevelItem(1))
    settle(session, qtbot)
    assert (session.state.runs.current.number, session.state.settings.n_atoms) == (1, 6)


@pytest.mark.parametrize("by_mouse", [True, False])
def test_choosing_the_current_run_goes_back_to_its_parameters(runs, session, qtbot, files, by_mouse) -> None:
    restored(session, qtbot, files["damaged"])
    session.set_settings(replace(FAST, n_atoms=5))
    settle(session, qtbot)
    assert session.state.preview is not None
    if by_mouse:
        click(runs, 0, qtbot)
    else:
        qtbot.keyClick(runs, Qt.Key.Key_Return)
    settle(session, qtbot)
    assert session.state.settings == session.state.runs.current.requested == FAST
    assert session.state.preview is None


def test_clicking_an_earlier_run_goes_back_to_it(runs, session, qtbot, files) -> None:
    restored(session, qtbot, files["damaged"])
    session.running.restore()
    settle(session, qtbot)
    click(runs, 1, qtbot)
    assert session.state.runs.current.number == 1
    assert runs.currentItem().text(0) == "1"


def test_figures_appear_when_they_are_known(runs, session, qtbot, files) -> None:
    restored(session, qtbot, files["damaged"], reference=files["whole"])
    figures = session.state.runs.current.figures.scores
    row = [runs.topLevelItem(0).text(column) for column in range(6)]
    assert row[3:5] == [f"{figures.psnr:.2f} dB", f"{figures.ssim:.4f}"]


def test_an_earlier_run_comes_back_with_its_mask(runs, session, qtbot, files) -> None:
    restored(session, qtbot, files["damaged"])
    first, notices = session.document.mask.copy(), []
    session.document.notice.connect(notices.append)
    assert "mask" not in runs.topLevelItem(0).text(2)
    session.masking.fill(Rect(0, 0, 20, 20))
    second = session.document.mask.copy()
    session.running.restore()
    settle(session, qtbot)
    words = [runs.topLevelItem(row).text(2) for row in range(2)]
    assert ["mask 2" in words[0], "mask 1" in words[1]] == [True, True], "runs with different masks differ"
    click(runs, 1, qtbot)
    assert np.array_equal(session.document.mask, first)
    assert "its own mask" in notices[-1]
    assert not session.state.has_unsaved_mask, "it came with the picture"
    session.history.undo()
    assert np.array_equal(session.document.mask, second)
    assert session.state.mask.origin.is_painted
    click(runs, 1, qtbot)
    assert np.array_equal(session.document.mask, first)
    click(runs, 0, qtbot)
    assert np.array_equal(session.document.mask, second)
    assert session.state.mask.origin.is_painted
    session.cancel()


def test_a_run_can_be_deleted(panel, runs, session, qtbot, files) -> None:
    restored(session, qtbot, files["damaged"])
    session.set_settings(replace(FAST, n_atoms=4))
    session.running.restore()
    settle(session, qtbot)
    click(runs, 1, qtbot)
    qtbot.keyClick(runs, Qt.Key.Key_Delete)
    assert [record.number for record in session.state.runs.records] == [2]
    assert session.state.runs.current.number == 2
    panel.delete()
    assert session.state.runs.current is None
    assert not runs.isVisible()


def test_two_chosen_runs_are_compared(three_runs, session, qtbot) -> None:
    click(three_runs, 2, qtbot)
    settings = session.state.settings
    click(three_runs, 0, qtbot, Qt.KeyboardModifier.ControlModifier)
    settle(session, qtbot)
    assert [record.number for record in session.state.runs.compared] == [1, 3]
    assert session.state.view.mode is COMPARISON
    assert (session.state.runs.current.number, session.state.settings) == (1, settings), "parameters stay"
    assert [item.text(0) for item in three_runs.selectedItems()] == ["3", "1"]
    click(three_runs, 1, qtbot)
    settle(session, qtbot)
    assert session.state.runs.current.number == 2
    assert not session.state.view.mode.is_comparison, "that run is not compared"


def test_a_run_is_renamed_where_it_stands(panel, three_runs, session, qtbot) -> None:
    click(three_runs, 1, qtbot)
    qtbot.keyClick(three_runs, Qt.Key.Key_F2)
    editor = three_runs.findChild(QLineEdit)
    session.document.apply(runs=replace(session.state.runs))
    assert editor.isVisible(), "figures that arrive meanwhile do not end it"
    qtbot.keyClicks(editor, "soft")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.state.runs.find(2).title == "soft", timeout=600_000)
    assert three_runs.topLevelItem(1).text(1).startswith("soft ")
    qtbot.keyClick(three_runs, Qt.Key.Key_F2)
    qtbot.keyClick(three_runs.findChild(QLineEdit), Qt.Key.Key_Escape)
    assert session.state.runs.find(2).title == "soft"
