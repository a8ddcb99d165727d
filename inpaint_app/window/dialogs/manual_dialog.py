"""The manual, one page."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from inpaint_app.files.assets import asset
from inpaint_app.window.widgets.button_box import button_box


class ManualDialog(QDialog):
    """Shows the manual beside the window, which stays usable."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Manual")
        text = QTextBrowser()
        text.setMarkdown(asset("manual.md").read_text(encoding="utf-8"))
        text.setAccessibleName("Manual")
        buttons = button_box(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        layout = QVBoxLayout(self)
        layout.addWidget(text)
        layout.addWidget(buttons)
        self.resize(620, 640)
