"""Keys of one's own: given, refused where they are taken, remembered and reset."""

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QComboBox, QKeySequenceEdit, QPushButton, QSlider, QSpinBox, QTreeWidget
from windows import choose, find, opened

from inpaint_app.errors import Remedy
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.dialogs.preferences_dialog import PreferencesDialog
from inpaint_app.window.preferences import Preferences
from inpaint_app.window.remedies import remedies


def dialog_of(window) -> PreferencesDialog:
    window.choices.show_dialog()
    return window.findChild(PreferencesDialog)


def give(dialog, name: str, key: str) -> None:
    """Choose an action and press its new key."""
    entries = find(dialog, QTreeWidget, "Actions and their keys")
    groups = [entries.topLevelItem(place) for place in range(entries.topLevelItemCount())]
    items = [group.child(place) for group in groups for place in range(group.childCount())]
    entries.setCurrentItem(next(item for item in items if item.text(0) == name))
    edit = find(dialog, QKeySequenceEdit, "New key")
    edit.setKeySequence(QKeySequence(key))
    edit.editingFinished.emit()


def test_an_action_has_the_key_that_it_was_given(make_window, qtbot, files) -> None:
    window = make_window()
    opened(window, qtbot, files["damaged"])
    dialog = dialog_of(window)
    give(dialog, "Brush", "X")
    assert Preferences().now.keys == {"brush": "X"}
    assert "(X)" in window.actions_.tools["brush"].toolTip()
    qtbot.keyClick(window, "X")
    assert window.session.state.view.tool == "brush"
    dialog.close()
    window.close()
    second = make_window()
    assert second.actions_.tools["brush"].shortcut() == QKeySequence("X")
    assert key_hint("brush") == " (X)", "sentences name it"
    assert "(X)" in remedies()[Remedy.MARK_MISSING]
    find(dialog_of(second), QPushButton, "Reset all keys").click()
    assert second.actions_.tools["brush"].shortcut() == QKeySequence("P")
    assert Preferences().now.keys == {}
    second.findChild(PreferencesDialog).close()


def test_a_key_that_was_taken_away_is_named_nowhere(window) -> None:
    dialog = dialog_of(window)
    give(dialog, "Brush", "")
    assert key_hint("brush") == ""
    assert "(" not in window.actions_.tools["brush"].toolTip().splitlines()[0]
    find(dialog, QPushButton, "Reset all keys").click()
    assert key_hint("brush") == " (P)"
    dialog.close()


def test_a_key_that_is_taken_is_refused(window) -> None:
    dialog = dialog_of(window)
    give(dialog, "Brush", "E")
    assert window.actions_.tools["brush"].shortcut() == QKeySequence("P")
    assert Preferences().now.keys == {}
    dialog.close()


def test_the_rest_takes_effect_at_once_and_is_remembered(window, qtbot, files) -> None:
    opened(window, qtbot, files["damaged"])
    dialog = dialog_of(window)
    gray = find(dialog, QComboBox, "Gray around pictures")
    choose(gray, gray.findText("Middle"))
    pane = window.viewer.panes["damaged"]
    assert pane.canvas.grab().toImage().pixelColor(1, 1).getRgb()[:3] == (119, 119, 119)
    marks = find(dialog, QComboBox, "Color of marks")
    choose(marks, marks.findText("Green"))
    find(dialog, QSlider, "Opacity of marks").setValue(90)
    assert (Preferences().now.looks.gray, Preferences().now.looks.marks, Preferences().now.looks.opacity) == (
        119,
        "#2be36a",
        90,
    )
    presets = find(dialog, QComboBox, "Preset of new pictures")
    choose(presets, presets.findText("Fast"))
    assert window.session.document.defaults == Preferences().now.settings
    find(dialog, QSpinBox, "Cores").setValue(1)
    assert window.session.state.settings.threads == 1
    window.session.reset_settings()
    assert window.session.state.settings.threads == 1
    units = find(dialog, QComboBox, "Unit of sizes")
    choose(units, units.findData("cm"))
    assert Preferences().now.unit == "cm"
    dialog.close()
