"""Properties of the Qt binding without which a window does not live long."""

import sys

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage, QPainter


def test_calls_that_return_nothing_leave_the_count_of_none_alone(qapp):
    thing = QObject()
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    before = sys.getrefcount(None)
    for _ in range(500):
        thing.setObjectName("name")
        painter.setOpacity(1.0)
    after = sys.getrefcount(None)
    painter.end()
    assert abs(after - before) < 100


def test_signals_cost_no_references():
    class Sender(QObject):
        sent = Signal(object)

    sender, heard = Sender(), []
    sender.sent.connect(heard.append)
    before = sys.getrefcount(True)
    for _ in range(100):
        sender.sent.emit(1)
    assert len(heard) == 100
    assert abs(sys.getrefcount(True) - before) < 50
