"""Two workspaces: Study for those who judge a method, Retouch for those who mend a photograph."""

import numpy as np
import pytest
from gestures import LEFT, drag, move, press, release
from PIL import Image
from PySide6.QtCore import QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtWidgets import QApplication, QScrollArea, QToolButton
from windows import FAST, at, drawn, find, opened, restored, settle, shown_pixels, texts, trigger

from inpaint_app.model.damage import SAMPLES
from inpaint_app.window.document.view_state import RESULT, RETOUCH, SIDE_BY_SIDE, SPLIT, STUDY

#: What a title bar leaves of 1366 x 768.
LAPTOP = QSize(1366, 740)


def retouching(window, qtbot, path):
    """Open a photograph as a user does, with parameters that are quick."""
    window.session.document.defaults = FAST
    window.session.set_settings(FAST)
    window.files.open_file(path)
    settle(window, qtbot)
    assert window.session.state.view.workspace is RETOUCH
    return window


def healed(window, qtbot) -> None:
    """Heal a stroke."""
    canvas = visible(window)[0].canvas
    drag(canvas, at(canvas, 20, 20), at(canvas, 20, 50))
    settle(window, qtbot)


def visible(window) -> list:
    return [pane for pane in window.viewer.panes.values() if pane.isVisible()]


def test_pictures_open_where_they_are_worked_on(window, qtbot, files) -> None:
    view = lambda: window.session.state.view  # noqa: E731
    window.files.open_file(files["whole"])
    settle(window, qtbot)
    assert (view().workspace, view().mode) == (RETOUCH, RESULT)
    window.files.open_file(files["damaged"])
    settle(window, qtbot)
    assert (view().workspace, view().mode) == (STUDY, SIDE_BY_SIDE)
    window.files.open_file(files["whole"], reference=files["whole"])
    settle(window, qtbot)
    assert view().workspace is STUDY
    window.files.open_file(files["whole"])
    settle(window, qtbot)
    window.session.opening.simulate_damage(SAMPLES[0])
    settle(window, qtbot)
    assert view().workspace is STUDY


def test_they_are_one_click_or_one_key_apart(window, qtbot, files) -> None:
    retouching(window, qtbot, files["whole"])
    buttons = [find(window.menus.bar, QToolButton, name) for name in ("Study", "Retouch")]
    places = [button.mapTo(window, QPoint()) for button in buttons]
    find(window.menus.bar, QToolButton, "Study").click()
    assert window.session.state.view.workspace is STUDY
    QApplication.processEvents()
    assert [button.mapTo(window, QPoint()) for button in buttons] == places, "they stay under the pointer"
    find(window.menus.bar, QToolButton, "Retouch").click()
    assert window.session.state.view.workspace is RETOUCH
    qtbot.keyClick(window, Qt.Key.Key_F8)
    assert window.session.state.view.workspace is STUDY
    qtbot.keyClick(window, Qt.Key.Key_F9)
    assert window.session.state.view.workspace is RETOUCH
    settle(window, qtbot)


def test_retouching_shows_one_picture_and_no_figures(window, qtbot, files) -> None:
    window.resize(LAPTOP)
    retouching(window, qtbot, files["whole"])
    healed(window, qtbot)
    assert [pane.canvas for pane in visible(window)] == [window.viewer.panes["result"].canvas]
    assert visible(window)[0].canvas.size() == window.centralWidget().size()
    said = texts(window)
    assert not any(word in said for word in ("dB", "PSNR", "SSIM", "Dictionary", "parsity"))
    trigger(window, "view split")
    healed(window, qtbot)
    assert not any(word in texts(window) for word in ("dB", "PSNR", "SSIM"))
    trigger(window, "study")
    settle(window, qtbot)
    assert "PSNR" in texts(window)


def test_comparing_leads_to_study(window, qtbot, files) -> None:
    restored(window, qtbot, files["damaged"])
    trigger(window, "retouch")
    trigger(window, "compare")
    settle(window, qtbot)
    assert window.session.state.view.workspace is STUDY
    assert window.session.state.view.mode.is_comparison


def test_the_result_is_seen_alone_and_the_damage_while_a_key_is_held(window, qtbot, files) -> None:
    retouching(window, qtbot, files["whole"])
    pane, session = window.viewer.panes["result"], window.session
    damaged = drawn(session.state.source.picture.pixels)
    assert np.array_equal(shown_pixels(pane), damaged)
    healed(window, qtbot)
    result = drawn(session.state.runs.current.image)
    assert np.array_equal(shown_pixels(pane), result)
    assert not np.array_equal(result, damaged)
    assert not pane.canvas.content.mask.level(0).any(), "what is restored is not marked"
    qtbot.keyPress(pane.canvas, Qt.Key.Key_B)
    assert np.array_equal(shown_pixels(pane), damaged)
    assert pane.canvas.content.mask is None, "nothing lies over the damage"
    qtbot.keyRelease(pane.canvas, Qt.Key.Key_B)
    assert np.array_equal(shown_pixels(pane), result)


def test_marks_are_seen_until_they_are_restored(window, qtbot, files) -> None:
    retouching(window, qtbot, files["whole"])
    healed(window, qtbot)
    trigger(window, "brush")
    canvas, mask = window.viewer.panes["result"].canvas, window.session.document.mask
    drag(canvas, at(canvas, 60, 20), at(canvas, 60, 40))
    settle(window, qtbot)
    marked = canvas.content.mask.level(0) > 0
    assert marked[60, 20:40].all()
    assert mask[20, 20:50].all()
    assert not marked[20].any()
    trigger(window, "restore")
    settle(window, qtbot)
    assert not canvas.content.mask.level(0).any()
    trigger(window, "pick")
    settle(window, qtbot)
    assert np.array_equal(canvas.content.mask.level(0) > 0, mask.any(axis=2) if mask.ndim == 3 else mask)


def test_before_the_first_result_no_pane_is_empty(window, qtbot, files) -> None:
    opened(window, qtbot, files["whole"])
    assert [pane.title.text() for pane in visible(window)] == ["Damaged"]
    restored(window, qtbot, files["damaged"])
    assert [pane.title.text() for pane in visible(window)] == ["Damaged", "Restored"]


def test_messages_do_not_move_the_picture(window, qtbot, files) -> None:
    retouching(window, qtbot, files["whole"])
    canvas = visible(window)[0].canvas

    def place() -> QRect:
        QApplication.processEvents()
        return QRect(canvas.mapTo(window, canvas.rect().topLeft()), canvas.size())

    before = place()
    window.session.document.problem.emit("Something went wrong; do something about it.")
    assert window.banner.isVisible()
    assert place() == before
    assert canvas.rect().contains(window.banner.mapTo(canvas, window.banner.rect().center()))
    trigger(window, "cancel")
    assert not window.banner.isVisible()
    assert place() == before


def test_messages_leave_the_titles_uncovered(window, qtbot, files) -> None:
    window.resize(LAPTOP)
    opened(window, qtbot, files["damaged"])
    trigger(window, "restore")
    settle(window, qtbot)
    window.session.document.problem.emit("Something went wrong; do something about it.")
    QApplication.processEvents()

    def place(widget) -> QRect:
        return QRect(widget.mapTo(window, QPoint()), widget.size())

    titles = [pane.title for pane in visible(window)]
    assert [title.text() for title in titles] == ["Damaged", "Restored"]
    assert not any(place(window.banner).intersects(place(title)) for title in titles)


def test_tab_on_the_picture_puts_the_panels_away(window, qtbot, files) -> None:
    retouching(window, qtbot, files["whole"])
    canvas = visible(window)[0].canvas
    canvas.clearFocus()
    canvas.setFocus(Qt.FocusReason.MouseFocusReason)
    for is_away in (True, False):
        qtbot.keyClick(canvas, Qt.Key.Key_Tab)
        assert window.side.isVisible() is not is_away
        assert window.menus.bar.isVisible() is not is_away
    assert canvas.hasFocus()
    canvas.clearFocus()
    canvas.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(canvas, Qt.Key.Key_Tab)
    assert window.side.isVisible(), "whoever came by Tab goes on by Tab"


def test_the_full_screen_holds_nothing_but_the_picture(window, qtbot, files) -> None:
    retouching(window, qtbot, files["whole"])
    trigger(window, "full_screen")
    QApplication.processEvents()
    assert window.isFullScreen()
    canvas = visible(window)[0].canvas
    assert canvas.size() == window.size()
    qtbot.keyClick(window, "P")
    assert window.session.state.view.tool == "brush", "keys work without menus"
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    QApplication.processEvents()
    assert not window.isFullScreen()
    for part in (window.menuBar(), window.status, window.side, window.menus.bar):
        assert part.isVisible()
    assert not window.actions_["cancel"].isEnabled(), "nothing is left to cancel"


@pytest.mark.parametrize("is_maximized", [False, True])
def test_the_window_comes_back_from_the_full_screen_as_it_was(window, is_maximized) -> None:
    (window.showMaximized if is_maximized else window.showNormal)()
    for is_full in (True, False):
        trigger(window, "full_screen")
        assert window.isFullScreen() is is_full
    assert window.isMaximized() is is_maximized


def test_work_in_progress_is_seen_on_the_full_screen(window, qtbot, files) -> None:
    restored(window, qtbot, files["damaged"])
    trigger(window, "full_screen")
    window.session.running.restore()
    qtbot.waitUntil(window.status.progress.isVisible, timeout=600_000)
    settle(window, qtbot)
    window.set_full_screen(False)
    assert window.status.isAncestorOf(window.status.progress)


def test_a_stroke_in_the_split_view_shows_the_result_on_both_sides(window, qtbot, files) -> None:
    retouching(window, qtbot, files["whole"])
    healed(window, qtbot)
    trigger(window, "view split")
    settle(window, qtbot)
    canvas = window.viewer.panes["split"].canvas
    area = canvas.rect()
    before, after = canvas.divider.sides(area)
    assert before.width() == pytest.approx(after.width(), abs=1)
    place = at(canvas, 40, 10)
    press(canvas, place)
    assert canvas.divider.sides(area) == (QRect(), area)
    move(canvas, at(canvas, 44, 12), LEFT)
    release(canvas, at(canvas, 44, 12))
    settle(window, qtbot)
    assert canvas.divider.sides(area) == (QRect(), area), "until the line is wanted again"
    move(canvas, QPointF(area.width() / 2, 5), Qt.MouseButton.NoButton)
    assert canvas.divider.sides(area) == (before, after)


@pytest.mark.parametrize("name", ["whole", "damaged"])
def test_the_basic_panel_needs_no_scroll_bar_on_a_laptop(window, qtbot, files, name) -> None:
    window.resize(LAPTOP)
    window.files.open_file(files[name])
    settle(window, qtbot)
    QApplication.processEvents()
    column = window.side.findChild(QScrollArea)
    assert column.verticalScrollBar().maximum() == 0
    trigger(window, "find_damage")
    settle(window, qtbot)
    QApplication.processEvents()
    assert column.verticalScrollBar().maximum() == 0, "nor where the damage that was found is chosen from"
    assert not find(window.side, QToolButton, "Advanced").isChecked()


def test_title_and_picture_change_together(window, qtbot, files) -> None:
    seen = []

    def note() -> None:
        pane = window.viewer.panes["damaged"]
        if pane.canvas.has_picture:
            seen.append((window.windowTitle().partition("[")[0], shown_pixels(pane).tobytes()))

    opened(window, qtbot, files["damaged"])
    window.windowTitleChanged.connect(note)
    window.session.document.watch(note, "source")
    note()
    window.files.open_file(files["whole"], reference=files["whole"])
    settle(window, qtbot)
    QApplication.processEvents()
    note()
    assert seen[0] != seen[-1]
    assert set(seen) == {seen[0], seen[-1]}, "never the title of one with the picture of the other"


def test_canceling_is_told(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    notices: list[str] = []
    window.session.document.notice.connect(notices.append)
    window.session.running.restore()
    trigger(window, "cancel")
    settle(window, qtbot)
    assert notices == ["Canceled."]
    assert not window.actions_["cancel"].isEnabled()


def test_a_project_of_a_photograph_opens_for_retouching(window, qtbot, tmp_path) -> None:
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 80, 3), np.uint8)).save(tmp_path / "p.png")
    retouching(window, qtbot, tmp_path / "p.png")
    healed(window, qtbot)
    from inpaint_app.io.write import Output

    window.session.exporting.write_project(Output(tmp_path / "p.inpaint", overwrite=False))
    settle(window, qtbot)
    window.session.exporting.wait()
    window.session.document.discard()
    window.files.close_picture()
    window.files.open_file(tmp_path / "p.inpaint")
    settle(window, qtbot)
    assert window.session.state.runs.current is not None
    assert window.session.state.view.workspace is RETOUCH
    assert window.session.state.view.mode is not SPLIT
