"""The list of restorations."""

from PySide6.QtCore import QEvent, QObject, QPoint, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.window.actions import Actions
from inpaint_app.window.document import captions
from inpaint_app.window.document.captions import format_settings
from inpaint_app.window.document.runs import RunHistory, RunRecord
from inpaint_app.window.document.state import Region
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.fields import fill
from inpaint_app.window.widgets.keys import overrides_shortcut
from inpaint_app.window.widgets.labels import SecondaryLabel

_COLUMNS = ("Run", "Parameters", "Missing", "PSNR", "SSIM", "Seconds", "Region")
_NUMERIC, _RIGHT = (2, 3, 4, 5, 6), Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_NUMBER = Qt.ItemDataRole.UserRole

_ROOM = 14
#: Room above and below the words for the frame around a row that has the focus.
_FRAME = 6


class HistoryPanel(QWidget):
    """Shows the runs of a session, newest first.

    Choosing one goes back to it, choosing two compares them. They can be renamed, exported and deleted.
    """

    def __init__(self, session: Session, actions: Actions) -> None:
        super().__init__()
        self._session, self._actions, self._is_renaming = session, actions, False
        self._list = _List()
        self._list.setHeaderLabels(_COLUMNS)
        self._list.setRootIsDecorated(False)
        self._list.setAlternatingRowColors(True)
        self._list.setUniformRowHeights(True)
        self._list.setAllColumnsShowFocus(True)  # in one column, its frame would cover the number
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self._list.setAccessibleName("Restorations")
        for column in _NUMERIC:
            self._list.headerItem().setTextAlignment(column, _RIGHT)
        header = self._list.header()
        header.setStretchLastSection(False)
        for column in range(len(_COLUMNS)):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self._empty = SecondaryLabel("Every restoration is kept here with its parameters, PSNR and time.")
        self._list.setMinimumHeight(80)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        fill(QVBoxLayout(self), self._empty, self._list)
        session.document.watch(self._show, "runs", "region")
        for chosen in (self._list.itemSelectionChanged, self._list.itemClicked, self._list.itemActivated):
            chosen.connect(self._choose)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._list.itemDelegate().closeEditor.connect(self._end_renaming)
        self._list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._list.customContextMenuRequested.connect(self._show_menu)
        self._commands = {Qt.Key.Key_Delete: self.delete, Qt.Key.Key_F2: self.rename}
        self._list.installEventFilter(self)
        self._show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Delete and rename runs by keys, which may have another meaning elsewhere in the window."""
        if overrides_shortcut(event, self._takes):
            return True
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and self._takes(event):
            self._commands[Qt.Key(event.key())]()
            return True
        return super().eventFilter(watched, event)

    def _takes(self, event: QKeyEvent) -> bool:
        return event.key() in self._commands and not event.modifiers() and not self._is_renaming

    def delete(self) -> None:
        """Forget the chosen runs."""
        self._session.delete_runs(self._chosen)

    def rename(self) -> None:
        """Let the user type a name for the chosen run."""
        item = self._list.currentItem()
        if item is not None:
            self._is_renaming = True
            record = self._session.state.runs.find(item.data(0, _NUMBER))
            item.setText(1, "" if record is None else record.name)
            self._list.editItem(item, 1)

    @property
    def _chosen(self) -> list[int]:
        """Numbers of the chosen runs, the oldest first."""
        return sorted(item.data(0, _NUMBER) for item in self._list.selectedItems())

    def _end_renaming(self) -> None:
        item, self._is_renaming = self._list.currentItem(), False
        if item is not None:
            self._session.rename_run(item.data(0, _NUMBER), item.text(1).strip())

    def _show_menu(self, place: QPoint) -> None:
        if self._list.itemAt(place) is None:
            return
        menu, is_one = QMenu(self), len(self._chosen) == 1
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("&Compare", self._choose).setEnabled(len(self._chosen) == 2)
        menu.addAction("&Rename", QKeySequence(Qt.Key.Key_F2), self.rename).setEnabled(is_one)
        menu.addAction("&Export …", self._actions["export"].trigger).setEnabled(is_one)
        menu.addAction("&Delete", QKeySequence(Qt.Key.Key_Delete), self.delete)
        menu.popup(self._list.viewport().mapToGlobal(place))

    def _show(self) -> None:
        if self._is_renaming:  # what is typed would be lost
            return
        history, chosen = self._session.state.runs, self._chosen
        if history.current_number not in chosen:
            chosen = [] if history.current_number is None else [history.current_number]
        self._list.setVisible(bool(history.records))
        self._empty.setVisible(not history.records)
        with QSignalBlocker(self._list):
            self._list.clear()
            region = self._session.state.region
            self._list.setColumnHidden(_COLUMNS.index("Region"), region is None)
            items = [_item(history, record, region) for record in reversed(history.records)]
            self._list.addTopLevelItems(items)
            for item in items:
                if item.data(0, _NUMBER) == history.current_number:
                    self._list.setCurrentItem(item)
            for item in items:  # the current one is selected alone until then
                item.setSelected(item.data(0, _NUMBER) in chosen)

    def _choose(self) -> None:
        chosen, session = self._chosen, self._session
        if len(chosen) == 2:
            session.compare_runs(chosen)
        if len(chosen) != 1:
            return
        state, current = session.state, session.state.runs.current
        is_shown = current is not None and chosen[0] == current.number and state.preview is None
        if current is None or not is_shown or not state.has_inputs_of(current):
            session.go_back(chosen[0])


class _List(QTreeWidget):
    """Leaves room between its columns."""

    def sizeHintForColumn(self, column: int) -> int:
        """Return how wide a column is."""
        return super().sizeHintForColumn(column) + _ROOM


def _item(history: RunHistory, record: RunRecord, region: Region | None) -> QTreeWidgetItem:
    ssim = None if record.figures is None else record.figures.scores.ssim
    words = format_settings(record.settings, record.requested)
    notes = "".join(
        (
            ", stopped" if record.is_stopped else "",
            f", {captions.format_strokes(record)}" if record.n_strokes else "",
            ", pixels released" if record.image is None else "",
        )
    )
    texts = (
        str(record.number),
        f"{record.name}   ({words}{notes})" if record.name else words + notes,
        captions.format_mask(history, record),
        captions.short_quality(record),
        "" if ssim is None else f"{ssim:.4f}",
        f"{record.seconds:.1f}",
        captions.format_region(region, record.number),
    )
    item = QTreeWidgetItem(list(texts))
    item.setData(0, _NUMBER, record.number)
    item.setSizeHint(0, QSize(0, QFontMetrics(item.font(0)).height() + _FRAME))
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
    for column in _NUMERIC:
        item.setTextAlignment(column, _RIGHT)
    item.setToolTip(
        1,
        f"Go back to run {record.number}, its parameters and its mask: {words}. Ctrl+click another run to "
        "compare the two.",
    )
    return item
