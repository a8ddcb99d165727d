"""The dialog that restores a folder."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLineEdit, QPushButton, QTableWidget
from windows import FAST, find, settle, texts

from dictsel_core import restore
from inpaint_app.files.read import read_picture
from inpaint_app.window.dialogs.batch_dialog import BatchDialog


@pytest.fixture
def dialog(qtbot, session, tmp_path):
    session.set_settings(FAST)
    made = BatchDialog(session, tmp_path)
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def test_a_folder_is_restored(dialog, session, qtbot, files, tmp_path, monkeypatch) -> None:
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "a.png").write_bytes(files["damaged"].read_bytes())
    (folder / "b.png").write_bytes(files["whole"].read_bytes())
    (folder / "c.png").write_bytes(b"no picture")
    dialog.set_folders(folder, output)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_args: pytest.fail("looks for a folder"))
    qtbot.keyClick(find(dialog, QLineEdit, "Folder of damaged pictures"), Qt.Key.Key_Return)
    assert dialog.is_active
    qtbot.waitUntil(lambda: not dialog.is_active, timeout=60_000)
    table = find(dialog, QTableWidget, "Pictures of the batch")
    results = [table.item(row, 4).text() for row in range(3)]
    assert results[0] == "restored"
    assert "No missing pixels" in results[1]
    assert results[2].startswith("c.png ")
    assert not any("--" in text for text in results)
    assert "1 of 3 pictures restored." in texts(dialog)
    assert [path.name for path in output.iterdir()] == ["a.png"]
    damaged = read_picture(files["damaged"])
    expected = restore(damaged.pixels, damaged.alpha == 0, FAST)
    assert np.array_equal(read_picture(output / "a.png").pixels, expected.image)


@pytest.mark.parametrize("way", ["escape", "close"])
def test_leaving_the_dialog_ends_the_batch(dialog, session, qtbot, files, tmp_path, way) -> None:
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.png").write_bytes(files["damaged"].read_bytes())
    dialog.set_folders(folder, output)
    find(dialog, QPushButton, "Restore all").click()
    assert dialog.is_active
    if way == "escape":
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    else:
        dialog.close()
    assert not dialog.isVisible()
    assert not dialog.is_active
    settle(session, qtbot)
    assert not output.exists() or len(list(output.iterdir())) < 5
