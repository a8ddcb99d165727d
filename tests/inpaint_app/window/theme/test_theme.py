"""Light and dark."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.window.canvas.canvas import Canvas
from inpaint_app.window.canvas.image_pyramid import as_uint32
from inpaint_app.window.canvas.viewport import Viewport
from inpaint_app.window.theme.colors import DARK, LIGHT, colors_of, is_dark
from inpaint_app.window.theme.theme import Theme, ThemeSwitch, palette_of
from inpaint_app.window.viewer.panes import PicturePane
from inpaint_app.window.widgets.labels import SecondaryLabel
from inpaint_app.window.widgets.sliders import Quantity, SliderField

Role = QPalette.ColorRole
PAIRS = [
    (Role.WindowText, Role.Window),
    (Role.Text, Role.Base),
    (Role.Text, Role.AlternateBase),
    (Role.ButtonText, Role.Button),
    (Role.ToolTipText, Role.ToolTipBase),
    (Role.HighlightedText, Role.Highlight),
    (Role.PlaceholderText, Role.Base),
    (Role.Link, Role.Window),
]


def luminance(color) -> float:
    def linear(value):
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF())


def contrast(first, second) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.fixture
def switch(qapp):
    palette = qapp.palette()
    made = ThemeSwitch(qapp)
    yield made
    qapp.styleHints().unsetColorScheme()
    made.deleteLater()
    qapp.setStyle("Fusion")
    qapp.setPalette(palette)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_words_can_be_read(dark, text, ground):
    palette = palette_of(dark)
    assert contrast(palette.color(text), palette.color(ground)) >= 4.5


@pytest.mark.parametrize(("dark", "colors"), [(False, LIGHT), (True, DARK)])
def test_own_colors_can_be_told_from_their_ground(dark, colors):
    palette = palette_of(dark)
    window = palette.color(Role.Window)
    assert contrast(colors.soft_text, window) >= 4.5
    assert contrast(colors.soft_text, colors.surround) >= 4.5
    for ground in (colors.notice, colors.trouble):
        assert contrast(palette.color(Role.WindowText), ground) >= 4.5
    assert contrast(colors.plot, palette.color(Role.Base)) >= 3


@pytest.mark.parametrize("dark", [False, True])
def test_disabled_words_are_fainter(dark):
    palette = palette_of(dark)
    faded = palette.color(QPalette.ColorGroup.Disabled, Role.WindowText)
    ground = palette.color(Role.Window)
    assert 2.5 <= contrast(faded, ground) < contrast(palette.color(Role.WindowText), ground)


def test_themes_change_while_the_program_runs(qtbot, qapp, switch):
    widget = QWidget()
    qtbot.addWidget(widget)
    for theme, dark in ((Theme.DARK, True), (Theme.LIGHT, False), (Theme.DARK, True)):
        switch.set_theme(theme)
        qapp.processEvents()
        assert switch.theme is theme
        assert is_dark(widget.palette()) is dark
        assert colors_of(widget.palette()) is (DARK if dark else LIGHT)


def test_widgets_with_colors_of_their_own_follow(qtbot, qapp, switch):
    quantity = Quantity(label="Rounds", minimum=0, maximum=9, default=None)
    label, field, pane = SecondaryLabel("words"), SliderField(quantity), PicturePane(Canvas(Viewport()))
    widgets = (label, field, pane)
    for widget in widgets:
        qtbot.addWidget(widget)
        widget.resize(200, 120)
        widget.show()
    for dark in (True, False, True):
        switch.set_theme(Theme.DARK if dark else Theme.LIGHT)
        qapp.processEvents()
        colors = DARK if dark else LIGHT
        assert label.palette().color(Role.WindowText) == colors.soft_text
        assert field.findChild(QSlider).palette().color(Role.Accent) == palette_of(dark).color(Role.Mid)
        surround = pane.canvas.grab().toImage().pixelColor(2, 2)
        assert surround.getRgb() == colors.surround.getRgb()


@pytest.mark.parametrize("theme", [Theme.LIGHT, Theme.DARK])
def test_edges_and_focus_stand_out(qtbot, qapp, switch, theme):
    switch.set_theme(theme)
    window = QWidget()
    qtbot.addWidget(window)
    layout = QVBoxLayout(window)
    pane = PicturePane(Canvas(Viewport()))
    controls = [QLineEdit(), QSpinBox(), QComboBox(), QPushButton("Restore"), QCheckBox(), QRadioButton()]
    controls.append(QSlider(Qt.Orientation.Horizontal))
    for control in (*controls, pane):
        layout.addWidget(control)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=600_000)
    ground, colors = window.palette().color(Role.Window), colors_of(window.palette())
    pane.canvas.setFocus()
    image = window.grab().toImage()
    for control in controls:
        place = control.mapTo(window, QPoint(0, control.height() // 2))
        edge = [image.pixelColor(place.x() + across, place.y()) for across in range(5)]
        assert max(contrast(color, ground) for color in edge) >= 3, control
    for other in (ground, colors.surround, window.palette().color(Role.Base)):
        assert contrast(colors.focus, other) >= 3
    for control in (*controls, pane.canvas):
        qtbot.keyClick(qapp.focusWidget(), Qt.Key.Key_Tab)
        assert control.hasFocus()
        image = window.grab(QRect(control.mapTo(window, QPoint()), control.size())).toImage()
        assert (as_uint32(image) == colors.focus.rgb()).sum() >= 2 * 8, control


def test_the_system_is_followed_where_asked_for_and_nowhere_else(switch, qapp):
    system_changed = qapp.styleHints().colorSchemeChanged
    for theme in (Theme.SYSTEM, Theme.DARK, Theme.LIGHT):
        switch.set_theme(theme)
        system_changed.emit(Qt.ColorScheme.Dark)
        assert is_dark(qapp.palette()) is (theme is not Theme.LIGHT)
        system_changed.emit(Qt.ColorScheme.Light)
        assert is_dark(qapp.palette()) is (theme is Theme.DARK)
