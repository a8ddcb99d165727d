"""A button that does what an action does."""

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton


def action_button(action: QAction, text: str = "", *, main: bool = False) -> QPushButton:
    """Return a button that does what an action does, and is enabled when it is.

    The letters belong to the menus: it has none. `main` is the one that counts most.
    """
    button = QPushButton(text or action.iconText())
    button.setAccessibleDescription(action.statusTip())
    if main:
        button.setProperty("main", True)
        font = button.font()
        font.setBold(True)
        button.setFont(font)
    button.clicked.connect(action.trigger)

    def follow() -> None:
        button.setEnabled(action.isEnabled())
        button.setToolTip(action.toolTip())  # the user may give it another key

    action.changed.connect(follow)
    follow()
    return button
