"""Preferences: what is chosen takes effect at once."""

from PySide6.QtWidgets import QCheckBox, QComboBox, QPushButton
from windows import choose, find

from inpaint_app.window.dialogs.preferences_dialog import PreferencesDialog
from inpaint_app.window.theme.theme import Theme


def test_what_is_chosen_takes_effect_at_once(session, qtbot) -> None:
    dialog = PreferencesDialog(session, Theme.DARK)
    qtbot.addWidget(dialog)
    themes = find(dialog, QComboBox, "Theme")
    assert themes.currentData() is Theme.DARK
    with qtbot.waitSignal(dialog.theme_chosen) as chosen:
        choose(themes, themes.findData(Theme.LIGHT))
    assert chosen.args == [Theme.LIGHT]
    find(dialog, QCheckBox, "Restore after every change").click()
    assert session.is_automatic
    with qtbot.waitSignal(dialog.forget_wanted):
        find(dialog, QPushButton, "Forget Recent Files").click()
