"""How long an event loop was blocked, and how much of that was its own work."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time

#: When something began and ended, in seconds.
Gap = tuple[float, float]

_BEAT_MS = 1

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


class Witness:
    """Another process, which sees when the machine stands still for everybody."""

    def __init__(self) -> None:
        self._output = tempfile.TemporaryFile("w+")  # noqa: SIM115  (a pipe would fill up)
        self._process = subprocess.Popen([sys.executable, "-c", _WITNESS], stdout=self._output)

    def stalls(self) -> list[Gap]:
        """End, and return when it was kept waiting."""
        self._process.terminate()
        self._process.wait()
        self._output.seek(0)
        lines = [line.split() for line in self._output if line.endswith("\n")]
        self._output.close()
        return [(float(start), float(end)) for start, end in lines]


class Heartbeat:
    """Beats in the event loop of this thread; notes when it was kept from that."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self.gaps: list[Gap] = []
        self._work: list[float] = []
        self._last, self._worked = time.perf_counter(), time.thread_time()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start(_BEAT_MS)

    def _beat(self) -> None:
        now, worked = time.perf_counter(), time.thread_time()
        self.gaps.append((self._last, now))
        self._work.append(worked - self._worked)
        self._last, self._worked = now, worked

    def stop(self) -> None:
        """Count the time since the last beat, and end."""
        self._beat()
        self._timer.stop()

    @property
    def longest(self) -> float:
        """The longest gap in seconds."""
        return max(end - start for start, end in self.gaps)

    @property
    def most_work(self) -> float:
        """The most processor time of this thread within one gap, in seconds."""
        return max(self._work)

    def longest_own(self, stalls: list[Gap]) -> float:
        """Return the longest gap without the times in which a witness was kept waiting too."""
        return max(
            end - start - sum(max(0.0, min(end, b) - max(start, a)) for a, b in stalls)
            for start, end in self.gaps
        )
