"""The manual names what there is."""

import re

from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QTextBrowser

from inpaint_app.io.assets import asset
from inpaint_app.window.action_table import SPECS, TOOL_SPECS
from inpaint_app.window.dialogs.help_dialogs import ManualDialog


def test_the_manual_is_shown_and_its_keys_are_right(qtbot) -> None:
    dialog = ManualDialog()
    qtbot.addWidget(dialog)
    text = dialog.findChild(QTextBrowser).toPlainText()
    for name in ("find_damage", "grow", "shrink", "tune", "compare", "restore"):
        assert f"({SPECS[name].keys[0]})" in text, name
    for name, spec in TOOL_SPECS.items():
        assert f"({spec.keys[0]}" in text, name


def test_every_picture_of_the_manual_is_there(qtbot) -> None:
    dialog = ManualDialog()
    qtbot.addWidget(dialog)
    page = dialog.findChild(QTextBrowser)
    names = re.findall(r"!\[[^]]+\]\(([^)]+)\)", asset("manual.md").read_text(encoding="utf-8"))
    assert len(names) == 4
    for name in names:
        assert not page.loadResource(QTextDocument.ResourceType.ImageResource.value, QUrl(name)).isNull()


def test_no_picture_of_the_manual_is_wider_than_its_text(qtbot) -> None:
    dialog = ManualDialog()
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitExposed(dialog)
    assert dialog.findChild(QTextBrowser).horizontalScrollBar().maximum() == 0
