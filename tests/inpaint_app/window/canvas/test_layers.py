"""Pictures and marks drawn through a viewport: nothing from beyond their borders, and nothing lost."""

import numpy as np
import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QBrush, QColor, QImage, QPainter

from inpaint_app.window.canvas.image_pyramid import as_uint32, build_pyramid
from inpaint_app.window.canvas.layers import Geometry, draw_hatching, draw_pyramid
from inpaint_app.window.canvas.mask_pyramid import MaskPyramid


@pytest.mark.parametrize("zoom", [0.37, 1.0, 1.2666, 460 / 300, 1.77, 3.3, 4.999])
@pytest.mark.parametrize("top", [-7.3, 0.0, 15.0, 15.25, 15.5 + 1e-9])
def test_no_row_or_column_comes_from_beyond_the_picture(qapp, zoom, top) -> None:
    white = np.full((60, 45), 255, np.uint8)
    sheet = QImage(300, 360, QImage.Format.Format_RGB32)
    sheet.fill(QColor(255, 0, 0))
    painter = QPainter(sheet)
    draw_pyramid(painter, build_pyramid(white), Geometry(top + 3, top, zoom, 45, 60), QRect(0, 0, 300, 360))
    painter.end()
    drawn = as_uint32(sheet).copy() & 0xFFFFFF
    assert set(np.unique(drawn)) == {0xFF0000, 0xFFFFFF}
    rows = np.flatnonzero((drawn == 0xFFFFFF).any(axis=1))
    expected = min(60 * zoom, 60 * zoom + top)
    assert abs(len(rows) - expected) <= 1


@pytest.mark.parametrize("zoom", [0.3, 0.51, 0.8, 1.0, 2.0])
def test_large_pictures_are_drawn_as_small_ones_are(qapp, monkeypatch, zoom) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (700, 900, 3), np.uint8)
    small = build_pyramid(pixels)
    monkeypatch.setattr("inpaint_app.window.canvas.image_pyramid._LARGE", 1)
    drawn = []
    for pyramid in (small, build_pyramid(pixels)):
        sheet = QImage(300, 360, QImage.Format.Format_RGB32)
        sheet.fill(QColor(255, 0, 0))
        painter = QPainter(sheet)
        draw_pyramid(painter, pyramid, Geometry(-20.3, -7.7, zoom, 900, 700), QRect(0, 0, 300, 360))
        painter.end()
        drawn.append(as_uint32(sheet).copy())
    assert np.array_equal(*drawn)


@pytest.mark.parametrize("place", [1000, 1007, 1015])
def test_a_thin_scratch_is_seen_in_a_large_picture(qapp, place) -> None:
    mask = np.zeros((4096, 4096), np.bool_)
    mask[:, place : place + 2] = True
    sheet = QImage(256, 256, QImage.Format.Format_RGB32)
    sheet.fill(QColor("white"))
    painter = QPainter(sheet)
    area = QRect(0, 0, 256, 256)
    draw_hatching(
        painter, MaskPyramid(mask), Geometry(0, 0, 1 / 16, 4096, 4096), area, QBrush(QColor("black"))
    )
    painter.end()
    darkest = (as_uint32(sheet).copy() & 0xFF).min(axis=1)
    assert (darkest < 0.4 * 255).all()
    assert np.count_nonzero((as_uint32(sheet) & 0xFF) < 255) <= 2 * 256, "no wider than it must be"
