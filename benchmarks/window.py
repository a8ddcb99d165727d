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

#: When something began and ended, in seconds.
Gap = tuple[float, float]

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
    from PySide6.QtWidgets import QApplication

    from inpaint_app.window.main_window import MainWindow
    from inpaint_app.window.preferences import Preferences
    from inpaint_app.window.theme.theme import ThemeSwitch

    application = QApplication.instance() or QApplication(["benchmark"])
    assert isinstance(application, QApplication)
    preferences = Preferences(Path(tempfile.mkdtemp()) / "preferences.json")
    window = MainWindow(preferences, ThemeSwitch(application))
    window.show()
    application.processEvents()
    return window


#: Sleeps and nothing else; tells when it was woken more than 5 ms too late.
_WITNESS = """
import time
last = time.perf_counter()
while True:
    time.sleep(0.001)
    now = time.perf_counter()
    if now - last > 0.006:
        print(last, now, flush=True)
    last = now
"""


class _Witness:
    """Another process, which sees when the machine stands still for everybody."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", _WITNESS], stdout=subprocess.PIPE, text=True)

    def stalls(self) -> list[Gap]:
        """End, and return when it was kept waiting."""
        self._process.terminate()
        printed, _ = self._process.communicate()
        times = [[float(word) for word in line.split()] for line in printed.splitlines()]
        return [(start, end) for start, end in times]


def _own_part(gap: Gap, stalls: list[Gap]) -> float:
    """Return how many seconds of a gap the witness was not kept waiting too."""
    shared = sum(max(0.0, min(gap[1], end) - max(gap[0], start)) for start, end in stalls)
    return gap[1] - gap[0] - shared


class _Heart:
    """Beats in the event loop; notes when it was kept from that, and how much of it was work."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self.gaps: list[Gap] = []
        self.work: list[float] = []
        self._last, self._worked = time.perf_counter(), time.thread_time()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start(_BEAT_MS)

    def _beat(self) -> None:
        now, worked = time.perf_counter(), time.thread_time()
        self.gaps.append((self._last, now))
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
        "open": lambda: window.session.opener.open_file(damaged, reference=whole),
        "restore and measure": window.session.restorer.restore,
        "invert the mask": lambda: window.session.edit_mask(lambda mask: mask.invert()),
        "undo": lambda: window.session.edit_mask(lambda mask: mask.undo()),
        "error map": window.actions_.modes["error"].trigger,
        "light up an atom": lambda: window.dictionary.gallery.atom_chosen.emit(3),
        "restore again": window.session.restorer.restore,
    }
    witness = _Witness()
    hearts = {}
    for name, step in steps.items():
        heart, start = _Heart(), time.perf_counter()
        step()
        wait_until_settled(window)
        heart.stop()
        hearts[name] = heart, time.perf_counter() - start
    window.session.unsaved.discard()
    window.close()
    stalls = witness.stalls()
    rows = []
    for name, (heart, seconds) in hearts.items():
        longest = max(end - start for start, end in heart.gaps)
        own = max(_own_part(gap, stalls) for gap in heart.gaps)
        milliseconds = [f"{1000 * value:.0f}" for value in (longest, own, max(heart.work), _GAP_LIMIT)]
        rows.append([name, f"{seconds:.1f}", *milliseconds])
    header = ["step", "seconds", "longest gap, ms", "not shared with a sleeper", "own work", "limit"]
    print_table(f"Gaps in the event loop, {_SIDE} x {_SIDE} gray, 80 % missing", header, rows)
    print(
        "Not shared: without times when another process, which only sleeps, was woken late as well:\n"
        "stalls of the machine, or waits for a core.\n"
        "Own work: the most processor time that the window's thread used within one gap."
    )


def _damaged_file(folder: Path) -> tuple[Path, Path]:
    from inpaint_app.files.assets import ORIGINAL, read_sample
    from inpaint_app.files.write import write_picture
    from inpaint_app.image.damage import damaged, random_mask
    from inpaint_app.image.picture import Picture

    tile = read_sample(ORIGINAL).pixels.mean(axis=2).astype(np.uint8)
    times = -(-_SIDE // min(tile.shape))
    picture = Picture(np.ascontiguousarray(np.tile(tile, (times, times))[:_SIDE, :_SIDE]))
    whole, broken = folder / "whole.png", folder / "damaged.png"
    write_picture(picture, whole)
    write_picture(damaged(picture, random_mask((_SIDE, _SIDE), 0.8, seed=1)), broken)
    return broken, whole
