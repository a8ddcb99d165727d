"""From a damaged file to a restored one in as few actions as possible."""

import io
from pathlib import Path

import numpy as np
import pytest
from gestures import drag
from PIL import Image
from PySide6.QtWidgets import QDialog, QPushButton
from windows import FAST, at, find, settle, trigger

from inpaint_app.files.assets import ORIGINAL, read_sample
from inpaint_app.files.read import read_picture
from inpaint_app.window.commands import file_commands


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
    open_restore_export(window, qtbot, write_jpeg(tmp_path / "marked.jpg", pixels))
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
    canvas = window.viewer.panes["damaged"].canvas
    corners = ((56, 66), (56, 134), (124, 134), (124, 66), (60, 66))
    drag(canvas, *(at(canvas, *corner) for corner in corners))
    settle(window, qtbot)
    trigger(window, "export")
    settle(window, qtbot)
    restored = read_picture(export_to).pixels[60:120, 70:130].astype(int)
    assert np.median(restored[..., 2] - restored[..., 0]) < 60, "it is no longer blue"
