"""The whole window, end to end."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shiboken6
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import (
    QAction,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QImage,
    QKeySequence,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QScrollArea,
    QScrollBar,
    QTabBar,
    QWidget,
)

from dictsel_core import RestoreSettings, psnr, restore, ssim
from inpaint_app.files.read import read_picture
from inpaint_app.files.write import write_picture
from inpaint_app.image.mask_spec import MaskSpec
from inpaint_app.image.picture import Picture
from inpaint_app.jobs.opening import SAMPLES, Damage
from inpaint_app.window import file_commands
from inpaint_app.window.actions import GROUPS
from inpaint_app.window.canvas.image_pyramid import build_pyramid, words
from inpaint_app.window.canvas.painting_canvas import Tool
from inpaint_app.window.dialogs import file_dialogs
from inpaint_app.window.main_window import MainWindow
from inpaint_app.window.preferences import Preferences
from inpaint_app.window.session.state import IntermediateImage, View
from inpaint_app.window.theme.theme import Theme, ThemeSwitch

FAST = RestoreSettings(n_atoms=8, coding_sparsity=3, bases=("dct", "haar"), rounds=0)


@pytest.fixture
def theme(qapp):
    switch = ThemeSwitch(qapp)
    yield switch
    switch.set_theme(Theme.SYSTEM)
    shiboken6.delete(switch)


@pytest.fixture
def make_window(qtbot, theme):
    windows = []

    def make() -> MainWindow:
        window = MainWindow(Preferences(), theme)
        windows.append(window)
        window.show()
        qtbot.waitExposed(window)
        return window

    yield make
    for window in windows:
        window.session.discard()
        window.close()
        window.deleteLater()


@pytest.fixture
def window(make_window):
    return make_window()


def settle(window: MainWindow, qtbot) -> None:
    qtbot.waitUntil(lambda: window.is_settled, timeout=60_000)


def opened(window: MainWindow, qtbot, path: Path, **more) -> MainWindow:
    window.session.set_settings(FAST)
    window.files.open_file(path, **more)
    settle(window, qtbot)
    return window


def trigger(window: MainWindow, name: str) -> None:
    action = window.actions_[name]
    assert action.isEnabled(), name
    action.trigger()


def pane(window: MainWindow, name: str):
    return window.viewer._panes[name]


def shown_pixels(window: MainWindow, name: str) -> np.ndarray:
    """Return the pixels that a pane draws, as 32-bit words."""
    return words(pane(window, name).canvas._levels.images[0]).copy()


def pane_texts(window: MainWindow, name: str) -> tuple[str, str]:
    """Return the caption of a pane, and the values of the pixel under the pointer."""
    return pane(window, name)._caption.text(), pane(window, name)._readout.text()


def drawn(pixels: np.ndarray) -> np.ndarray:
    """Return pixels as a pane draws them."""
    image = build_pyramid(pixels).images[0]
    return words(image).copy()


def mask_bytes(window: MainWindow) -> bytes:
    return window.session.mask.snapshot().tobytes()


def test_an_empty_window_says_what_to_do(window) -> None:
    assert window.welcome.isVisible()
    assert not window.viewer.isVisible()
    for name in ("restore", "export", "undo", "compare", "brush", "copy", "save_mask", "cancel"):
        assert not window.actions_[name].isEnabled()
    for name in ("smaller", "larger", "show_mask"):
        assert not window.actions_[name].isEnabled()
    assert window.actions_["open"].isEnabled()
    assert not window.isWindowModified()


def test_a_new_window_and_its_frame_fit_the_screen(window) -> None:
    room = window.screen().availableGeometry()
    assert window.width() <= max(room.width(), window.minimumSizeHint().width())
    assert window.height() < room.height() - 30


def test_sample_restored_measured_exported(window, qtbot, tmp_path, monkeypatch) -> None:
    window.welcome.sample_wanted.emit(SAMPLES[0])
    settle(window, qtbot)
    assert window.viewer.isVisible()
    trigger(window, "restore")
    settle(window, qtbot)
    document, mask = window.session.document, window.session.mask.mask
    expected = restore(document.picture.pixels, mask)
    caption = pane(window, "restored")._caption.text()
    assert f"PSNR {psnr(document.reference.pixels, expected.image):.2f} dB" in caption
    assert f"SSIM {ssim(document.reference.pixels, expected.image):.4f}" in caption
    shown = window.session.results.current.image
    assert np.array_equal(shown, expected.image)
    assert np.array_equal(shown_pixels(window, "restored"), drawn(shown))
    assert window.isWindowModified()

    target = tmp_path / "out.png"
    monkeypatch.setattr(file_commands.ExportDialog, "exec", lambda dialog: accept(dialog, target))
    trigger(window, "export")
    settle(window, qtbot)
    assert np.array_equal(read_picture(target).pixels, shown), "the file is what was shown"
    assert not window.isWindowModified()


def accept(dialog, path: Path) -> QDialog.DialogCode:
    dialog.set_path(path)
    assert dialog._export.isEnabled()
    return QDialog.DialogCode.Accepted


@pytest.mark.parametrize("seed", range(10))
def test_escape_at_any_moment_leaves_everything(window, qtbot, files, seed) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "restore")
    settle(window, qtbot)
    before = shown_pixels(window, "restored"), mask_bytes(window), window.session.results.current
    settings, history = window.session.settings, window.session.results.history.records
    trigger(window, ["restore", "compare", "tune"][seed % 3])
    qtbot.wait(int(np.random.default_rng(seed).integers(0, 100)))
    if window.session.activity is None or window.session.results.current is not before[2]:
        return  # it was quicker than Escape
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    settle(window, qtbot)
    assert np.array_equal(shown_pixels(window, "restored"), before[0])
    assert mask_bytes(window) == before[1]
    assert window.session.results.current is before[2]
    assert window.session.settings == settings
    assert window.session.results.history.records == history
    assert window.viewer.view is View.SIDE_BY_SIDE
    assert not window.progress.isVisible()
    assert window.banner.text == ""


def test_a_storm_on_the_sliders_ends_with_the_last_value(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "automatic")
    field = window.side.parameters._fields["n_atoms"]
    rng = np.random.default_rng(1)
    end = time.monotonic() + 5
    for _ in range(100):
        field._box.setValue(int(rng.integers(3, 30)))
        qtbot.wait(max(0, min(50, int(1000 * (end - time.monotonic()) / 100))))
    field._box.setValue(31)
    settle(window, qtbot)
    assert window.session.results.current.settings.n_atoms == 31
    pixels, mask = window.session.document.picture.pixels, window.session.mask.mask
    expected = restore(pixels, mask, replace(FAST, n_atoms=31)).image
    assert np.array_equal(shown_pixels(window, "restored"), drawn(window.session.results.current.image))
    assert np.array_equal(window.session.results.current.image, expected)
    assert window.banner.text == ""


def test_painting_with_the_mouse_then_undoing(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    before = mask_bytes(window)
    canvas = pane(window, "damaged").canvas
    qtbot.keyClick(window, Qt.Key.Key_P)
    assert window.viewer.tool is Tool.BRUSH
    window.viewer.set_brush_diameter(2)
    middle = canvas.rect().center()
    for offset in (0, 15, 30):
        start, end = middle + QPoint(-20, offset), middle + QPoint(25, offset)
        qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=start)
        for step in range(5):
            qtbot.mouseMove(canvas, start + (end - start) * step / 4)
        qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=end)
    qtbot.keyClick(window, Qt.Key.Key_R)
    assert window.viewer.tool is Tool.RECTANGLE
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=middle)
    qtbot.mouseMove(canvas, middle + QPoint(10, 12))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=middle + QPoint(20, 20))
    assert mask_bytes(window) != before
    assert canvas._coverage.level(0).astype(bool).tobytes() == mask_bytes(window), "what is drawn is the mask"
    n_steps = 0
    while window.actions_["undo"].isEnabled():
        trigger(window, "undo")
        n_steps += 1
    assert n_steps == 4, "one stroke, one step"
    assert mask_bytes(window) == before
    settle(window, qtbot)


def test_a_tool_brings_the_damaged_picture_into_sight(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "split")
    trigger(window, "brush")
    assert pane(window, "damaged").isVisible()
    trigger(window, "compared")
    trigger(window, "eraser")
    assert window.viewer.view is View.COMPARE, "it is in sight there"
    settle(window, qtbot)


def test_a_mask_from_a_file_is_not_taken_for_painted(window, qtbot, files) -> None:
    opened(window, qtbot, files["whole"])
    seen = []
    for edit in ("file", "invert", "undo"):
        if edit == "file":
            window.session.set_mask_spec(MaskSpec(mask=files["mask"]))
        else:
            trigger(window, edit)
        settle(window, qtbot)
        seen.append(("painted by hand" in window.side.missing._found.text(), window.isWindowModified()))
    assert seen == [(False, False), (True, True), (False, False)]


def test_words_about_missing_pixels_follow_the_brush(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "clear")
    assert pane(window, "damaged")._caption.text() == "nothing missing"
    window.session.edit_mask(lambda mask: mask.begin_stroke(30, 40, diameter=9), ends=False)
    caption = pane(window, "damaged")._caption.text()
    assert "% missing" in caption, "while the stroke is under way"
    window.session.edit_mask(lambda mask: mask.end_stroke())
    assert pane(window, "damaged")._caption.text() == caption
    found = window.side.missing._found
    assert found.text().endswith("missing: painted by hand."), "nothing transparent is left"
    for _ in range(2):
        trigger(window, "undo")
    assert found.text().endswith("missing: transparent.")
    settle(window, qtbot)


def test_brush_size_by_keys(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    before = window.viewer.brush_diameter
    qtbot.keyClick(window, "]")
    assert window.viewer.brush_diameter > before
    for _ in range(60):
        qtbot.keyClick(window, "[")
    assert window.viewer.brush_diameter == 1
    assert window._menus.diameter.value() == 1


def test_closing_while_working_waits(make_window, qtbot) -> None:
    window = make_window()
    window.files.open_sample(SAMPLES[0])
    settle(window, qtbot)
    trigger(window, "compare")
    qtbot.waitUntil(lambda: window.session.activity.fraction > 0.05, timeout=120_000)
    assert window.close()
    assert window.session.results.current is None


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
    assert window.session.results.current is not None


def test_unsaved_work_is_asked_about_once(window, qtbot, files, monkeypatch) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "restore")
    settle(window, qtbot)
    asked = []

    def answer(_parent, works) -> str:
        asked.append(works)
        return "stay" if len(asked) == 1 else "discard"

    monkeypatch.setattr(file_dialogs, "ask_about_unsaved", answer)
    assert not window.close()
    assert window.isVisible()
    trigger(window, "invert")
    settle(window, qtbot)
    assert window.close()
    assert asked == [["restored picture"], ["restored picture", "painted mask"]]


@pytest.mark.parametrize("painted", [False, True])
def test_exporting_all_work_leads_on(window, qtbot, files, tmp_path, monkeypatch, painted) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "restore")
    settle(window, qtbot)
    if painted:
        trigger(window, "invert")
        settle(window, qtbot)
    monkeypatch.setattr(file_dialogs, "ask_about_unsaved", lambda *_args: "export")
    monkeypatch.setattr(file_dialogs, "ask_where_to_write", lambda *_args: tmp_path / "painted.png")
    monkeypatch.setattr(file_commands.ExportDialog, "exec", lambda _dialog: QDialog.DialogCode.Rejected)
    assert not window.close(), "nothing was written"
    target = tmp_path / "out.png"
    monkeypatch.setattr(file_commands.ExportDialog, "exec", lambda dialog: accept(dialog, target))
    assert window.close()
    assert target.exists()
    assert (tmp_path / "painted.png").exists() is painted


def test_exporting_beside_a_preview_says_what_is_written(window, qtbot, files, monkeypatch) -> None:
    said = []

    def look(dialog) -> QDialog.DialogCode:
        said.append(dialog._preview_note.isVisibleTo(dialog))
        return QDialog.DialogCode.Rejected

    monkeypatch.setattr(file_commands.ExportDialog, "exec", look)
    opened(window, qtbot, files["damaged"])
    trigger(window, "restore")
    settle(window, qtbot)
    trigger(window, "export")
    window.session.set_settings(replace(FAST, sparsity=3))
    trigger(window, "export")
    settle(window, qtbot)
    trigger(window, "export")
    assert said == [False, True, True]


def test_nothing_is_asked_when_nothing_is_at_stake(window, qtbot, files, monkeypatch) -> None:
    monkeypatch.setattr(file_dialogs, "ask_about_unsaved", lambda *_args: pytest.fail("asked"))
    opened(window, qtbot, files["damaged"])
    assert window.close()


def drag_over(window: MainWindow, *paths: Path) -> QMimeData | None:
    """Drag files over the window; return them if they would be taken."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    button, key = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    event = QDragEnterEvent(QPoint(50, 50), Qt.DropAction.CopyAction, data, button, key)
    event.ignore()
    window.dragEnterEvent(event)
    return data if event.isAccepted() else None


def drop(window: MainWindow, *paths: Path) -> None:
    data = drag_over(window, *paths)
    button, key = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(50, 50), Qt.DropAction.CopyAction, data, button, key))


def test_files_are_dropped_and_told_apart(window, qtbot, files) -> None:
    window.session.set_settings(FAST)
    drop(window, files["mask"], files["whole"])
    settle(window, qtbot)
    assert window.session.document.path == files["whole"]
    assert window.session.document.sources == ("mask",)
    assert window.statusBar().currentMessage() == ""


def test_what_a_drop_leaves_out_is_named(window, qtbot, files, tmp_path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    drop(window, files["whole"], files["damaged"], folder)
    settle(window, qtbot)
    assert window.session.document.path == files["whole"]
    assert window.statusBar().currentMessage().startswith("damaged.png and folder were left out")
    drop(window, folder, files["whole"])
    assert window.statusBar().currentMessage().startswith("whole.png was left out")
    window.files._batch.close()


def test_only_what_can_be_opened_is_taken(window, files, tmp_path) -> None:
    (tmp_path / "notes.txt").write_text("words")
    assert drag_over(window, tmp_path / "notes.txt") is None
    assert not window._drop_frame.isVisible()
    assert drag_over(window, files["whole"]) is not None
    assert window._drop_frame.isVisible()
    window.dragLeaveEvent(QDragLeaveEvent())
    assert not window._drop_frame.isVisible()


def test_a_picture_is_pasted_and_copied(window, qtbot) -> None:
    image = QImage(40, 30, QImage.Format.Format_RGBA8888)
    image.fill(0xFF336699)
    image.setPixelColor(3, 4, Qt.GlobalColor.transparent)
    QGuiApplication.clipboard().setImage(image)
    window.session.set_settings(FAST)
    trigger(window, "paste")
    settle(window, qtbot)
    assert window.session.document.shape == (30, 40)
    assert np.argwhere(window.session.mask.mask).tolist() == [[4, 3]]
    trigger(window, "restore")
    settle(window, qtbot)
    trigger(window, "copy")
    copied = QGuiApplication.clipboard().image()
    assert (copied.width(), copied.height()) == (40, 30)
    assert copied.pixelColor(3, 4) == copied.pixelColor(10, 10)


def test_a_run_under_way_is_not_copied(window, qtbot) -> None:
    window.session.set_settings(FAST)
    window.files.open_sample(SAMPLES[0])
    settle(window, qtbot)
    trigger(window, "restore")
    settle(window, qtbot)
    restored = window.session.results.current.image
    window.session.set_settings(RestoreSettings())
    trigger(window, "restore")
    qtbot.waitUntil(lambda: window.session.runner.intermediate is not None, timeout=120_000)
    qtbot.waitUntil(lambda: window.viewer.is_settled, timeout=120_000)
    trigger(window, "copy")
    assert window.session.runner.intermediate is not None
    copied = QGuiApplication.clipboard().image().convertToFormat(QImage.Format.Format_RGB32)
    assert np.array_equal(words(copied), drawn(restored))
    window.cancel()
    settle(window, qtbot)


def test_an_empty_clipboard_is_a_sentence(window) -> None:
    QGuiApplication.clipboard().setText("words")
    trigger(window, "paste")
    assert "clipboard" in window.banner.text


def test_recent_files_theme_and_layout_are_remembered(make_window, qtbot, files) -> None:
    first = make_window()
    opened(first, qtbot, files["damaged"])
    opened(first, qtbot, files["whole"])
    first.set_theme(Theme.DARK)
    first._docks[2].hide()
    first.close()
    second = make_window()
    names = [action.text() for action in second._menus.recent.actions()]
    assert names[:2] == ["whole.png", "damaged.png"]
    assert second._theme.theme is Theme.DARK
    assert not second._docks[2].isVisible()
    second._menus.recent.actions()[1].trigger()
    settle(second, qtbot)
    assert second.session.document.path == files["damaged"]
    second.set_theme(Theme.LIGHT)
    Preferences().reset()
    assert Preferences().recent_files == []
    assert Preferences().theme is Theme.SYSTEM


def test_a_result_beyond_the_comparison_comes_into_sight(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "split")
    trigger(window, "compare")
    settle(window, qtbot)
    assert window.viewer.view is View.COMPARE
    window.session.set_settings(replace(FAST, n_atoms=5))
    qtbot.keyClick(window, Qt.Key.Key_F5)
    settle(window, qtbot)
    assert window.viewer.view is View.SPLIT, "the view before"
    assert np.array_equal(shown_pixels(window, "restored"), drawn(window.session.results.current.image))
    trigger(window, "compared")
    settle(window, qtbot)
    assert not pane(window, "average").canvas.has_picture, "that pair has other parameters"
    window.session.go_back(1)
    settle(window, qtbot)
    assert window.viewer.view is View.COMPARE
    assert pane(window, "average").canvas.has_picture


def test_every_view_shows_its_pictures(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"], reference=files["whole"])
    qtbot.keyClick(window, Qt.Key.Key_F6)
    assert window.viewer.view is View.COMPARE
    settle(window, qtbot)
    for name in ("individual", "average"):
        assert "PSNR" in pane(window, name)._caption.text()
        assert pane(window, name).canvas.has_picture
    expected = {
        "side": {"damaged", "restored"},
        "compared": {"damaged", "individual", "average"},
        "error": {"original", "restored", "error"},
        "split": set(),
    }
    for action, names in expected.items():
        trigger(window, action)
        settle(window, qtbot)
        visible = {name for name, each in window.viewer._panes.items() if each.isVisible()}
        assert visible == names
        assert all(pane(window, name).canvas.has_picture for name in names)
        assert window.actions_[action].isChecked()
    assert window.viewer._split.isVisible()


@pytest.mark.parametrize(("shape", "is_stack"), [((40, 900), True), ((900, 40), False), ((90, 100), False)])
def test_panes_lie_so_that_the_picture_is_largest(window, qtbot, tmp_path, shape, is_stack) -> None:
    write_picture(Picture(np.zeros(shape, np.uint8)), tmp_path / "picture.png")
    window.resize(1280, 720)
    opened(window, qtbot, tmp_path / "picture.png")
    for view in ("side", "compared", "error"):
        trigger(window, view)
        settle(window, qtbot)
        QApplication.processEvents()
        places = [each.pos() for each in window.viewer._panes.values() if each.isVisible()]
        assert (len({place.x() for place in places}) == 1) is is_stack
        assert (len({place.y() for place in places}) == 1) is not is_stack


def test_recent_files_are_told_apart_and_dropped_when_gone(window, qtbot, files, tmp_path) -> None:
    copy = tmp_path / "copies" / "whole.png"
    copy.parent.mkdir()
    copy.write_bytes(files["whole"].read_bytes())
    for path in (files["whole"], copy, files["damaged"]):
        opened(window, qtbot, path)
    entries = window._menus.recent.actions()
    assert [entry.text() for entry in entries[:2]] == ["damaged.png", "copies/whole.png"]
    assert entries[2].text() == f"{tmp_path.name}/whole.png"
    copy.unlink()
    entries[1].trigger()
    settle(window, qtbot)
    assert "dropped from the list" in window.banner.text
    assert window.session.document.path == files["damaged"]
    assert copy not in Preferences().recent_files
    assert [entry.text() for entry in window._menus.recent.actions()[:2]] == ["damaged.png", "whole.png"]


def test_b_shows_the_damaged_picture_wherever_the_focus_is(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "restore")
    settle(window, qtbot)
    window.activateWindow()
    parameters = window.side.parameters
    typed = QLineEdit(window)
    typed.show()
    places = (window.history._list, parameters._presets, parameters._fields["n_atoms"]._box, typed)
    for place in places:
        place.setFocus()
        qtbot.waitUntil(place.hasFocus)
        qtbot.keyPress(place, Qt.Key.Key_B)
        assert window.viewer._words.is_before_held is (place is not typed)
        qtbot.keyRelease(place, Qt.Key.Key_B)
        assert not window.viewer._words.is_before_held
    assert typed.text() == "b"


def test_the_error_view_says_what_it_waits_for(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "error")
    canvas = pane(window, "error").canvas
    assert "open it as the reference" in canvas._placeholder
    assert pane(window, "original")._caption.text() == "", "there is none"
    window.session.open_reference(files["whole"])
    settle(window, qtbot)
    assert canvas._placeholder == "Restore (F5) to see the errors."
    assert pane(window, "original")._caption.text() == "96 x 72 pixels"


def test_another_document_takes_old_words_away(window, qtbot, files) -> None:
    window.session.notice.emit("Something was done.")
    assert window.statusBar().currentMessage() == "Something was done."
    opened(window, qtbot, files["damaged"])
    assert window.statusBar().currentMessage() == ""


def test_a_folder_names_the_entry_that_restores_it(window, qtbot, tmp_path) -> None:
    opened(window, qtbot, tmp_path)
    assert window.actions_["batch"].text().replace("&", "").rstrip(" …") in window.banner.text


def test_the_damaged_picture_is_seen_while_b_is_held(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "restore")
    settle(window, qtbot)
    restored, damaged = shown_pixels(window, "restored"), shown_pixels(window, "damaged")
    window.viewer._hover("damaged", tuple(map(int, np.argwhere(window.session.mask.mask)[20])))
    words_before, words_damaged = pane_texts(window, "restored"), pane_texts(window, "damaged")
    qtbot.keyPress(window, Qt.Key.Key_B)
    assert np.array_equal(shown_pixels(window, "restored"), damaged)
    assert pane_texts(window, "restored") == words_damaged
    qtbot.keyRelease(window, Qt.Key.Key_B)
    assert np.array_equal(shown_pixels(window, "restored"), restored)
    assert pane_texts(window, "restored") == words_before


def test_the_split_view_marks_and_measures_both_pictures(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"], reference=files["whole"])
    trigger(window, "restore")
    settle(window, qtbot)
    trigger(window, "split")
    settle(window, qtbot)
    split = window.viewer._split
    damaged, restored = split._caption.text().split("   →   ")
    assert (damaged, restored) == (pane_texts(window, "damaged")[0], pane_texts(window, "restored")[0])
    with_mask = split.canvas.grab().toImage()
    trigger(window, "show_mask")
    differ = np.argwhere(words(with_mask) != words(split.canvas.grab().toImage()))
    assert len(differ) > 0
    assert differ[:, 1].max() < split.canvas.width() / 2, "the damaged side alone"


def test_a_narrow_pane_says_less_of_each_rather_than_nothing_of_some(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"], reference=files["whole"])
    trigger(window, "restore")
    settle(window, qtbot)
    caption, record = pane(window, "restored")._caption, window.session.results.current
    scores = record.figures.scores
    short = caption.fitting_text(caption.fontMetrics().horizontalAdvance(caption.text()) // 2)
    for figure in (
        f"{scores.psnr:.2f} dB",
        f"{scores.ssim:.4f}",
        f"{record.seconds:.1f} s",
    ):
        assert figure in short
    assert caption.fitting_text(30).endswith("…")


def test_words_beside_a_preview_are_about_what_is_drawn(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "restore")
    settle(window, qtbot)
    window.session.set_settings(replace(FAST, n_atoms=3, sparsity=1))
    settle(window, qtbot)
    preview, record = window.session.runner.preview, window.session.results.current
    part = record.image[preview.rows, preview.columns]
    inside = np.argwhere(part != preview.image)[0] + (preview.rows.start, preview.columns.start)
    window.viewer._hover("damaged", tuple(map(int, inside)))
    caption, values = pane_texts(window, "restored")
    assert values == str(preview.image[tuple(inside - (preview.rows.start, preview.columns.start))])
    assert caption == "around the preview: run 1"
    window.session.runner._on_partial(IntermediateImage("average", record.image))
    assert pane_texts(window, "restored")[0] == "", "a run under way has no figures yet"
    window.session.runner._drop_intermediate()
    assert pane(window, "restored").canvas._inset is not None
    qtbot.keyPress(window, Qt.Key.Key_B)
    assert pane(window, "restored").canvas._inset is None
    assert pane_texts(window, "restored") == pane_texts(window, "damaged")
    qtbot.keyRelease(window, Qt.Key.Key_B)


def test_a_pane_says_why_it_is_empty(window, qtbot, files) -> None:
    canvas = pane(window, "restored").canvas
    opened(window, qtbot, files["whole"])
    assert "Nothing is missing" in canvas._placeholder
    trigger(window, "compare")
    settle(window, qtbot)
    assert window.viewer.view is View.SIDE_BY_SIDE, "there is nothing to compare"
    assert "No pixel is missing" in window.banner.text
    opened(window, qtbot, files["damaged"])
    assert "F5" in canvas._placeholder
    trigger(window, "restore")
    assert "being restored" in canvas._placeholder
    settle(window, qtbot)


def test_a_preview_is_marked_as_one(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    badge, sparsity = pane(window, "restored")._badge, window.side.parameters._fields["sparsity"]._box
    for value in (3, 4):
        sparsity.setValue(value)
        assert badge.text() == "preview …"
        settle(window, qtbot)
        assert window.session.runner.preview is not None
        assert badge.text() == "preview"
    trigger(window, "restore")
    settle(window, qtbot)
    assert pane(window, "restored")._badge.text() == ""


def test_the_dictionary_is_no_larger_than_its_bases(window, qtbot) -> None:
    panel = window.side.parameters
    field, bases = panel._fields["n_atoms"], panel._bases
    field._box.setValue(200)
    for name in ("haar", "db4", "coif1"):
        bases[name].click()
    assert (field.value, field._box.maximum()) == (64, 64)
    assert window.session.settings.n_atoms == 64
    bases["haar"].click()
    assert (field.value, field._box.maximum()) == (64, 128)
    assert window.session.settings.n_atoms == 64


def test_the_main_parameters_are_in_sight_of_a_small_window(window, qtbot, files) -> None:
    window.resize(1280, 720)
    opened(window, qtbot, files["damaged"])
    panel = window.side.parameters
    for widget in (panel._presets, *panel._constraints.buttons(), *panel._fields.values()):
        assert widget.visibleRegion().boundingRect() == widget.rect()


def test_nothing_is_cut_off_in_the_narrowest_panel(window, qtbot, files) -> None:
    window.resize(1280, 720)
    opened(window, qtbot, files["damaged"])
    window.resizeDocks([window._docks[0]], [1], Qt.Orientation.Horizontal)
    QApplication.processEvents()
    panel = window.side.parameters
    for field in panel._fields.values():
        assert field._box.width() >= field._box.minimumSizeHint().width()
    assert panel.visibleRegion().boundingRect().width() == panel.width()


def test_the_tolerance_is_that_of_the_picture(window, qtbot, files) -> None:
    tolerance = window.side.missing._tolerance
    opened(window, qtbot, files["whole"], mask_spec=MaskSpec(key="120", tolerance=5))
    assert tolerance.isVisible()
    assert tolerance.value() == 5
    document = window.session.document
    settle(window, qtbot)
    assert window.session.document is document, "showing it is no change"
    tolerance.setValue(9)
    settle(window, qtbot)
    assert window.session.document.mask_spec.tolerance == tolerance.value() == 9
    window.session.discard()
    opened(window, qtbot, files["damaged"])
    assert tolerance.value() == 0


def test_history_goes_back(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    for n_atoms in (6, 9):
        window.session.set_settings(replace(FAST, n_atoms=n_atoms))
        trigger(window, "restore")
        settle(window, qtbot)
    items = window.history._list
    assert items.topLevelItemCount() == 2
    items.setCurrentItem(items.topLevelItem(1))
    settle(window, qtbot)
    assert window.session.results.current.number == 1
    assert window.side.parameters._fields["n_atoms"].value == 6


@pytest.mark.parametrize("signal", ["itemClicked", "itemActivated"])
def test_choosing_the_current_run_goes_back_to_its_parameters(window, qtbot, files, signal) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "restore")
    settle(window, qtbot)
    window.session.set_settings(replace(FAST, n_atoms=5))
    settle(window, qtbot)
    assert window.session.runner.preview is not None
    items = window.history._list
    if signal == "itemClicked":
        place = items.visualItemRect(items.topLevelItem(0)).center()
        qtbot.mouseClick(items.viewport(), Qt.MouseButton.LeftButton, pos=place)
    else:
        qtbot.keyClick(items, Qt.Key.Key_Return)
    settle(window, qtbot)
    assert window.session.settings == window.session.results.current.requested
    assert window.session.settings.n_atoms == 8
    assert window.session.runner.preview is None


def test_clicking_an_earlier_run_goes_back_to_it(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    for _ in range(2):
        trigger(window, "restore")
        settle(window, qtbot)
    items = window.history._list
    place = items.visualItemRect(items.topLevelItem(1)).center()
    qtbot.mouseClick(items.viewport(), Qt.MouseButton.LeftButton, pos=place)
    settle(window, qtbot)
    assert window.session.results.current.number == 1
    assert items.currentItem().text(0) == "1"


def test_an_atom_lights_up_its_patches(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "restore")
    settle(window, qtbot)
    window.dictionary.gallery._choose(0)
    settle(window, qtbot)
    lit = pane(window, "restored").canvas._highlight
    assert lit is not None
    window.dictionary.gallery._choose(None)
    settle(window, qtbot)
    assert pane(window, "restored").canvas._highlight is None


def test_readout_of_pixels(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    mask, pixels = window.session.mask.mask, window.session.document.picture.pixels
    row, column = map(int, np.argwhere(~mask)[20])
    window.viewer._hover("restored", (row, column))
    assert pane(window, "damaged")._readout.text() == str(pixels[row, column])
    assert window._pixel.text() == f"row {row}, column {column}"
    window.viewer._hover("damaged", tuple(map(int, np.argwhere(mask)[20])))
    assert pane(window, "damaged")._readout.text() == "missing"
    window.viewer._hover("damaged", None)
    assert pane(window, "damaged")._readout.text() == ""


def test_damage_is_simulated_by_the_dialog(window, qtbot, files, monkeypatch) -> None:
    opened(window, qtbot, files["whole"])
    monkeypatch.setattr(file_commands.DamageDialog, "exec", lambda _dialog: QDialog.DialogCode.Accepted)
    trigger(window, "damage")
    settle(window, qtbot)
    assert window.session.document.damage == Damage().words
    assert window.session.mask.mask.any()


def test_a_folder_is_restored(window, qtbot, files, tmp_path, monkeypatch) -> None:
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "a.png").write_bytes(files["damaged"].read_bytes())
    (folder / "b.png").write_bytes(files["whole"].read_bytes())
    (folder / "c.png").write_bytes(b"no picture")
    window.session.set_settings(FAST)
    window.files.batch(folder)
    dialog = window.files._batch
    dialog.set_folders(folder, output)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_args: pytest.fail("looks for a folder"))
    qtbot.keyClick(dialog._input._line, Qt.Key.Key_Return)
    assert dialog.is_active
    qtbot.waitUntil(lambda: not dialog.is_active, timeout=60_000)
    texts = [dialog._table.item(row, 4).text() for row in range(3)]
    assert texts[0] == "restored"
    assert "No missing pixels" in texts[1]
    assert texts[2].startswith("c.png ")
    assert not any("--" in text for text in texts)
    assert dialog._summary.text() == "1 of 3 pictures restored."
    assert [path.name for path in output.iterdir()] == ["a.png"]
    damaged = read_picture(files["damaged"])
    expected = restore(damaged.pixels, damaged.alpha == 0, FAST)
    assert np.array_equal(read_picture(output / "a.png").pixels, expected.image)
    dialog.close()


@pytest.mark.parametrize("way", ["escape", "close"])
def test_leaving_the_dialog_ends_the_batch(window, qtbot, files, tmp_path, way) -> None:
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.png").write_bytes(files["damaged"].read_bytes())
    window.files.batch(folder)
    dialog = window.files._batch
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    dialog.set_folders(folder, output)
    dialog._start.click()
    assert dialog.is_active
    if way == "escape":
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    else:
        dialog.close()
    assert not dialog.isVisible()
    assert not dialog.is_active
    settle(window, qtbot)
    assert not output.exists() or len(list(output.iterdir())) < 5


def test_no_two_actions_share_a_key() -> None:
    keys = [key for group in GROUPS.values() for spec in group.values() for key in spec.keys]
    assert len(keys) == len(set(keys))


def letters_of(texts) -> list[str]:
    keys = [QKeySequence.mnemonic(text).toString() for text in texts]
    return [key for key in keys if key]


def test_letters_are_unique_in_each_menu_and_in_the_window(window, qtbot, files) -> None:
    menus = [action.menu() for action in window.menuBar().actions()]
    menus += [action.menu() for menu in menus for action in menu.actions() if action.menu()]
    for menu in menus:
        letters = letters_of(action.text() for action in menu.actions())
        assert len(letters) == len(set(letters)), menu.title()
    for menu in menus[:5]:
        entries = [action for action in menu.actions() if not action.isSeparator()]
        assert len(letters_of(action.text() for action in entries)) == len(entries), menu.title()
    texts = [action.text() for action in window.menuBar().actions()]
    texts += [label.text() for label in window.findChildren(QLabel) if label.buddy()]
    texts += [button.text() for button in window.findChildren(QAbstractButton)]
    texts += [bar.tabText(place) for bar in window.findChildren(QTabBar) for place in range(bar.count())]
    letters = letters_of(texts)
    assert len(letters) == len(set(letters)), sorted(letters)


def test_the_sheet_lists_every_key(window) -> None:
    window.show_shortcuts()
    dialog = next(w for w in QApplication.topLevelWidgets() if w.windowTitle() == "Keyboard shortcuts")
    listed = "\n".join(keys for _, keys in dialog.rows)
    for group in GROUPS.values():
        for spec in group.values():
            assert all(key in listed for key in spec.keys)
    assert dialog.height() <= 640
    for sheet in dialog.findChildren(QAbstractItemView):
        assert not sheet.verticalScrollBar().isVisible(), "all keys are in sight"
    dialog.close()


def test_everything_that_takes_input_has_a_name(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    kinds = (QAbstractButton, QAbstractSpinBox, QAbstractSlider, QComboBox, QLineEdit, QAbstractItemView)
    nameless = []
    for kind in kinds:
        for widget in window.findChildren(kind):
            inner = widget.objectName().startswith("qt_") or isinstance(widget, QScrollBar)
            inner |= isinstance(widget.parentWidget(), QAbstractSpinBox | QComboBox | QAbstractItemView)
            text = widget.text() if isinstance(widget, QAbstractButton) else ""
            if not (inner or widget.accessibleName() or text or widget.toolTip() or not widget.isVisible()):
                nameless.append(widget)
    assert nameless == []
    labelled = [label.buddy() for label in window.findChildren(QLabel)]
    # For a screen reader the name of a choice is what is chosen: its label tells what for.
    assert [box for box in window.findChildren(QComboBox) if box not in labelled] == []


def tab_stops(window: MainWindow, qtbot) -> list[QWidget]:
    """Return what gets the focus, in the order of the key Tab."""
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    stops: list[QWidget] = []
    for _ in range(60):
        qtbot.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)
        stops.append(QApplication.focusWidget())
    return stops


def test_the_focus_goes_to_what_is_in_sight_and_takes_keys(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    trigger(window, "restore")
    settle(window, qtbot)
    atoms = window.dictionary.gallery.findChild(QAbstractItemView, "atoms")
    window.side.parameters._presets.setFocus()
    for dock, is_seen in ((window._docks[0], False), (window._docks[1], True)):
        dock.raise_()
        QApplication.processEvents()
        stops = tab_stops(window, qtbot)
        assert (atoms in stops) is is_seen
        assert not any(type(stop) is QScrollArea for stop in stops)
        assert any(isinstance(stop, QTabBar) for stop in stops), "the way to the other dock"


def test_a_window_put_away_keeps_its_focus(window, qtbot) -> None:
    window.activateWindow()
    window.side.parameters._presets.setFocus()
    window.showMinimized()
    QApplication.processEvents()
    window.showNormal()
    QApplication.processEvents()
    assert window.focusWidget() is window.side.parameters._presets


def test_no_line_under_the_pointer_is_long(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    tips = [each.toolTip() for each in (*window.findChildren(QWidget), *window.findChildren(QAction))]
    assert max(len(line) for tip in tips for line in tip.splitlines()) <= 60


def test_the_hatching_is_the_mask_after_edits_in_quick_succession(window, qtbot, files, monkeypatch) -> None:
    from inpaint_app.window.viewer import viewer

    monkeypatch.setattr(viewer, "_LARGE", 2000)  # as in a large picture: inverting is taken over elsewhere
    opened(window, qtbot, files["damaged"])
    for _ in range(10):
        trigger(window, "invert")
        window.session.edit_mask(lambda mask: mask.begin_stroke(30, 40, diameter=9), ends=False)
        window.session.edit_mask(lambda mask: mask.end_stroke())
        trigger(window, "undo")
    settle(window, qtbot)
    drawn_mask = pane(window, "damaged").canvas._coverage.level(0).astype(bool)
    assert drawn_mask.tobytes() == mask_bytes(window)


def test_refinement_and_replacing_observed_pixels_exclude_each_other(window) -> None:
    panel = window.side.parameters
    panel._fields["rounds"]._box.setValue(2)
    assert window.session.settings.rounds == 2
    panel._keep.click()
    assert (window.session.settings.keep_observed, window.session.settings.rounds) == (False, 0)
    panel._fields["rounds"]._box.setValue(1)
    assert (window.session.settings.keep_observed, window.session.settings.rounds) == (True, 1)


@pytest.mark.parametrize("place", range(4))
def test_presets_are_taken_and_recognised(window, place) -> None:
    presets = window.side.parameters._presets
    presets.setCurrentIndex(place)
    presets.activated.emit(place)
    assert window.session.settings == RestoreSettings.preset(presets.itemData(place))
    assert presets.currentIndex() == place
    window.side.parameters._fields["sparsity"]._box.setValue(3)
    assert presets.currentText() == "Custom"


@pytest.mark.parametrize("focused", [False, True])
def test_the_wheel_over_a_box_changes_nothing(window, qtbot, files, focused) -> None:
    opened(window, qtbot, files["whole"])
    window.session.set_settings(RestoreSettings.preset("fast"))
    window.side.missing._tolerance.setValue(5)
    choices = (window.side.parameters._presets, window.dictionary.gallery._orders)
    numbers = (window.side.missing._tolerance, window._menus.diameter)
    boxes = (*choices, *numbers)

    def values() -> list[int]:
        return [box.currentIndex() for box in choices] + [box.value() for box in numbers]

    before = values()
    for box in boxes:
        if focused:
            box.setFocus()
        for turn in (-120, 120, 120):
            event = QWheelEvent(
                QPointF(5, 5),
                QPointF(box.mapToGlobal(QPoint(5, 5))),
                QPoint(),
                QPoint(0, turn),
                Qt.MouseButton.NoButton,
                Qt.KeyboardModifier.NoModifier,
                Qt.ScrollPhase.NoScrollPhase,
                False,
            )
            QApplication.sendEvent(box, event)
            assert values() == before
        assert box.focusPolicy() == Qt.FocusPolicy.StrongFocus, "the wheel must not take the keys either"
    settle(window, qtbot)
