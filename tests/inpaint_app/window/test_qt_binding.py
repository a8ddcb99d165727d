"""What the window needs of the Qt binding that is installed."""

import sys

from PySide6.QtCore import QObject, Signal


def test_signals_cost_no_references() -> None:
    class Sender(QObject):
        sent = Signal(object)

    sender, heard = Sender(), []
    sender.sent.connect(heard.append)
    before = sys.getrefcount(True)
    for _ in range(100):
        sender.sent.emit(1)
    assert len(heard) == 100
    assert abs(sys.getrefcount(True) - before) < 50
