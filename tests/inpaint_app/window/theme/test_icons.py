"""Icons in the colors of a palette."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon, QImage, QPalette

from inpaint_app.errors import UserError
from inpaint_app.io.assets import asset
from inpaint_app.window.theme.icons import app_icon, icon, tinted
from inpaint_app.window.theme.theme import palette_of

NAMES = sorted(file.stem for file in Path(str(asset("icon.svg"))).with_name("icons").iterdir())


def values(pixmap):
    image = pixmap.toImage().convertToFormat(QImage.Format.Format_RGBA8888)
    return np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4).copy()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [16, 64])
def test_every_icon_shows_something_in_the_color_asked_for(qapp, name, size):
    found = values(tinted(name, size, QColor(250, 30, 20)))
    drawn = found[..., 3] > 128
    assert found.shape == (size, size, 4)
    assert 0.03 < drawn.mean() < 0.7
    assert np.abs(found[drawn][:, :3].astype(int) - (250, 30, 20)).max() <= 2


@pytest.mark.parametrize("name", NAMES)
def test_no_icon_is_cut_off(qapp, name):
    alpha = values(tinted(name, 48, QColor("black")))[..., 3]
    border = np.concatenate((alpha[0], alpha[-1], alpha[:, 0], alpha[:, -1]))
    assert border.max() < 64


def test_icons_differ(qapp):
    drawings = {values(tinted(name, 24, QColor("black"))).tobytes() for name in NAMES}
    assert len(drawings) == len(NAMES)


@pytest.mark.parametrize("dark", [False, True])
def test_icons_take_the_colors_of_buttons_enabled_and_disabled(qapp, dark):
    palette = palette_of(dark)
    made = icon("stop", palette)
    groups = {
        QIcon.Mode.Normal: QPalette.ColorGroup.Active,
        QIcon.Mode.Disabled: QPalette.ColorGroup.Disabled,
    }
    for mode, group in groups.items():
        middle = values(made.pixmap(QSize(32, 32), 1.0, mode))[16, 16, :3]
        expected = palette.color(group, QPalette.ColorRole.ButtonText).getRgb()[:3]
        assert np.abs(middle.astype(int) - expected).max() <= 2


def test_icons_are_sharp_on_dense_displays(qapp):
    assert icon("brush", palette_of(False)).pixmap(QSize(24, 24), 2.0).width() == 48


def test_app_icon_comes_in_many_sizes(qapp):
    sizes = {size.width() for size in app_icon().availableSizes()}
    assert {16, 32, 48, 256} <= sizes
    assert values(app_icon().pixmap(128, 128))[64, 64, 3] == 255


def test_a_missing_file_is_said_in_a_sentence(qapp):
    with pytest.raises(UserError, match="install the program again"):
        tinted("no-such-icon", 16, QColor("black"))
