"""The manual, one page."""

from PySide6.QtCore import QUrl
from PySide6.QtGui import QImage, QTextDocument
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from inpaint_app.io.assets import asset
from inpaint_app.window.widgets.layouts import button_box, fill

_MARGIN = 16
#: Wider pictures are shown as wide as this, as the text is.
_PICTURE_WIDTH = 540


class ManualDialog(QDialog):
    """Shows the manual beside the window, which stays usable."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Manual")
        text = _Page()
        text.setMarkdown(asset("manual.md").read_text(encoding="utf-8"))
        text.document().setDocumentMargin(_MARGIN)
        text.setAccessibleName("Manual")
        buttons = button_box(self, QDialogButtonBox.StandardButton.Close)
        fill(QVBoxLayout(self), text, buttons, margins=None)
        self.resize(640, 680)


class _Page(QTextBrowser):
    """Text whose pictures are assets."""

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Return a picture of the manual."""
        if kind == QTextDocument.ResourceType.ImageResource.value:
            picture = QImage.fromData(asset(*QUrl(name).path().split("/")).read_bytes())
            picture.setDevicePixelRatio(max(1.0, picture.width() / _PICTURE_WIDTH))
            return picture
        return super().loadResource(kind, name)
