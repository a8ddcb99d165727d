"""The list of restorations."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.window.session import descriptions
from inpaint_app.window.session.history import RunHistory
from inpaint_app.window.session.session import Session
from inpaint_app.window.session.state import RunRecord
from inpaint_app.window.widgets.secondary_label import SecondaryLabel

_COLUMNS = ("Run", "Parameters", "Missing", "PSNR", "SSIM", "Seconds")
_NUMBER = Qt.ItemDataRole.UserRole


class HistoryPanel(QWidget):
    """Shows the runs of a session, newest first; choosing one goes back to it.

    Parameters
    ----------
    session : Session
        Whose runs they are.
    """

    export_wanted = Signal()
    """The chosen run is to be exported."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._list = QTreeWidget()
        self._list.setHeaderLabels(_COLUMNS)
        self._list.setRootIsDecorated(False)
        self._list.setAlternatingRowColors(True)
        self._list.setUniformRowHeights(True)
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._list.setAccessibleName("Restorations")
        header = self._list.header()
        header.setStretchLastSection(False)
        for column in range(len(_COLUMNS)):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self._empty = SecondaryLabel("Every restoration is kept here with its parameters, PSNR and time.")
        self._list.setMinimumHeight(80)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._empty)
        layout.addWidget(self._list)
        session.results.changed.connect(self._show)
        for chosen in (self._list.currentItemChanged, self._list.itemClicked, self._list.itemActivated):
            chosen.connect(self._choose)
        self._list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._list.customContextMenuRequested.connect(self._show_menu)
        QShortcut(QKeySequence.StandardKey.Delete, self._list, self.delete).setContext(
            Qt.ShortcutContext.WidgetShortcut
        )
        self._show()

    def delete(self) -> None:
        """Forget the chosen run."""
        item = self._list.currentItem()
        if item is not None and not self._session.runner.is_busy:
            self._session.healer.restart()
            self._session.results.remove(item.data(0, _NUMBER))

    def _show_menu(self, place: QPoint) -> None:
        if self._list.itemAt(place) is not None:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction("&Export …", self.export_wanted.emit)
            menu.addAction("&Delete", self.delete)
            menu.popup(self._list.viewport().mapToGlobal(place))

    def _show(self) -> None:
        history = self._session.results.history
        records = history.records
        self._list.setVisible(bool(records))
        self._empty.setVisible(not records)
        with QSignalBlocker(self._list):
            self._list.clear()
            for record in reversed(records):
                item = _item(history, record)
                self._list.addTopLevelItem(item)
                if record.number == history.current_number:
                    self._list.setCurrentItem(item)

    def _choose(self, item: QTreeWidgetItem | None) -> None:
        if item is None:
            return
        session, number = self._session, item.data(0, _NUMBER)
        current = session.results.current
        is_shown = current is not None and number == current.number and session.runner.preview is None
        if current is None or not is_shown or not session.has_inputs_of(current):
            session.go_back(number)


def _item(history: RunHistory, record: RunRecord) -> QTreeWidgetItem:
    ssim = None if record.figures is None else record.figures.scores.ssim
    words = descriptions.format_settings(record.settings, record.requested)
    notes = "".join(
        (
            ", stopped" if record.is_stopped else "",
            f", {descriptions.format_strokes(record)}" if record.n_strokes else "",
            ", pixels released" if record.image is None else "",
        )
    )
    texts = (
        str(record.number),
        words + notes,
        descriptions.format_mask(history, record),
        descriptions.short_quality(record),
        "" if ssim is None else f"{ssim:.4f}",
        f"{record.seconds:.1f}",
    )
    item = QTreeWidgetItem(list(texts))
    item.setData(0, _NUMBER, record.number)
    for column in (0, 2, 3, 4, 5):
        item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    item.setToolTip(1, f"Go back to run {record.number}, its parameters and its mask: {words}")
    return item
