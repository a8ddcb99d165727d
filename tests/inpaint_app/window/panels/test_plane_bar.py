"""The bar for pages, bands, range and colors: there where it is needed, and obeyed."""

from itertools import combinations

import numpy as np
import pytest
import tifffile
from gestures import drag
from PySide6.QtCore import QPoint, QPointF, QRect
from PySide6.QtWidgets import QApplication, QComboBox, QDoubleSpinBox, QPushButton, QSlider, QWidget
from windows import choose, find, opened, settle, shown_pixels, trigger

from inpaint_app.model.look import color_table
from inpaint_app.window.widgets.sliders import RangeSlider


@pytest.fixture
def volume(window, qtbot, tmp_path):
    """Four pages of 16 bits, which use few of the values."""
    values = np.random.default_rng(0).integers(1000, 3000, (4, 40, 50), np.uint16)
    tifffile.imwrite(tmp_path / "volume.tif", values, photometric="minisblack")
    opened(window, qtbot, tmp_path / "volume.tif")
    return values


def bar(window) -> QWidget:
    return window.planes


def test_it_is_hidden_for_an_ordinary_photograph(window, qtbot, files) -> None:
    opened(window, qtbot, files["whole"])
    assert not bar(window).isVisible()


def test_slider_and_keys_turn_pages(window, qtbot, volume) -> None:
    assert bar(window).isVisible()
    find(window, QSlider, "Page").setValue(3)
    settle(window, qtbot)
    assert np.array_equal(window.session.state.source.picture.pixels, volume[2])
    assert "page 3 of 4" in window.windowTitle()
    trigger(window, "next_page")
    settle(window, qtbot)
    trigger(window, "next_page")
    settle(window, qtbot)
    assert np.array_equal(window.session.state.source.picture.pixels, volume[3])
    assert find(window, QSlider, "Page").value() == 4


def test_the_slider_goes_back_to_the_page_that_is_shown(window, qtbot, volume) -> None:
    find(window, QSlider, "Page").setValue(3)
    trigger(window, "cancel")
    settle(window, qtbot)
    assert find(window, QSlider, "Page").value() == window.session.state.source.plane.page + 1 == 1


@pytest.mark.parametrize("width", [900, 1160, 1400])
def test_nothing_lies_over_something_else(window, qtbot, volume, width) -> None:
    window.resize(width, 700)
    QApplication.processEvents()
    planes = window.planes
    shown = [planes.page, planes.low, planes.range, planes.high, planes.color_map]
    shown += [button for button in planes.findChildren(QPushButton) if button.isVisibleTo(planes)]
    places = [QRect(widget.mapTo(planes, QPoint()), widget.size()) for widget in shown]
    assert not any(one.intersects(other) for one, other in combinations(places, 2))


def seen(window):
    """The pane that is in sight."""
    return window.viewer.panes[window.viewer.display.visible[0]]


def gray(window) -> np.ndarray:
    return shown_pixels(seen(window)) & 0xFF


def test_the_range_spreads_the_values_over_the_screen(window, qtbot, volume) -> None:
    assert gray(window).max() < 20
    bar(window).findChildren(QPushButton)[1].click()
    settle(window, qtbot)
    assert gray(window).min() == 0
    assert gray(window).max() == 255
    low, high = (find(window, QDoubleSpinBox, f"{end} value shown").value() for end in ("Lowest", "Highest"))
    assert 1000 <= low < 1100
    assert 2900 < high <= 3000
    find(window, QPushButton, "Full").click()
    settle(window, qtbot)
    assert gray(window).max() < 20
    assert np.array_equal(window.session.state.source.picture.pixels, volume[0]), "no value has changed"


def test_a_color_map_colors_one_band(window, qtbot, volume) -> None:
    combo = find(window, QComboBox, "Color map")
    choose(combo, combo.findData("heat"))
    settle(window, qtbot)
    pixel, table = int(shown_pixels(seen(window))[3, 4]), color_table("heat")
    value = round(volume[0, 3, 4] / 65535 * 255)
    assert [(pixel >> shift) & 0xFF for shift in (16, 8, 0)] == table[value].tolist()


def test_a_handle_is_dragged(qtbot) -> None:
    slider = RangeSlider()
    qtbot.addWidget(slider)
    slider.resize(216, 22)
    slider.set_range((0, 200), (0, 200))
    told = []
    slider.changed.connect(lambda *values: told.append(values))
    drag(slider, QPointF(208, 11), QPointF(158, 11), QPointF(108, 11))
    assert slider.values == pytest.approx((0, 100), abs=2)
    drag(slider, QPointF(8, 11), QPointF(190, 11))
    assert slider.values[0] == slider.values[1], "handles do not pass each other"
    assert told[-1] == slider.values


def test_a_channel_of_a_color_picture_is_shown_alone(window, qtbot, tmp_path) -> None:
    values = np.random.default_rng(0).integers(0, 65535, (40, 50, 3), np.uint16)
    tifffile.imwrite(tmp_path / "color.tif", values, photometric="rgb")
    opened(window, qtbot, tmp_path / "color.tif")
    combo = find(window, QComboBox, "Channel")
    choose(combo, 2)
    settle(window, qtbot)
    assert abs(int(gray(window)[3, 4]) - values[3, 4, 1] / 257) <= 1
