"""The window: how long it takes to start, and how long it ever keeps its user waiting."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.measure import print_table

if TYPE_CHECKING:
    from inpaint_app.window.main_window import MainWindow

_STARTS = 5
_START_LIMIT, _GAP_LIMIT = 2.0, 0.050
_SIDE = 2000
_BEAT_MS = 1


def main() -> None:
    """Measure the start in fresh processes, then the event loop while 4 megapixels are restored."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    _measure_start()
    _measure_gaps()


def _measure_start() -> None:
    command = [sys.executable, "-c", "from benchmarks.window import show_and_leave; show_and_leave()"]
    seconds = []
    for _ in range(_STARTS):
        start = time.perf_counter()
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    rows = [
        ["process to window shown and left again", f"{statistics.median(seconds):.2f}", f"{_START_LIMIT:.2f}"]
    ]
    print_table(f"Start of the window, median of {_STARTS}", ["what", "seconds", "limit"], rows)


def show_and_leave() -> None:
    """Open the window, handle all its events until it can be used, and close it."""
    window = _window()
    window.close()


def _window() -> MainWindow:
    from PySide6.QtCore import QSettings
    from PySide6.QtWidgets import QApplication

    QSettings.setDefaultFormat(QSettings.Format.IniFormat)
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, tempfile.mkdtemp())
    from inpaint_app.window.main_window import MainWindow
    from inpaint_app.window.preferences import Preferences
    from inpaint_app.window.theme import ThemeSwitch

    application = QApplication.instance() or QApplication(["benchmark"])
    assert isinstance(application, QApplication)
    window = MainWindow(Preferences(), ThemeSwitch(application))
    window.show()
    application.processEvents()
    return window


class _Heart:
    """Beats in the event loop; notes how long it was kept from that, and how much of it was work."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self.gaps: list[float] = []
        self.work: list[float] = []
        self._last, self._worked = time.perf_counter(), time.thread_time()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start(_BEAT_MS)

    def _beat(self) -> None:
        now, worked = time.perf_counter(), time.thread_time()
        self.gaps.append(now - self._last)
        self.work.append(worked - self._worked)
        self._last, self._worked = now, worked

    def stop(self) -> None:
        self._timer.stop()


def _measure_gaps() -> None:
    """Do what users do with a picture of 4 megapixels, and print the longest gap of each step."""
    from PySide6.QtTest import QTest

    from inpaint_app.window.app import wait_until_settled

    window = _window()
    damaged, whole = _damaged_file(Path(tempfile.mkdtemp()))
    steps = {
        "nothing (other programs)": lambda: QTest.qWait(3000),
        "open": lambda: window.session.open_file(damaged, reference=whole),
        "restore and measure": window.session.restore,
        "invert the mask": lambda: window.session.edit_mask(lambda mask: mask.invert()),
        "undo": lambda: window.session.edit_mask(lambda mask: mask.undo()),
        "error map": window.actions_["error"].trigger,
        "light up an atom": lambda: window.dictionary.gallery.atom_chosen.emit(3),
        "restore again": window.session.restore,
    }
    rows = []
    for name, step in steps.items():
        heart, start = _Heart(), time.perf_counter()
        step()
        wait_until_settled(window)
        heart.stop()
        seconds = time.perf_counter() - start
        milliseconds = [f"{1000 * value:.0f}" for value in (max(heart.gaps), max(heart.work), _GAP_LIMIT)]
        rows.append([name, f"{seconds:.1f}", *milliseconds])
    window.session.discard()
    window.close()
    header = ["step", "seconds", "longest gap, ms", "own work in a gap, ms", "limit, ms"]
    print_table(f"Gaps in the event loop, {_SIDE} x {_SIDE} gray, 80 % missing", header, rows)


def _damaged_file(folder: Path) -> tuple[Path, Path]:
    from inpaint_app.damage import damaged, random_mask
    from inpaint_app.picture import Picture
    from inpaint_app.sample import ORIGINAL, read_sample
    from inpaint_app.writing import write_picture

    tile = read_sample(ORIGINAL).pixels.mean(axis=2).astype(np.uint8)
    times = -(-_SIDE // min(tile.shape))
    picture = Picture(np.ascontiguousarray(np.tile(tile, (times, times))[:_SIDE, :_SIDE]))
    whole, broken = folder / "whole.png", folder / "damaged.png"
    write_picture(picture, whole)
    write_picture(damaged(picture, random_mask((_SIDE, _SIDE), 0.8, seed=1)), broken)
    return broken, whole
