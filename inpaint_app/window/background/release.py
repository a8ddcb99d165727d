"""Give large memory back without keeping the event loop waiting."""

from collections import deque

from PySide6.QtCore import QTimer

#: Between two things: other events are handled meanwhile.
_PAUSE_MS = 1

_held: deque[object] = deque()


def release_later(*things: object) -> None:
    """Hold things a little longer, and let go of one at a time between other events.

    Giving back the memory of a picture of 24 megapixels takes 10 milliseconds, and closing it frees several.
    To be called by the GUI thread.
    """
    is_waiting = bool(_held)
    _held.extend(thing for thing in things if thing is not None)
    if _held and not is_waiting:
        QTimer.singleShot(_PAUSE_MS, _release_one)


def release_all() -> None:
    """Let go of everything now, before the event loop ends."""
    _held.clear()


def _release_one() -> None:
    if _held:
        _held.popleft()
    if _held:
        QTimer.singleShot(_PAUSE_MS, _release_one)
