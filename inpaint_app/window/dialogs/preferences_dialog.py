"""A dialog for what the window remembers."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QDialogButtonBox, QFormLayout, QWidget

from inpaint_app.window.session.session import Session
from inpaint_app.window.theme.theme import Theme
from inpaint_app.window.widgets.button_box import button_box


class PreferencesDialog(QDialog):
    """Asks for the theme and for runs after every change; both take effect at once."""

    theme_chosen = Signal(object)
    forget_wanted = Signal()
    """The list of recent files is to be cleared."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Preferences")
        themes = QComboBox()
        for each in Theme:
            themes.addItem(each.value.title(), each)
        themes.setCurrentIndex(themes.findData(theme))
        themes.setAccessibleName("Theme")
        automatic = QCheckBox("&Restore after every change")
        automatic.setToolTip("Restore the whole picture after every change, in place of a preview.")
        automatic.setChecked(session.is_automatic)
        buttons = button_box(self, QDialogButtonBox.StandardButton.Close)
        forget = buttons.addButton("&Forget Recent Files", QDialogButtonBox.ButtonRole.ActionRole)
        form = QFormLayout(self)
        form.addRow("&Theme", themes)
        form.addRow(automatic)
        form.addRow(buttons)
        themes.activated.connect(lambda place: self.theme_chosen.emit(themes.itemData(place)))
        automatic.clicked.connect(session.set_automatic)
        forget.clicked.connect(self.forget_wanted)
