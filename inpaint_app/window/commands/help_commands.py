"""The dialogs of the Help menu."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QMessageBox, QWidget

from dictsel_core import __version__
from inpaint_app.window.commands.menus import Menus
from inpaint_app.window.dialogs.manual_dialog import ManualDialog
from inpaint_app.window.dialogs.shortcut_dialog import ShortcutDialog

TITLE = "Inpaint"


class HelpCommands:
    """Shows shortcuts, manual and version beside the window, which stays usable.

    Parameters
    ----------
    menus : Menus
        Whose shortcuts are listed.
    """

    def __init__(self, menus: Menus, window: QWidget) -> None:
        self._menus, self._window = menus, window

    def show_shortcuts(self) -> None:
        """Show the sheet of keyboard shortcuts."""
        show_beside(ShortcutDialog(self._menus.sections, self._window))

    def show_manual(self) -> None:
        """Show the manual."""
        show_beside(ManualDialog(self._window))

    def show_about(self) -> None:
        """Show version, method and license."""
        QMessageBox.about(
            self._window,
            f"About {TITLE}",
            f"<b>{TITLE} {__version__}</b><p>Restores missing pixels in two stages: patches are coded with a "
            "dictionary selected by Replacement OMP or Replacement OLS, then refined by similar patches "
            "(non-local refinement).</p><p>Replacement OMP and its sparsity constraints: Kaito Fujii and "
            "Tasuku Soma, <i>Fast greedy algorithms for dictionary selection with generalized sparsity "
            "constraints</i>, NeurIPS 2018.</p><p>BSD-3-Clause license.</p>",
        )


def show_beside(dialog: QDialog) -> None:
    """Show a dialog while its window stays usable; it is gone when it is closed."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
