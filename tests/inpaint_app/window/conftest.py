"""What holds for every test of the window: nothing is left behind."""

import gc
import threading

import pytest
import shiboken6
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from dictsel_core._util.parallel import single_threaded_blas
from inpaint_app.window import preferences
from inpaint_app.window.actions import Actions
from inpaint_app.window.background.work import WorkerPool, release_all
from inpaint_app.window.main_window import MainWindow
from inpaint_app.window.preferences import Preferences
from inpaint_app.window.session import Session
from inpaint_app.window.theme.theme import Theme, ThemeSwitch


@pytest.fixture(scope="session")
def earlier_objects_set_aside():
    """Keep what already exists out of the search for what a test leaves: there is ten times as much of it."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def nothing_is_left_behind(qapp, earlier_objects_set_aside):
    """Fail on threads, running timers and top-level widgets that a test leaves."""
    with single_threaded_blas:  # its one thread stays
        pass
    threads, widgets = set(threading.enumerate()), set(map(id, QApplication.topLevelWidgets()))
    yield
    release_all()
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
def own_preferences(tmp_path, monkeypatch):
    """Keep what the window remembers inside the test."""
    path = tmp_path / "remembered" / "preferences.json"
    monkeypatch.setattr(preferences, "preferences_path", lambda: path)
    return path


@pytest.fixture
def workers(qapp):
    made = WorkerPool(2)
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
        window.session.document.discard()
        window.close()
        window.deleteLater()


@pytest.fixture
def window(make_window):
    return make_window()


@pytest.fixture
def session(qapp):
    made = Session()
    made.complaints = []
    made.document.problem.connect(made.complaints.append)
    yield made
    made.close()


@pytest.fixture
def actions(session):
    """The actions of a session without a window: those of the mask work, and all follow the picture."""
    owner = QObject()
    made = Actions(owner)
    made["invert"].triggered.connect(session.masking.invert)
    made["clear"].triggered.connect(session.masking.clear)
    session.document.watch(lambda _old, new: made.enable(["picture"] if new.source else []), "source")
    made.enable([])
    yield made
    owner.deleteLater()
