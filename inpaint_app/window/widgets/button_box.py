"""Rows of dialog buttons that look the same everywhere."""

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox


def button_box(dialog: QDialog, standard: QDialogButtonBox.StandardButton) -> QDialogButtonBox:
    """Return a button that ends a dialog, without the icon that some styles give it, for others to join."""
    box = QDialogButtonBox()
    box.addButton(standard).setIcon(QIcon())
    box.accepted.connect(dialog.accept)
    box.rejected.connect(dialog.reject)
    return box
