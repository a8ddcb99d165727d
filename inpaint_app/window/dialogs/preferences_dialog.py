"""A dialog for what the window remembers."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QDialogButtonBox, QFormLayout, QWidget

from inpaint_app.errors import printable_path
from inpaint_app.window.canvas.screen_profile import SRGB, SYSTEM
from inpaint_app.window.dialogs.file_dialogs import ask_for_profile
from inpaint_app.window.session import Session
from inpaint_app.window.theme.theme import Theme
from inpaint_app.window.widgets.layouts import button_box


class PreferencesDialog(QDialog):
    """Asks for the theme, the screen and runs after every change; all take effect at once."""

    theme_chosen = Signal(object)
    screen_chosen = Signal(str)
    """With a choice as `screen_profile` takes it; `show_screen` is to follow."""
    forget_wanted = Signal()
    """The list of recent files is to be cleared."""

    def __init__(self, session: Session, theme: Theme, screen: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Preferences")
        themes = QComboBox()
        for each in Theme:
            themes.addItem(each.value.title(), each)
        themes.setCurrentIndex(themes.findData(theme))
        themes.setAccessibleName("Theme")
        automatic = QCheckBox("&Restore after every change")
        automatic.setToolTip("Restore the whole picture after every change, in place of a preview.")
        automatic.setChecked(session.state.is_automatic)
        self._screens = QComboBox()
        self._screens.setAccessibleName("Screen profile")
        self._screens.setToolTip("Colors that the screen can show; exported pictures are not changed by it.")
        buttons = button_box(self, QDialogButtonBox.StandardButton.Close)
        forget = buttons.addButton("&Forget Recent Files", QDialogButtonBox.ButtonRole.ActionRole)
        form = QFormLayout(self)
        form.addRow("&Theme", themes)
        form.addRow("&Screen profile", self._screens)
        form.addRow(automatic)
        form.addRow(buttons)
        self.show_screen(screen)
        self._screens.activated.connect(self._choose_screen)
        themes.activated.connect(lambda place: self.theme_chosen.emit(themes.itemData(place)))
        automatic.clicked.connect(session.set_automatic)
        forget.clicked.connect(self.forget_wanted)

    def show_screen(self, choice: str) -> None:
        """Show which profile is used."""
        self._screens.clear()
        self._screens.addItem("Of the system", SYSTEM)
        self._screens.addItem("sRGB", SRGB)
        if choice not in (SYSTEM, SRGB):
            self._screens.addItem(printable_path(Path(choice).name), choice)
        self._screens.addItem("ICC file …", "")
        self._screens.setCurrentIndex(self._screens.findData(choice))
        self._screen = choice

    def _choose_screen(self, place: int) -> None:
        choice = self._screens.itemData(place) or ask_for_profile(self) or self._screen
        self.show_screen(self._screen)
        self.screen_chosen.emit(choice)
