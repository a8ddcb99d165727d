"""Rows of dialog buttons that look the same everywhere."""

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialogButtonBox


def button_box(*standard: QDialogButtonBox.StandardButton) -> QDialogButtonBox:
    """Return standard buttons without the icons that some styles give them."""
    box = QDialogButtonBox()
    for kind in standard:
        box.addButton(kind).setIcon(QIcon())
    return box
