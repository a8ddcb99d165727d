"""The manual names what there is."""

from PySide6.QtWidgets import QTextBrowser

from inpaint_app.window.actions import SPECS
from inpaint_app.window.canvas.tools.registry import TOOLS
from inpaint_app.window.dialogs.manual_dialog import ManualDialog


def test_the_manual_is_shown_and_its_keys_are_right(qtbot) -> None:
    dialog = ManualDialog()
    qtbot.addWidget(dialog)
    text = dialog.findChild(QTextBrowser).toPlainText()
    for name in ("find_damage", "grow", "shrink", "tune", "compare", "restore"):
        assert f"({SPECS[name].keys[0]})" in text, name
    for name in ("heal", "brush", "eraser", "rectangle", "lasso", "wand", "eyedropper"):
        assert f"({TOOLS[name].key})" in text, name
