"""From a damaged file to a restored one in as few actions as possible."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gestures import drag
from PIL import Image
from PySide6.QtWidgets import QDialog, QPushButton
from windows import FAST, at, find, settle, trigger

from dictsel_core import restore
from dictsel_core.grain import match_grain
from inpaint_app.io.assets import ORIGINAL, read_sample
from inpaint_app.io.read import read_picture
from inpaint_app.window.commands import file_commands
from inpaint_app.window.dialogs import file_dialogs


@pytest.fixture
def export_to(tmp_path, monkeypatch):
    """Answer the export dialog with a path."""

    def accept(dialog) -> QDialog.DialogCode:
        dialog.set_path(tmp_path / "restored.png")
        return QDialog.DialogCode.Accepted

    monkeypatch.setattr(file_commands.ExportDialog, "exec", accept)
    return tmp_path / "restored.png"


def write_jpeg(path: Path, pixels: np.ndarray) -> Path:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=90)
    path.write_bytes(file.getvalue())
    return path


def open_restore_export(window, qtbot, path: Path) -> None:
    """Open a picture, and take up the offer to restore what is marked in it."""
    window.session.set_settings(FAST)
    window.files.open_file(path)
    settle(window, qtbot)
    find(window, QPushButton, "Restore Them").click()
    settle(window, qtbot)
    trigger(window, "export")
    settle(window, qtbot)


def test_red_marks_on_a_jpeg_open_restore_export(window, qtbot, tmp_path, export_to) -> None:
    pixels = read_sample(ORIGINAL).pixels[:160, :200].copy()
    pixels[80:84, 20:180] = (255, 0, 0)
    path = write_jpeg(tmp_path / "marked.jpg", pixels)
    window.files.open_file(path)
    settle(window, qtbot)
    hatched = window.viewer.panes["result"].canvas.content.mask.level(0) > 0
    assert hatched[80:84, 20:180].all(), "what would be restored is seen before it is offered"
    assert hatched.mean() < 0.1
    assert not window.session.document.mask.any()
    open_restore_export(window, qtbot, path)
    line = read_picture(export_to).pixels[80:84, 20:180].astype(int)
    assert np.median(line[..., 0] - line[..., 1]) < 60, "it is no longer red"


def test_a_watermark_with_a_mask_beside_it_open_restore_export(window, qtbot, tmp_path, export_to) -> None:
    pixels = read_sample(ORIGINAL).pixels[:160, :200].copy()
    mask = np.zeros(pixels.shape[:2], np.uint8)
    mask[80:84, 20:180] = 255
    pixels[mask > 0] = 255
    Image.fromarray(mask).save(tmp_path / "photo_mask.png")
    open_restore_export(window, qtbot, write_jpeg(tmp_path / "photo.jpg", pixels))
    line = read_picture(export_to).pixels[80:84, 20:180]
    assert np.median(line) < 200, "it is no longer white"


def test_an_object_open_draw_around_export(window, qtbot, tmp_path, export_to) -> None:
    pixels = read_sample(ORIGINAL).pixels[:160, :200].copy()
    pixels[60:120, 70:130] = (40, 90, 200)
    window.session.set_settings(FAST)
    window.files.open_file(write_jpeg(tmp_path / "object.jpg", pixels))
    settle(window, qtbot)
    canvas = window.viewer.panes["result"].canvas
    corners = ((56, 66), (56, 134), (124, 134), (124, 66), (60, 66))
    drag(canvas, *(at(canvas, *corner) for corner in corners))
    settle(window, qtbot)
    trigger(window, "export")
    settle(window, qtbot)
    restored = read_picture(export_to).pixels[60:120, 70:130].astype(int)
    assert np.median(restored[..., 2] - restored[..., 0]) < 60, "it is no longer blue"


def cracked_photograph() -> tuple[np.ndarray, np.ndarray]:
    """A photograph with a white crack, and where it is."""
    pixels = read_sample(ORIGINAL).pixels[:160, :200].copy()
    crack = np.zeros(pixels.shape[:2], bool)
    rows = np.arange(20, 140)
    for row, column in zip(rows, (60 + 12 * np.sin(rows / 15)).astype(int), strict=True):
        crack[row, column : column + 3] = True
    pixels[crack] = 252
    return pixels, crack


def test_an_old_photograph_open_repair(window, qtbot, tmp_path) -> None:
    pixels, crack = cracked_photograph()
    Image.fromarray(pixels).save(tmp_path / "old.png")
    notices: list[str] = []
    window.session.document.notice.connect(notices.append)
    window.session.set_settings(FAST)
    window.files.open_file(tmp_path / "old.png")
    settle(window, qtbot)
    trigger(window, "repair")
    settle(window, qtbot)
    session = window.session
    mask, repaired = session.document.mask.copy(), session.state.runs.current.image
    assert mask[crack].mean() > 0.9
    assert np.median(repaired[crack]) < 200, "it is no longer white"
    assert (repaired[~mask] == pixels[~mask]).all()
    library = restore(pixels, mask, FAST).image
    assert (repaired == match_grain(library, mask)).all()
    assert notices[-1].startswith("Repaired ")
    assert "crack" in notices[-1]
    assert window.status.currentMessage() == notices[-1]
    assert window.actions_["undo"].text() == "&Undo Found Damage"
    trigger(window, "undo")
    settle(window, qtbot)
    assert not window.status.currentMessage(), "what was told of a step does not outlive it"
    assert not session.document.mask.any()


def test_a_photograph_is_repaired_from_the_start_page(window, qtbot, tmp_path, monkeypatch) -> None:
    pixels, crack = cracked_photograph()
    Image.fromarray(pixels).save(tmp_path / "old.png")
    window.session.set_settings(FAST)
    monkeypatch.setattr(file_dialogs, "ask_for_file", lambda *_arguments: tmp_path / "old.png")
    find(window.welcome, QPushButton, "Repair photo …").click()
    settle(window, qtbot)
    assert np.median(window.session.state.runs.current.image[crack]) < 200


def test_where_nothing_is_found_nothing_is_restored(window, qtbot, tmp_path) -> None:
    Image.fromarray(np.full((96, 96), 120, np.uint8)).save(tmp_path / "plain.png")
    notices: list[str] = []
    window.session.document.notice.connect(notices.append)
    window.files.open_file(tmp_path / "plain.png")
    settle(window, qtbot)
    trigger(window, "repair")
    settle(window, qtbot)
    assert window.session.state.runs.current is None
    assert notices[-1].startswith("No damage was found")


def test_a_repair_that_is_cancelled_leaves_no_mark(window, qtbot, tmp_path) -> None:
    pixels, _crack = cracked_photograph()
    Image.fromarray(pixels).save(tmp_path / "old.png")
    window.files.open_file(tmp_path / "old.png")
    settle(window, qtbot)
    trigger(window, "repair")
    trigger(window, "cancel")
    settle(window, qtbot)
    assert not window.session.document.mask.any()
    assert window.session.state.runs.current is None


_KILLED = """
import sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
from inpaint_app.window.app import wait_until_settled
from inpaint_app.window.main_window import MainWindow
from inpaint_app.window.preferences import Preferences
from inpaint_app.window.theme.theme import ThemeSwitch

folder = Path(sys.argv[1])
application = QApplication([])
window = MainWindow(Preferences(folder / "preferences.json"), ThemeSwitch(application))
window.show()
window.keep_state(folder / "state")
window.files.open_file(folder / "old.png")
wait_until_settled(window)
window.actions_["repair"].trigger()
wait_until_settled(window)
while not window.session.autosaving.is_settled:
    application.processEvents()
print("ready", flush=True)
application.exec()
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_a_repair_is_recovered_after_the_program_was_killed(window, qtbot, qtlog, tmp_path) -> None:
    pixels, crack = cracked_photograph()
    Image.fromarray(pixels).save(tmp_path / "old.png")
    command = [sys.executable, "-c", _KILLED, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGKILL)
    window.keep_state(tmp_path / "state")
    settle(window, qtbot)
    offer = next(bar for bar in window.offers if "old.png" in bar.text)
    find(offer, QPushButton, "Recover").click()
    settle(window, qtbot)
    state = window.session.state
    assert window.session.document.mask[crack].mean() > 0.9
    assert np.median(state.runs.current.image[crack]) < 200, "it is no longer white"
    assert state.has_unsaved_result, "until it is saved in a file of the user's"
    assert window.isWindowModified()
    assert not [record.message for record in qtlog.records if "placeholder" in record.message]
