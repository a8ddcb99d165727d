"""The whole window, end to end."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QDockWidget,
    QDoubleSpinBox,
    QMessageBox,
    QPushButton,
    QScrollArea,
    QToolButton,
    QTreeWidget,
)
from windows import (
    FAST,
    SLOW,
    drawn,
    find,
    opened,
    restored,
    settle,
    shown_pixels,
    texts,
    trigger,
    watch,
)

from dictsel_core import psnr, restore, ssim
from inpaint_app.io.read import read_picture
from inpaint_app.model.damage import SAMPLES
from inpaint_app.model.picture import Rect
from inpaint_app.window.canvas.image_pyramid import as_uint32
from inpaint_app.window.canvas.tools.brushes import HealingBrush
from inpaint_app.window.canvas.tools.tool import Place
from inpaint_app.window.commands import file_commands
from inpaint_app.window.document.view_state import SIDE_BY_SIDE, STUDY
from inpaint_app.window.panels.parameter_panel import ParameterPanel


def accept(dialog, path: Path) -> QDialog.DialogCode:
    dialog.set_path(path)
    assert find(dialog, QPushButton, "Export").isEnabled()
    return QDialog.DialogCode.Accepted


def test_a_new_window_and_its_frame_fit_the_screen(window) -> None:
    room = window.screen().availableGeometry()
    assert window.width() <= max(room.width(), window.minimumSizeHint().width())
    assert window.height() < room.height() - 30


def test_opened_restored_measured_exported(window, qtbot, files, tmp_path, monkeypatch) -> None:
    assert window.welcome.isVisible()
    assert not window.isWindowModified()
    window.welcome.sample_wanted.emit(SAMPLES[0])
    settle(window, qtbot)
    assert window.viewer.isVisible()
    restored(window, qtbot, files["damaged"], reference=files["whole"])
    source, mask = window.session.state.source, window.session.document.mask
    expected = restore(source.picture.pixels, mask, FAST)
    pane = window.viewer.panes["restored"]
    assert f"PSNR {psnr(source.reference.pixels, expected.image):.2f} dB" in pane.caption.text()
    assert f"SSIM {ssim(source.reference.pixels, expected.image):.4f}" in pane.caption.text()
    shown = window.session.state.runs.current.image
    assert np.array_equal(shown, expected.image)
    assert np.array_equal(shown_pixels(pane), drawn(shown))
    assert window.isWindowModified()

    target = tmp_path / "out.png"
    monkeypatch.setattr(file_commands.ExportDialog, "exec", lambda dialog: accept(dialog, target))
    trigger(window, "export")
    settle(window, qtbot)
    assert np.array_equal(read_picture(target).pixels, shown), "the file is what was shown"
    assert not window.isWindowModified()


def test_escape_leaves_everything(window, qtbot, files) -> None:
    restored(window, qtbot, files["damaged"])
    session, pane = window.session, window.viewer.panes["restored"]
    session.set_settings(SLOW)
    session.cancel()  # no preview of it
    settle(window, qtbot)
    before = shown_pixels(pane), session.document.mask.copy().tobytes()
    state = session.state.runs.current, session.state.runs.records, session.state.settings
    reports = []
    trigger(window, "compare")
    watch(session, "activity", reports.append)
    qtbot.waitUntil(lambda: len(reports) >= 2, timeout=600_000)
    assert session.state.activity is not None, "it is in progress"
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    settle(window, qtbot)
    assert (session.state.runs.current, session.state.runs.records, session.state.settings) == state
    assert np.array_equal(shown_pixels(pane), before[0])
    assert session.document.mask.copy().tobytes() == before[1]
    assert session.state.view.mode is SIDE_BY_SIDE
    assert not window.status.progress.isVisible()
    assert window.banner.text == ""


def test_painting_with_the_mouse_then_undoing(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    session, canvas = window.session, window.viewer.panes["damaged"].canvas
    before = session.document.mask.copy().tobytes()
    qtbot.keyClick(window, Qt.Key.Key_P)
    assert session.state.view.tool == "brush"
    session.document.set_view(session.state.view.with_brush(2))
    middle = canvas.rect().center()
    for offset in (0, 15, 30):
        start, end = middle + QPoint(-20, offset), middle + QPoint(25, offset)
        qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=start)
        for step in range(5):
            qtbot.mouseMove(canvas, start + (end - start) * step / 4)
        qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=end)
    qtbot.keyClick(window, Qt.Key.Key_R)
    assert session.state.view.tool == "rectangle"
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=middle)
    qtbot.mouseMove(canvas, middle + QPoint(10, 12))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=middle + QPoint(20, 20))
    painted = session.document.mask.copy().tobytes()
    assert painted != before
    assert canvas.content.mask.level(0).astype(bool).tobytes() == painted, "what is drawn is the mask"
    n_steps = 0
    while window.actions_["undo"].isEnabled():
        trigger(window, "undo")
        n_steps += 1
    assert n_steps == 4, "one stroke, one step"
    assert session.document.mask.copy().tobytes() == before
    settle(window, qtbot)


def test_the_damaged_picture_is_seen_while_b_is_held(window, qtbot, files) -> None:
    restored(window, qtbot, files["damaged"])
    panes = window.viewer.panes
    after, before = (shown_pixels(panes[name]) for name in ("restored", "damaged"))
    window.activateWindow()
    presets = find(window, QComboBox, "Preset")
    presets.setFocus()
    qtbot.waitUntil(presets.hasFocus, timeout=600_000)
    qtbot.keyPress(presets, Qt.Key.Key_B)
    assert np.array_equal(shown_pixels(panes["restored"]), before)
    assert panes["restored"].caption.text() == panes["damaged"].caption.text()
    qtbot.keyRelease(presets, Qt.Key.Key_B)
    assert np.array_equal(shown_pixels(panes["restored"]), after)
    assert presets.currentText() == "Custom"


def test_nothing_to_compare_changes_no_view(window, qtbot, files) -> None:
    opened(window, qtbot, files["whole"])
    qtbot.keyClick(window, Qt.Key.Key_F6)
    settle(window, qtbot)
    assert window.session.state.view.mode is SIDE_BY_SIDE
    offer = next(bar for bar in window.offers if "Nothing is marked" in bar.text)
    find(offer, QPushButton, "Find Damage").click()
    settle(window, qtbot)
    assert not offer.text
    assert window.session.state.found is not None


def test_closing_while_working_waits(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    window.session.set_settings(SLOW)
    trigger(window, "compare")
    assert window.close()
    assert window.session.state.runs.current is None


def test_a_problem_is_a_sentence_and_the_window_stays_usable(window, qtbot, files, tmp_path) -> None:
    opened(window, qtbot, tmp_path / "nothing.png")
    assert "does not exist" in window.banner.text
    assert "--" not in window.banner.text
    trigger(window, "cancel")
    assert window.banner.text == "", "Escape closes it in an empty window too"
    opened(window, qtbot, tmp_path / "nothing.png")
    opened(window, qtbot, files["damaged"])
    assert window.banner.text == "", "a picture that opens takes the message away"
    trigger(window, "restore")
    settle(window, qtbot)
    assert window.session.state.runs.current is not None


def test_a_profile_of_the_screen_that_cannot_be_read_changes_nothing(window, tmp_path) -> None:
    window.choices.set_screen("srgb")
    assert window.choices.set_screen(str(tmp_path / "gone.icc")) == "srgb"
    assert "gone.icc" in window.banner.text


def test_another_document_takes_old_words_away(window, qtbot, files) -> None:
    window.session.document.notice.emit("Something was done.")
    assert window.statusBar().currentMessage() == "Something was done."
    opened(window, qtbot, files["damaged"])
    assert window.statusBar().currentMessage() == ""
    assert "96 x 72 pixels" in texts(window.statusBar())


def test_the_pixel_under_the_pointer_is_in_the_status_bar(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    window.viewer.panes["damaged"].canvas.hovered.emit(7, 9)
    assert "row 7, column 9" in texts(window.statusBar())


def test_the_restored_picture_is_copied_and_never_a_run_in_progress(window, qtbot, files) -> None:
    restored(window, qtbot, files["damaged"])
    image = window.session.state.runs.current.image
    window.session.set_settings(SLOW)
    trigger(window, "restore")
    qtbot.waitUntil(lambda: window.session.state.intermediate is not None, timeout=600_000)
    trigger(window, "copy")
    window.cancel()
    settle(window, qtbot)
    copied = QGuiApplication.clipboard().image().convertToFormat(QImage.Format.Format_RGB32)
    assert np.array_equal(as_uint32(copied), drawn(image))


def test_what_a_photographer_needs_is_in_sight_of_a_small_window(window, qtbot, files) -> None:
    window.resize(1280, 720)
    opened(window, qtbot, files["damaged"])
    panel = window.findChild(ParameterPanel)
    for widget in (*panel.findChildren(QComboBox), *window.side.damage.findChildren(QCheckBox)):
        assert widget.visibleRegion().boundingRect() == widget.rect()


def test_nothing_scrolls_in_a_small_window_when_damage_is_found(window, qtbot, files) -> None:
    window.resize(1280, 720)
    opened(window, qtbot, files["whole"])
    document = window.session.document
    document.set_view(document.state.view.with_workspace(STUDY))
    window.session.find_damage(("scratches", "dust"))
    settle(window, qtbot)
    assert window.side.damage.kinds
    assert window.session.state.marked is not None
    assert window.side.findChild(QScrollArea).verticalScrollBar().maximum() == 0


def test_nothing_is_cut_off_in_the_narrowest_panel(window, qtbot, files) -> None:
    window.resize(1280, 720)
    opened(window, qtbot, files["damaged"])
    window.resizeDocks([find(window, QDockWidget, "settings")], [1], Qt.Orientation.Horizontal)
    panel = window.findChild(ParameterPanel)
    panel.show_advanced(True)
    qtbot.waitUntil(lambda: panel.visibleRegion().boundingRect().width() == panel.width(), timeout=600_000)
    for box in panel.findChildren(QDoubleSpinBox):
        assert box.width() >= box.minimumSizeHint().width()


def test_the_about_box_names_both_stages(window, monkeypatch) -> None:
    said = []
    monkeypatch.setattr(QMessageBox, "about", lambda *words: said.append(words[-1]))
    trigger(window, "about")
    for words in ("Replacement OMP", "Replacement OLS", "refine", "NeurIPS 2018", "BSD-3-Clause"):
        assert words in said[0]


def test_changes_restore_by_themselves_if_wanted(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "automatic")
    settle(window, qtbot)
    assert window.session.state.runs.current.requested == FAST
    trigger(window, "automatic")
    assert not window.session.state.is_automatic


def test_a_wide_hole_is_filled_with_texture_by_one_click(window, qtbot, files) -> None:
    opened(window, qtbot, files["whole"])
    window.session.set_settings(replace(FAST, fill="smooth"))
    assert window.offers[1].text == ""
    window.session.masking.fill(Rect(20, 20, 24, 24))
    settle(window, qtbot)
    assert "too wide" in window.offers[1].text
    find(window.offers[1], QPushButton, "Fill with Texture").click()
    settle(window, qtbot)
    assert window.session.state.runs.current.settings.fill == "texture"
    assert window.offers[1].text == ""


def test_parameters_that_are_used_by_default_are_remembered(make_window, qtbot, files) -> None:
    window = make_window()
    reset = next(button for button in window.side.findChildren(QToolButton) if button.text() == "Reset")
    assert reset.isHidden()
    chosen = replace(window.session.state.settings, n_atoms=23, bases=("dct", "haar"))
    window.session.set_settings(chosen)
    assert not reset.isHidden()
    trigger(window, "default_settings")
    assert reset.isHidden()
    another = make_window()
    assert another.session.state.settings == another.session.document.defaults == chosen
    settle(window, qtbot)


def test_keys_of_the_history_are_not_those_of_the_window(window, qtbot, files) -> None:
    restored(window, qtbot, files["damaged"])
    window.session.running.restore()
    settle(window, qtbot)
    runs = find(window, QTreeWidget, "Restorations")
    window.activateWindow()
    runs.setFocus()
    QApplication.processEvents()
    qtbot.keyClick(runs, Qt.Key.Key_Delete)
    assert len(window.session.state.runs) == 1


def test_sentences_name_the_key_that_the_user_has_chosen(window, qtbot, files) -> None:
    notices = []
    window.session.document.notice.connect(notices.append)
    opened(window, qtbot, files["whole"])
    window.actions_.set_key(window.actions_["restore"], "Ctrl+J")
    brush = HealingBrush(window.session)
    brush.press(Place(20.5, 20.5))
    brush.release()
    settle(window, qtbot)
    assert "(Ctrl+J)" in notices[-1]
    window.actions_.reset_keys()
