"""What holds for every test of the window: nothing is left behind."""

import gc
import threading

import numpy as np
import pytest
import shiboken6
from PySide6.QtCore import QSettings, QTimer
from PySide6.QtWidgets import QApplication

from dictsel_core._threads import single_threaded_blas
from inpaint_app.files.write import write_picture
from inpaint_app.image.picture import Picture
from inpaint_app.window.main_window import MainWindow
from inpaint_app.window.preferences import Preferences
from inpaint_app.window.session.background import Jobs
from inpaint_app.window.session.session import Session
from inpaint_app.window.theme.theme import Theme, ThemeSwitch


@pytest.fixture(autouse=True)
def nothing_is_left_behind(qapp):
    """Fail on threads, running timers and top-level widgets that a test leaves."""
    with single_threaded_blas:  # its one thread stays
        pass
    threads, widgets = set(threading.enumerate()), set(map(id, QApplication.topLevelWidgets()))
    yield
    qapp.processEvents()
    gc.collect()
    qapp.sendPostedEvents(None, 52)  # QEvent.DeferredDelete
    qapp.processEvents()
    assert set(threading.enumerate()) - threads == set()
    assert [w for w in QApplication.topLevelWidgets() if id(w) not in widgets and w.isVisible()] == []
    timers = [timer for timer in gc.get_objects() if isinstance(timer, QTimer)]
    assert [timer for timer in timers if _is_running(timer)] == []


def _is_running(timer: QTimer) -> bool:
    try:
        return timer.isActive()
    except RuntimeError:  # deleted by Qt already
        return False


@pytest.fixture(autouse=True)
def own_settings(tmp_path):
    """Keep what the window remembers inside the test."""
    QSettings.setDefaultFormat(QSettings.Format.IniFormat)
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(tmp_path / "remembered"))


@pytest.fixture
def jobs(qapp):
    made = Jobs(2)
    yield made
    made.close()


@pytest.fixture
def theme(qapp):
    switch = ThemeSwitch(qapp)
    yield switch
    switch.set_theme(Theme.SYSTEM)
    shiboken6.delete(switch)


@pytest.fixture
def make_window(qtbot, theme):
    windows = []

    def make() -> MainWindow:
        window = MainWindow(Preferences(), theme)
        windows.append(window)
        window.show()
        qtbot.waitExposed(window)
        return window

    yield make
    for window in windows:
        window.session.discard()
        window.close()
        window.deleteLater()


@pytest.fixture
def window(make_window):
    return make_window()


@pytest.fixture
def session(qapp):
    made = Session()
    made.complaints = []
    made.problem.connect(made.complaints.append)
    yield made
    made.close()


@pytest.fixture
def picture() -> Picture:
    """A small picture with structure: 72 x 96, gray."""
    rows, columns = np.mgrid[:72, :96]
    waves = 120 + 60 * np.sin(rows / 5) * np.cos(columns / 7) + 40 * (rows + columns > 90)
    return Picture(waves.astype(np.uint8))


@pytest.fixture
def files(tmp_path, picture):
    """The picture, a damaged copy (alpha), and its mask, as files."""
    mask = np.random.default_rng(3).random(picture.pixels.shape) < 0.5
    alpha = np.where(mask, 0, 255).astype(np.uint8)
    paths = {name: tmp_path / f"{name}.png" for name in ("whole", "damaged", "mask")}
    write_picture(picture, paths["whole"])
    write_picture(Picture(np.where(mask, 0, picture.pixels).astype(np.uint8), alpha), paths["damaged"])
    write_picture(Picture(np.where(mask, 255, 0).astype(np.uint8)), paths["mask"])
    return paths
