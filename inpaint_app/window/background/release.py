"""Give large memory back without keeping the event loop waiting."""

from collections import deque
from functools import cache

from PySide6.QtCore import QTimer

#: Between two things: other events are handled meanwhile.
_PAUSE_MS = 1

_held: deque[object] = deque()


def release_later(*things: object) -> None:
    """Hold things a little longer, and let go of one at a time between other events.

    Giving back the memory of a picture of 24 megapixels takes 10 milliseconds, and closing it frees several.
    To be called by the GUI thread.
    """
    _held.extend(thing for thing in things if thing is not None)
    if _held and not _timer().isActive():
        _timer().start(_PAUSE_MS)


def release_all() -> None:
    """Let go of everything now, before the event loop ends."""
    _timer().stop()
    _held.clear()


@cache
def _timer() -> QTimer:
    timer = QTimer()
    timer.timeout.connect(_release_one)
    return timer


def _release_one() -> None:
    _held.popleft()
    if not _held:
        _timer().stop()
