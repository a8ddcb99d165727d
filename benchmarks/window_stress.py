"""The window under stress: many keys, runs and pictures; it must say nothing, and memory must stay level."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import print_table
from benchmarks.window_gaps import make_window, process_events, tiled_photograph

_KEYS, _RUNS, _PICTURES, _SIDE = 140, 15, 20, 1000
#: Pictures after which memory is first looked at.
_WARM = 5


def main() -> None:
    """Run the tests of endurance in processes of their own, and print what they led to."""
    rows = [_row(name) for name in TESTS]
    print_table("Stress", ["what", "on stderr", "outcome"], rows)


def _row(name: str) -> list[str]:
    command = [sys.executable, "-c", f"from benchmarks.window_stress import run; run({name!r})"]
    environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    lines = [line for line in done.stderr.splitlines() if "propagateSizeHints" not in line]
    for line in lines[-20:]:
        print(f"  {name}: {line}")
    outcome = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else f"exit {done.returncode}"
    return [name, f"{len(lines)} lines", outcome]


def run(name: str) -> None:
    """Run one test of endurance in this process; the last line that is printed is its outcome."""
    print(json.dumps(TESTS[name]()))


def _keys_and_runs() -> str:
    """Move a slider by keys, restart a run again and again, and close while it is running."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QSlider

    from inpaint_app.window.app import wait_until_settled

    window = make_window()
    window.session.opening.open_sample()
    wait_until_settled(window)
    slider = next(each for each in window.findChildren(QSlider) if "Dictionary" in each.accessibleName())
    for number in range(_KEYS):
        QTest.keyClick(slider, Qt.Key.Key_Right if number % 3 else Qt.Key.Key_Left)
        process_events()
    for _ in range(_RUNS):
        QTest.keyClick(window, Qt.Key.Key_F5)
        QTest.qWait(40)
    is_running = window.session.state.activity is not None
    window.close()
    return f"{_KEYS} keys, {_RUNS} x F5, closed while {'running' if is_running else 'idle'}"


def _pictures() -> str:
    """Open pictures one after another, restore a stroke in each, and watch the memory."""
    from inpaint_app.io.write import write_picture
    from inpaint_app.model.picture import Rect
    from inpaint_app.window.app import wait_until_settled

    folder, used = Path(tempfile.mkdtemp()), []
    window = make_window()
    for number in range(_PICTURES):
        path = folder / f"{number}.png"
        write_picture(tiled_photograph(_SIDE + number, _SIDE), path)
        window.session.opening.open_file(path)
        wait_until_settled(window)
        window.session.masking.fill(Rect(200, 200, 8, 300))
        window.session.running.restore()
        wait_until_settled(window)
        window.session.document.discard()
        used.append(_memory())
    window.close()
    return f"{used[_WARM - 1]:.0f} MB after {_WARM} pictures, {used[-1]:.0f} MB after {_PICTURES}"


def _large_picture() -> str:
    """Open 24 megapixels with scratches, repair them, and tell the memory that is held then, and the most."""
    from benchmarks.window_gaps import write_scratched
    from inpaint_app.window.app import wait_until_settled

    path = Path(tempfile.mkdtemp()) / "scan.png"
    write_scratched(path, 6000, 4000)
    window = make_window()
    window.session.opening.open_file(path)
    wait_until_settled(window)
    opened = _memory()
    window.session.repair()
    wait_until_settled(window)
    held = _memory()
    window.session.document.discard()
    window.close()
    # Not `ru_maxrss`, which begins with the most of the process that started this one.
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    most = int(peak.split()[1]) * 1024 / 1e6
    return f"{opened:.0f} MB when opened, {held:.0f} MB when repaired, {most:.0f} MB at most"


def _memory() -> float:
    """Return the memory of this process that is in use, in megabytes (Linux)."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


TESTS: dict[str, Callable[[], str]] = {
    "keys and runs": _keys_and_runs,
    "pictures": _pictures,
    "24 megapixels": _large_picture,
}
