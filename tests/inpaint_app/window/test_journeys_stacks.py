"""A microscopist's journey: a damaged volume, looked at page by page and restored as a whole."""

import numpy as np
import tifffile
from PySide6.QtWidgets import QPushButton, QSlider
from windows import FAST, find, settle

from inpaint_app.window.commands import file_commands


def volume() -> np.ndarray:
    """Six planes that change slowly, of 16 bits."""
    planes, rows, columns = np.mgrid[:6, :64, :80]
    waves = np.sin(rows / 6 + planes / 5) * np.cos(columns / 7 - planes / 6)
    return (20_000 + 9_000 * waves).astype(np.uint16)


def test_a_stack_is_looked_at_and_restored(window, qtbot, tmp_path, monkeypatch) -> None:
    whole = volume()
    damaged, mask = whole.copy(), np.random.default_rng(0).random(whole.shape) < 0.3
    damaged[mask] = 0
    for name, values in (("volume.tif", damaged), ("volume_mask.tif", 255 * mask.astype(np.uint8))):
        tifffile.imwrite(tmp_path / name, values, photometric="minisblack")
    target = tmp_path / "restored.tif"
    monkeypatch.setattr(file_commands.file_dialogs, "ask_where_to_write", lambda *_words: target)
    monkeypatch.setattr(
        file_commands.file_dialogs, "ask_for_file", lambda *_words: tmp_path / "volume_mask.tif"
    )
    window.session.set_settings(FAST)
    window.files.open_file(tmp_path / "volume.tif")
    settle(window, qtbot)
    window.files.read("mask")
    settle(window, qtbot)
    assert np.array_equal(window.session.document.mask, mask[0])
    find(window, QSlider, "Page").setValue(5)
    settle(window, qtbot)
    assert np.array_equal(window.session.document.mask, mask[4])
    stages = []
    document = window.session.document
    document.watch(
        lambda _old, new: stages.append("" if new.activity is None else new.activity.progress.stage),
        "activity",
    )
    find(window, QPushButton, "Restore Whole File …").click()
    settle(window, qtbot)
    written = tifffile.imread(target)
    assert written.dtype == np.uint16
    assert np.array_equal(written[~mask], whole[~mask])
    error = np.abs(written.astype(float) - whole)[mask]
    assert error.mean() < 0.02 * 20_000
    assert any("page" in stage for stage in stages), "its progress is told"
