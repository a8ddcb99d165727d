"""The window: how long it takes to start, how long it ever keeps its user waiting, and whether it lasts."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

from benchmarks import window_gaps, window_stress
from benchmarks.measure import print_table

_STARTS = 5
_START_LIMIT = 2.0


def main() -> None:
    """Measure the start in fresh processes, the event loop with 4 and 24 megapixels, and a stress run."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    _measure_start()
    for width, height in ((2000, 2000), (6000, 4000)):
        window_gaps.measure(width, height)
    window_stress.main()


def _measure_start() -> None:
    command = [sys.executable, "-c", "from benchmarks.window_gaps import show_and_leave; show_and_leave()"]
    seconds = []
    for _ in range(_STARTS):
        start = time.perf_counter()
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    rows = [
        ["process to window shown and left again", f"{statistics.median(seconds):.2f}", f"{_START_LIMIT:.2f}"]
    ]
    print_table(f"Start of the window, median of {_STARTS}", ["what", "seconds", "limit"], rows)
