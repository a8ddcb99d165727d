"""What holds for every test of the window: nothing on the screen, and no window left behind."""

import pytest
from PySide6.QtWidgets import QApplication


@pytest.fixture(autouse=True)
def _no_window_is_left(qapp):
    before = set(QApplication.topLevelWidgets())
    yield
    left = [window for window in QApplication.topLevelWidgets() if window not in before]
    assert [window for window in left if window.isVisible()] == []
