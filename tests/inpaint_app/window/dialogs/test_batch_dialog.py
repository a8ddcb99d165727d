"""The dialog that restores a folder."""

import numpy as np
import pytest
import tifffile
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit, QPushButton, QSpinBox, QTableWidget
from windows import FAST, find, settle, texts

from dictsel_core import restore
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import write_picture
from inpaint_app.model.picture import Picture
from inpaint_app.window.dialogs.batch_dialog import BatchDialog


@pytest.fixture
def dialog(qtbot, session, tmp_path):
    session.set_settings(FAST)
    made = BatchDialog(session, tmp_path)
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow, timeout=600_000)
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
    qtbot.waitUntil(lambda: not dialog.is_active, timeout=600_000)
    table = find(dialog, QTableWidget, "Pictures of the batch")
    results = [table.item(row, 4).text() for row in range(3)]
    assert results[0] == "restored"
    assert "intact" in results[1]
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


def test_the_list_is_seen_before_anything_is_restored(dialog, session, qtbot, files, tmp_path) -> None:
    folder, masks = tmp_path / "in", tmp_path / "masks"
    for made in (folder, masks):
        made.mkdir()
    for name in ("a.png", "b.png"):
        (folder / name).write_bytes(files["whole"].read_bytes())
    (masks / "a.png").write_bytes(files["mask"].read_bytes())
    dialog.set_folders(folder, tmp_path / "out")
    settle(session, qtbot)
    table = find(dialog, QTableWidget, "Pictures of the batch")
    assert [table.item(row, 0).text() for row in range(2)] == ["a.png", "b.png"]
    kinds = find(dialog, QComboBox, "Missing pixels are")
    kinds.setCurrentIndex(kinds.findData("folder"))
    assert table.rowCount() == 0, "the masks are not known yet"
    assert not find(dialog, QPushButton, "Restore all").isEnabled()
    find(dialog, QLineEdit, "Folder of masks").setText(str(masks))
    settle(session, qtbot)
    assert [table.item(row, 4).text()[:16] for row in range(2)] == ["to a.png", "There is no mask"]
    assert "1 of 2 pictures can be restored." in texts(dialog)
    dialog.set_folders(tmp_path / "nowhere", tmp_path / "out")
    settle(session, qtbot)
    assert not (tmp_path / "out").exists()


def marked(files, folder, color):
    """Write a picture with a square of a color, in color."""
    pixels = np.repeat(read_picture(files["whole"]).pixels[..., None], 3, axis=2)
    pixels[10:30, 20:40] = color
    write_picture(Picture(pixels), folder / "marked.png")
    return pixels


@pytest.mark.parametrize("kind", ["file", "key"])
def test_one_mask_or_a_color_serves_for_all(dialog, session, qtbot, files, tmp_path, kind) -> None:
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    pixels = marked(files, folder, (250, 0, 250))
    mask = read_picture(files["mask"]).pixels > 0
    if kind == "key":
        mask = np.zeros_like(mask)
        mask[9:31, 19:41] = True  # a marked region grows by a pixel
    kinds = find(dialog, QComboBox, "Missing pixels are")
    kinds.setCurrentIndex(kinds.findData(kind))
    find(dialog, QLineEdit, "Mask").setText(str(files["mask"]))
    find(dialog, QLineEdit, "Color of missing pixels").setText("#ff00ff")
    find(dialog, QSpinBox, "Tolerance of the color").setValue(5)
    dialog.set_folders(folder, output)
    dialog.start()
    settle(session, qtbot)
    expected = restore(pixels, mask, FAST, channel_axis=-1)
    assert np.array_equal(read_picture(output / "marked.png").pixels, expected.image)


def test_pages_and_bands_that_the_window_cannot_show_are_all_restored(
    dialog, session, qtbot, tmp_path
) -> None:
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    rng = np.random.default_rng(0)
    pages = rng.random((2, 24, 24)).astype(np.float32)
    pages[:, 8:10, 8:10] = np.nan
    tifffile.imwrite(folder / "stack.tif", pages, photometric="minisblack")
    dialog.set_folders(folder, output)
    find(dialog, QPushButton, "Restore all").click()
    qtbot.waitUntil(lambda: not dialog.is_active, timeout=600_000)
    written = tifffile.imread(output / "stack.tif")
    assert written.shape == pages.shape
    assert np.isfinite(written).all()
