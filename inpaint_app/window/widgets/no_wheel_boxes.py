"""Boxes that the wheel does not change: it scrolls what is around them."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSpinBox


class _NoWheel:  # Qt allows one base class of its own
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the scroll area."""
        event.ignore()


class NoWheelComboBox(_NoWheel, QComboBox):
    """A choice that the wheel does not change."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


class NoWheelSpinBox(_NoWheel, QSpinBox):
    """A number that the wheel does not change."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


class NoWheelDoubleSpinBox(_NoWheel, QDoubleSpinBox):
    """A number with decimals that the wheel does not change."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
