"""The manual, one page, and the sheet of keyboard shortcuts."""

from collections.abc import Iterable

from PySide6.QtCore import QUrl
from PySide6.QtGui import QAction, QImage, QTextDocument
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QTextBrowser,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.io.assets import asset
from inpaint_app.window.widgets.fields import button_box, fill
from inpaint_app.window.widgets.keys import key_names

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


Section = tuple[str, list[tuple[str, str]]]
"""A title, and what there is with its keys."""

_N_COLUMNS = 3
_BY_HAND = (
    ("Zoom at the pointer", "Wheel, + and −"),
    ("Move the picture", "Drag, Space + drag, middle button, arrow keys"),
    ("Fit the picture", "Double-click"),
    ("Copy from a place (healing brush, clone stamp)", "Alt+click, Ctrl+click"),
    ("Show the damaged picture while held", "B"),
    ("Change a slider with the wheel", "Shift + wheel"),
    ("Reset a parameter", "Double-click on its name or slider"),
)


class ShortcutDialog(QDialog):
    """Lists all actions with their keys.

    Parameters
    ----------
    groups : iterable of (str, list of QAction)
        Titles and actions; those without a key are left out.
    """

    def __init__(self, groups: Iterable[tuple[str, list[QAction]]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        sections = [
            (
                title,
                [
                    (action.iconText(), " or ".join(key_names(action)))
                    for action in actions
                    if action.shortcuts()
                ],
            )
            for title, actions in groups
        ]
        self._sections = [section for section in (*sections, ("Pictures", list(_BY_HAND))) if section[1]]
        columns = fill(QHBoxLayout(), *map(_sheet, _columns(self._sections)))
        buttons = button_box(self, QDialogButtonBox.StandardButton.Close)
        fill(QVBoxLayout(self), (columns, 1), buttons, margins=None)
        self.resize(self.sizeHint())

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What is listed."""
        return [row for _, rows in self._sections for row in rows]


def _columns(sections: list[Section]) -> list[list[Section]]:
    """Return sections in columns that are about as long as each other."""
    columns: list[list[Section]] = [[] for _ in range(_N_COLUMNS)]
    total, above = sum(1 + len(rows) for _, rows in sections), 0.0
    for section in sections:
        length = 1 + len(section[1])
        columns[min(int((above + length / 2) / total * _N_COLUMNS), _N_COLUMNS - 1)].append(section)
        above += length
    return [column for column in columns if column]


def _sheet(sections: list[Section]) -> QTreeWidget:
    """Return sections below each other, as large as they need."""
    sheet = QTreeWidget()
    sheet.setHeaderLabels(["What", "Keys"])
    sheet.setAccessibleName(f"Keyboard shortcuts: {', '.join(title for title, _ in sections)}")
    sheet.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
    sheet.setSizeAdjustPolicy(QAbstractItemView.SizeAdjustPolicy.AdjustToContents)
    sheet.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    sheet.header().setStretchLastSection(False)
    for title, rows in sections:
        group = QTreeWidgetItem([title])
        font = group.font(0)
        font.setBold(True)
        group.setFont(0, font)
        group.addChildren([QTreeWidgetItem(list(row)) for row in rows])
        sheet.addTopLevelItem(group)
    sheet.expandAll()
    return sheet
