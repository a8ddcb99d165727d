"""What the File menu does: asks before work is lost, exports, pastes, drops."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QGuiApplication, QImage
from PySide6.QtWidgets import QDialog
from windows import FAST, SLOW, opened, restored, settle, texts, trigger

from inpaint_app.io.write import Output, write_picture
from inpaint_app.model.damage import SAMPLES, Damage
from inpaint_app.model.missing import MaskSpec
from inpaint_app.window.commands import file_commands
from inpaint_app.window.dialogs import file_dialogs
from inpaint_app.window.dialogs.batch_dialog import BatchDialog
from inpaint_app.window.document.state import TuningOutcome
from inpaint_app.window.widgets.overlay import DropFrame


def accept(dialog, path: Path) -> QDialog.DialogCode:
    dialog.set_path(path)
    return QDialog.DialogCode.Accepted


def test_unsaved_work_is_asked_about_once(window, qtbot, files, monkeypatch) -> None:
    restored(window, qtbot, files["damaged"])
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


def test_nothing_is_asked_when_nothing_is_at_stake(window, qtbot, files, monkeypatch) -> None:
    monkeypatch.setattr(file_dialogs, "ask_about_unsaved", lambda *_args: pytest.fail("asked"))
    opened(window, qtbot, files["damaged"])
    assert window.close()


def test_a_long_run_is_not_dropped_unasked(window, qtbot, files, monkeypatch) -> None:
    asked = []

    def answer(*words) -> bool:
        asked.append(words)
        return len(asked) > 1

    monkeypatch.setattr(file_dialogs, "ask_to_discard", answer)
    opened(window, qtbot, files["damaged"])
    window.session.set_settings(SLOW)
    trigger(window, "restore")
    monkeypatch.setattr(file_commands, "MAX_LOST_SECONDS", -1.0)
    window.files.open_file(files["whole"])
    assert window.session.state.source.path == files["damaged"]
    assert window.session.state.activity.kind == "restore", "it is not even opened"
    window.files.open_file(files["whole"])
    settle(window, qtbot)
    assert window.session.state.source.path == files["whole"]
    assert len(asked) == 2


def test_a_sample_is_never_asked_about(window, qtbot, monkeypatch) -> None:
    for question in ("ask_about_unsaved", "ask_to_discard"):
        monkeypatch.setattr(file_dialogs, question, lambda *_args: pytest.fail("asked"))
    window.files.open_sample(SAMPLES[0])
    settle(window, qtbot)
    window.session.set_settings(replace(FAST, n_atoms=2))
    trigger(window, "invert")
    trigger(window, "restore")
    assert window.session.lost_seconds == 0
    assert window.close()


def test_what_was_a_tiff_is_exported_as_tiff(window, qtbot, tmp_path, picture) -> None:
    write_picture(picture, tmp_path / "scan.tif")
    opened(window, qtbot, tmp_path / "scan.tif")
    assert window.files.suggestion("restored").suffix == ".tif"
    window.session.opening.simulate_damage(Damage())
    settle(window, qtbot)
    assert window.files.suggestion("restored").suffix == ".tif", "the damaged picture is no file"
    assert window.files.suggestion("mask").suffix == ".png"


def test_another_picture_of_the_same_size_is_fitted_and_has_the_user_s_settings(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    session, viewport = window.session, window.viewer.viewport
    chosen = replace(FAST, n_atoms=11)
    session.set_settings(chosen)
    session.document.apply(advice=TuningOutcome(chosen, "Auto chose", FAST))
    session.cancel()
    viewport.set_zoom(3.0)
    session.opening.set_mask_spec(MaskSpec(mask=files["mask"]))
    settle(window, qtbot)
    assert not viewport.is_fitted, "the same picture"
    window.session.document.discard()
    session.opening.open_file(files["whole"])
    settle(window, qtbot)
    assert viewport.is_fitted
    assert session.state.settings == FAST
    assert session.state.advice is None


@pytest.mark.parametrize("painted", [False, True])
def test_exporting_all_work_leads_on(window, qtbot, files, tmp_path, monkeypatch, painted) -> None:
    restored(window, qtbot, files["damaged"])
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
        said.append("preview" in texts(dialog))
        return QDialog.DialogCode.Rejected

    monkeypatch.setattr(file_commands.ExportDialog, "exec", look)
    restored(window, qtbot, files["damaged"])
    trigger(window, "export")
    window.session.set_settings(replace(FAST, sparsity=3))
    trigger(window, "export")
    settle(window, qtbot)
    trigger(window, "export")
    assert said == [False, True, True]


def test_damage_is_simulated_by_the_dialog(window, qtbot, files, monkeypatch) -> None:
    opened(window, qtbot, files["whole"])
    monkeypatch.setattr(file_commands.DamageDialog, "exec", lambda _dialog: QDialog.DialogCode.Accepted)
    trigger(window, "damage")
    settle(window, qtbot)
    assert window.session.state.source.damage == str(Damage())
    assert window.session.document.mask.any()


def test_a_folder_names_the_entry_that_restores_it(window, qtbot, tmp_path) -> None:
    opened(window, qtbot, tmp_path)
    assert window.actions_["batch"].text().replace("&", "").rstrip(" …") in window.banner.text


# Clipboard


def test_a_picture_is_pasted_and_copied(window, qtbot) -> None:
    image = QImage(40, 30, QImage.Format.Format_RGBA8888)
    image.fill(0xFF336699)
    image.setPixelColor(3, 4, Qt.GlobalColor.transparent)
    QGuiApplication.clipboard().setImage(image)
    window.session.set_settings(FAST)
    trigger(window, "paste")
    settle(window, qtbot)
    assert window.session.state.source.shape == (30, 40)
    assert np.argwhere(window.session.document.mask).tolist() == [[4, 3]]
    trigger(window, "restore")
    settle(window, qtbot)
    trigger(window, "copy")
    settle(window, qtbot)
    copied = QGuiApplication.clipboard().image()
    assert (copied.width(), copied.height()) == (40, 30)
    assert copied.pixelColor(3, 4) == copied.pixelColor(10, 10)


def test_an_empty_clipboard_is_a_sentence(window) -> None:
    QGuiApplication.clipboard().setText("words")
    trigger(window, "paste")
    assert "clipboard" in window.banner.text


# Drag and drop


def drag_over(window, *paths: Path) -> QMimeData | None:
    """Drag files over the window; return them if they would be taken."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    button, key = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    event = QDragEnterEvent(QPoint(50, 50), Qt.DropAction.CopyAction, data, button, key)
    event.ignore()
    window.dragEnterEvent(event)
    return data if event.isAccepted() else None


def drop(window, *paths: Path) -> None:
    data = drag_over(window, *paths)
    button, key = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(50, 50), Qt.DropAction.CopyAction, data, button, key))


def test_files_are_dropped_and_told_apart(window, qtbot, files) -> None:
    window.session.set_settings(FAST)
    drop(window, files["mask"], files["whole"])
    settle(window, qtbot)
    assert window.session.state.source.path == files["whole"]
    assert window.session.state.source.missing.sources == ("mask",)
    assert window.statusBar().currentMessage() == ""


def test_what_a_drop_leaves_out_is_named(window, qtbot, files, tmp_path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    drop(window, files["whole"], files["damaged"], folder)
    settle(window, qtbot)
    assert window.session.state.source.path == files["whole"]
    assert window.statusBar().currentMessage().startswith("damaged.png and folder were left out")
    drop(window, folder, files["whole"])
    assert window.statusBar().currentMessage().startswith("whole.png was left out")
    window.findChild(BatchDialog).close()


def test_only_what_can_be_opened_is_taken(window, files, tmp_path) -> None:
    frame = window.findChild(DropFrame)
    (tmp_path / "notes.txt").write_text("words")
    assert drag_over(window, tmp_path / "notes.txt") is None
    assert not frame.isVisible()
    assert drag_over(window, files["whole"]) is not None
    assert frame.isVisible()
    window.dragLeaveEvent(QDragLeaveEvent())
    assert not frame.isVisible()


def test_a_closed_picture_leaves_the_window_as_it_was_before_it(window, qtbot, files) -> None:
    restored(window, qtbot, files["damaged"])
    window.session.document.discard()
    trigger(window, "close")
    settle(window, qtbot)
    assert window.session.state.source is None
    assert window.welcome.isVisible()
    assert not window.side.isVisible()
    assert len(window.session.state.runs) == 0
    assert all(not pane.canvas.has_picture for pane in window.viewer.panes.values())
    assert not window.actions_["restore"].isEnabled()
    assert window.windowTitle() == "Inpaint"
    opened(window, qtbot, files["whole"])
    assert window.viewer.panes["damaged"].canvas.has_picture


def test_unsaved_work_is_not_closed_unasked(window, qtbot, files, monkeypatch) -> None:
    restored(window, qtbot, files["damaged"])
    monkeypatch.setattr(file_dialogs, "ask_about_unsaved", lambda *_args: "stay")
    trigger(window, "close")
    assert window.session.state.source is not None


def test_what_is_being_written_is_not_asked_about(window, qtbot, files, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(file_dialogs, "ask_about_unsaved", lambda *_args: pytest.fail("asked"))
    restored(window, qtbot, files["damaged"])
    path = tmp_path / "restored.png"
    window.session.exporting.write_restored(Output(path))
    assert window.close()
    assert path.is_file()


def test_lost_work_does_not_replace_unsaved_work_unasked(window, qtbot, files, tmp_path, monkeypatch) -> None:
    session, lost = window.session, tmp_path / "1-2.inpaint"
    lost.write_bytes(b"of another picture")
    opened(session, qtbot, files["damaged"])
    session.masking.invert()
    settle(session, qtbot)
    session.lost_work.offer([lost])
    monkeypatch.setattr(file_dialogs, "ask_about_unsaved", lambda *_args: "stay")
    bar = window.offers[session.offers.index(session.lost_work)]
    bar.accepted.emit()
    settle(session, qtbot)
    assert session.lost_work.sentence, "it is still offered"
    assert session.state.has_unsaved_mask
    monkeypatch.setattr(file_dialogs, "ask_about_unsaved", lambda *_args: "discard")
    bar.accepted.emit()
    settle(session, qtbot)
    assert session.lost_work.sentence == ""
