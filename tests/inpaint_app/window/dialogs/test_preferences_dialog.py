"""Preferences: what is chosen takes effect at once."""

from pathlib import Path

from PySide6.QtWidgets import QCheckBox, QComboBox, QPushButton
from windows import choose, find

from inpaint_app.window.canvas.screen_color import SRGB, SYSTEM
from inpaint_app.window.dialogs import preferences_dialog
from inpaint_app.window.dialogs.preferences_dialog import PreferencesDialog
from inpaint_app.window.theme.theme import Theme


def test_what_is_chosen_takes_effect_at_once(session, qtbot) -> None:
    dialog = PreferencesDialog(session, Theme.DARK, SRGB)
    qtbot.addWidget(dialog)
    themes = find(dialog, QComboBox, "Theme")
    assert themes.currentData() is Theme.DARK
    with qtbot.waitSignal(dialog.theme_chosen) as chosen:
        choose(themes, themes.findData(Theme.LIGHT))
    assert chosen.args == [Theme.LIGHT]
    find(dialog, QCheckBox, "Restore after every change").click()
    assert session.state.is_automatic
    with qtbot.waitSignal(dialog.forget_wanted, timeout=600_000):
        find(dialog, QPushButton, "Forget Recent Files").click()


def test_a_profile_of_the_screen_is_chosen_or_read_from_a_file(session, qtbot, monkeypatch) -> None:
    dialog = PreferencesDialog(session, Theme.DARK, SRGB)
    qtbot.addWidget(dialog)
    screens = find(dialog, QComboBox, "Screen profile")
    assert screens.currentText() == "sRGB"
    chosen: list[str] = []
    dialog.screen_chosen.connect(chosen.append)
    choose(screens, screens.findData(SYSTEM))
    monkeypatch.setattr(preferences_dialog, "ask_for_file", lambda *_words: Path("/profiles/wide.icc"))
    choose(screens, screens.findText("ICC file …"))
    assert chosen == [SYSTEM, "/profiles/wide.icc"]
    assert screens.currentText() == "sRGB", "until it is known to be one"
    dialog.show_screen("/profiles/wide.icc")
    assert screens.currentText() == "wide.icc"
    monkeypatch.setattr(preferences_dialog, "ask_for_file", lambda *_words: None)
    choose(screens, screens.findText("ICC file …"))
    assert chosen[-1] == "/profiles/wide.icc", "which stays if no other is chosen"
