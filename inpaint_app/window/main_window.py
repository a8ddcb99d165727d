"""The main window: everything around the pictures."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QLabel,
    QLineEdit,
    QMainWindow,
    QMessageBox,
    QStackedWidget,
    QTabBar,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from dictsel_core import __version__
from inpaint_app.errors import printable_path
from inpaint_app.window.actions import GROUPS, Actions
from inpaint_app.window.canvas.painting_canvas import Tool
from inpaint_app.window.dialogs.shortcut_dialog import ShortcutDialog
from inpaint_app.window.file_commands import FileCommands
from inpaint_app.window.menus import Menus
from inpaint_app.window.panels.dictionary_panel import DictionaryPanel
from inpaint_app.window.panels.history_panel import HistoryPanel
from inpaint_app.window.panels.progress_strip import ProgressStrip
from inpaint_app.window.panels.side_panel import SidePanel
from inpaint_app.window.preferences import Preferences
from inpaint_app.window.session.descriptions import short_paths
from inpaint_app.window.session.exporter import Exporter
from inpaint_app.window.session.session import Session
from inpaint_app.window.session.state import View
from inpaint_app.window.theme.theme import Theme, ThemeSwitch
from inpaint_app.window.transfers import read_transfer
from inpaint_app.window.viewer.drop_frame import DropFrame
from inpaint_app.window.viewer.viewer import Viewer
from inpaint_app.window.viewer.welcome import Welcome, sample_menu
from inpaint_app.window.widgets.banner import Banner

TITLE = "Inpaint"
_TOOLS = {"look": Tool.NONE, "brush": Tool.BRUSH, "eraser": Tool.ERASER, "rectangle": Tool.RECTANGLE}
_VIEWS = {"side": View.SIDE_BY_SIDE, "split": View.SPLIT, "compared": View.COMPARE, "error": View.ERROR}
_MESSAGE_MS = 8000
_STATE_VERSION = 1
_SIZE = QSize(1280, 800)
_FRAME = QSize(16, 48)
"""What the system draws around a window, at most."""


class MainWindow(QMainWindow):
    """The window of the application.

    Parameters
    ----------
    preferences : Preferences
        What is remembered.
    theme : ThemeSwitch
        Changes the colours of the application.
    """

    def __init__(self, preferences: Preferences, theme: ThemeSwitch) -> None:
        super().__init__()
        self._preferences, self._theme = preferences, theme
        self.session = Session(self)
        self.exporter = Exporter(self.session, self)
        self.viewer = Viewer(self.session)
        self.banner, self.progress = Banner(), ProgressStrip()
        self.welcome, self._pages = Welcome(), QStackedWidget()
        self.actions_ = Actions(self)
        self.files = FileCommands(self.session, self.exporter, preferences, self)
        self.side = SidePanel(self.session, self.actions_)
        self.history, self.dictionary = HistoryPanel(self.session), DictionaryPanel(self.session)
        self._zoom, self._pixel, self._kind = QLabel(), QLabel(), QLabel()
        self._is_closed = False
        self._view_before = self.viewer.view
        self._lay_out()
        self._menus = Menus(
            self,
            self.actions_,
            sample_menu(self, self.files.open_sample),
            [dock.toggleViewAction() for dock in self._docks],
        )
        self._connect_actions()
        self._connect_session()
        self.actions_.draw_icons(self.palette())
        self._recall()
        self._show_document()

    # Layout

    def _lay_out(self) -> None:
        centre = QWidget()
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(self.viewer)
        column.addWidget(self.banner)
        column.addWidget(self._pages, 1)
        self.setCentralWidget(centre)
        self._drop_frame = DropFrame(centre)
        right, bottom = Qt.DockWidgetArea.RightDockWidgetArea, Qt.DockWidgetArea.BottomDockWidgetArea
        self._docks = [
            self._dock("Settin&gs", self.side, right),
            self._dock("&Dictionary", self.dictionary, right),
            self._dock("Histor&y", self.history, bottom),
        ]
        self.tabifyDockWidget(self._docks[0], self._docks[1])
        for dock in self._docks[:2]:  # their tabs name them
            dock.setTitleBarWidget(QWidget())
        self.setTabPosition(right, QTabWidget.TabPosition.North)
        self._docks[0].raise_()
        for tabs in self.findChildren(QTabBar):
            tabs.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCorner(Qt.Corner.BottomRightCorner, right)
        self.resizeDocks([self._docks[0]], [330], Qt.Orientation.Horizontal)
        self.resizeDocks([self._docks[2]], [130], Qt.Orientation.Vertical)
        self.statusBar().addPermanentWidget(self.progress, 1)
        self.statusBar().setMinimumHeight(self.progress.sizeHint().height() + 6)
        for label in (self._pixel, self._kind, self._zoom):
            label.setContentsMargins(8, 0, 8, 0)
            self.statusBar().addPermanentWidget(label)
        self.setAcceptDrops(True)
        self.resize(_SIZE.boundedTo(self.screen().availableGeometry().size() - _FRAME))

    def _dock(self, title: str, widget: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = QDockWidget(title, self)
        dock.setObjectName(title.replace("&", "").lower())
        dock.setWidget(widget)
        self.addDockWidget(area, dock)
        # A dock behind another one's tab is somewhere outside, and would still take the focus.
        dock.visibilityChanged.connect(lambda seen: widget.setEnabled(seen or self.isMinimized()))
        return dock

    # Connections

    def _connect_actions(self) -> None:
        session, viewer, files = self.session, self.viewer, self.files
        mask = session.edit_mask
        slots = {
            "open": files.open,
            "open_mask": files.open_mask,
            "open_reference": files.open_reference,
            "open_recipe": files.open_recipe,
            "paste": files.paste,
            "damage": files.damage,
            "export": files.export,
            "export_comparison": files.export_comparison,
            "export_dictionary": files.export_dictionary,
            "save_mask": files.save_mask,
            "save_recipe": files.save_recipe,
            "copy": self.copy,
            "batch": files.batch,
            "quit": self.close,
            "undo": lambda: mask(lambda history: history.undo()),
            "redo": lambda: mask(lambda history: history.redo()),
            "smaller": lambda: viewer.set_brush_diameter(_smaller(viewer.brush_diameter)),
            "larger": lambda: viewer.set_brush_diameter(_larger(viewer.brush_diameter)),
            "invert": lambda: mask(lambda history: history.invert()),
            "clear": lambda: mask(lambda history: history.clear()),
            "restore": session.restore,
            "compare": self.compare,
            "tune": session.tune,
            "stop": session.stop,
            "cancel": self.cancel,
            "fit": viewer.viewport.fit,
            "actual": viewer.viewport.show_actual_size,
            "zoom_in": viewer.viewport.zoom_in,
            "zoom_out": viewer.viewport.zoom_out,
            "shortcuts": self.show_shortcuts,
            "about": self.show_about,
        }
        for name, slot in slots.items():
            self.actions_[name].triggered.connect(lambda _checked=False, slot=slot: slot())
        for name, tool in _TOOLS.items():
            self.actions_[name].triggered.connect(lambda _checked=False, tool=tool: viewer.set_tool(tool))
        for name, view in _VIEWS.items():
            self.actions_[name].triggered.connect(lambda _checked=False, view=view: viewer.set_view(view))
        self.actions_["automatic"].triggered.connect(session.set_automatic)
        self.actions_["show_mask"].triggered.connect(viewer.show_mask)
        self.actions_["full_screen"].triggered.connect(
            lambda on: self.showFullScreen() if on else self.showNormal()
        )
        self._menus.diameter.valueChanged.connect(viewer.set_brush_diameter)
        self._menus.themes.triggered.connect(lambda action: self.set_theme(action.data()))
        self.actions_["show_mask"].setChecked(True)

    def _connect_session(self) -> None:
        session = self.session
        session.problem.connect(self.banner.say)
        session.problem.connect(self._show_possible)
        session.notice.connect(lambda words: self.statusBar().showMessage(words, _MESSAGE_MS))
        session.document_changed.connect(self._show_document)
        session.activity_changed.connect(self._show_activity)
        session.results.shown.connect(self._leave_comparison)
        self.exporter.activity_changed.connect(self._show_activity)
        for changed in (session.mask_edited, session.results.changed, session.settings_changed):
            changed.connect(self._show_possible)
        self.viewer.view_changed.connect(self._show_view)
        self.viewer.viewport.changed.connect(self._show_zoom)
        self.viewer.pixel_changed.connect(self._pixel.setText)
        self.progress.stop_wanted.connect(session.stop)
        self.progress.cancel_wanted.connect(self.cancel)
        self.welcome.open_wanted.connect(self.files.open)
        self.welcome.paste_wanted.connect(self.files.paste)
        self.welcome.sample_wanted.connect(self.files.open_sample)
        self.side.missing.mask_file_wanted.connect(self.files.open_mask)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._watch)

    # Commands

    def compare(self) -> None:
        """Restore under both constraints, and show them side by side if there is something to restore."""
        if 0 < self.session.missing_fraction < 1:
            self.viewer.set_view(View.COMPARE)
        self.session.compare()

    def cancel(self) -> None:
        """Give up what is under way; with nothing under way, close the banner."""
        activity = self.session.activity
        if activity is None and self.session.runner.preview is None:
            self.banner.hide()
        self.session.cancel()
        if activity is not None and activity.kind == "compare":
            self._leave_comparison()

    def _leave_comparison(self) -> None:
        """Go back to another view if the picture to be seen is no part of a comparison."""
        if self.viewer.view is View.COMPARE and self.session.results.history.pair == (None, None):
            self.viewer.set_view(self._view_before)

    def copy(self) -> None:
        """Put the restored picture on the clipboard."""
        image = self.viewer.restored_image
        if image is None:
            self.session.problem.emit("There is no restored picture yet; restore it first (F5).")
            return
        QGuiApplication.clipboard().setImage(image)
        self.statusBar().showMessage("The restored picture is on the clipboard.", _MESSAGE_MS)

    def show_shortcuts(self) -> None:
        """Show the sheet of keyboard shortcuts."""
        dialog = ShortcutDialog(((title, self.actions_.group(title)) for title in GROUPS), self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()

    def show_about(self) -> None:
        """Tell version, method and licence."""
        QMessageBox.about(
            self,
            f"About {TITLE}",
            f"<b>{TITLE} {__version__}</b><p>Restores missing pixels by dictionary selection: Replacement "
            "OMP of Kaito Fujii and Tasuku Soma, <i>Fast greedy algorithms for dictionary selection with "
            "generalized sparsity constraints</i>, NeurIPS 2018.</p><p>BSD-3-Clause licence.</p>",
        )

    def set_theme(self, theme: Theme) -> None:
        """Change the colours, and remember them."""
        self._theme.set_theme(theme)
        self._preferences.theme = theme
        for action in self._menus.themes.actions():
            action.setChecked(action.data() is theme)

    # What is shown

    def _show_document(self) -> None:
        document = self.session.document
        self._pages.setCurrentWidget(self.welcome if document is None else self.viewer)
        if document is not None:
            self.banner.hide()
            self.statusBar().clearMessage()
            picture = document.picture
            self._kind.setText(f"{picture.width} x {picture.height} pixels, {picture.mode}")
            if document.path is not None:
                self._preferences.remember_file(document.path)
        self._show_recent()
        self._show_possible()
        self._show_zoom()

    def _show_recent(self) -> None:
        files = self._preferences.recent_files

        def forget() -> None:
            self._preferences.forget_files()
            self._show_recent()

        def open_it(path: Path) -> None:
            self.files.open_recent(path)
            self._show_recent()

        names = [
            (label, partial(open_it, path)) for label, path in zip(short_paths(files), files, strict=True)
        ]
        self._menus.show_recent(names, forget)

    def _show_activity(self) -> None:
        self.progress.show_activity(self.session.activity or self.exporter.activity)
        self._show_possible()

    def _show_possible(self) -> None:
        """Enable what makes sense now, and name the window."""
        session = self.session
        document, mask = session.document, session.mask
        is_open, is_restored = document is not None, session.results.current is not None
        possible = {
            "undo": mask is not None and mask.can_undo,
            "redo": mask is not None and mask.can_redo,
            "stop": session.activity is not None and session.activity.can_keep,
            "cancel": is_open or session.activity is not None or bool(self.banner.text),
        }
        for name in ("export", "export_comparison", "export_dictionary", "save_recipe", "copy"):
            possible[name] = is_restored
        for name in ("restore", "tune", "compare", "invert", "clear", "save_mask", "open_mask", "damage"):
            possible[name] = is_open
        possible |= dict.fromkeys(("open_reference", "smaller", "larger", *_TOOLS), is_open)
        possible |= dict.fromkeys(("show_mask", "fit", "actual", "zoom_in", "zoom_out", *_VIEWS), is_open)
        for name, enabled in possible.items():
            self.actions_[name].setEnabled(enabled)
        self._menus.diameter.setEnabled(is_open)
        self.actions_["automatic"].setChecked(session.is_automatic)
        self.setWindowTitle(TITLE if document is None else f"{printable_path(document.title)}[*] — {TITLE}")
        self.setWindowModified(document is not None and session.has_unsaved_work)

    def _show_view(self) -> None:
        if self.viewer.view is not View.COMPARE:
            self._view_before = self.viewer.view
        for name, view in _VIEWS.items():
            self.actions_[name].setChecked(self.viewer.view is view)
        for name, tool in _TOOLS.items():
            self.actions_[name].setChecked(self.viewer.tool is tool)
        self._menus.diameter.setValue(self.viewer.brush_diameter)

    def _show_zoom(self) -> None:
        is_open = self.session.document is not None
        self._zoom.setText(f"{100 * self.viewer.viewport.zoom:.0f} %" if is_open else "")

    @property
    def is_settled(self) -> bool:
        """Whether nothing is under way."""
        return self.session.is_settled and self.viewer.is_settled

    # Remembering and leaving

    def _recall(self) -> None:
        self.set_theme(self._preferences.theme)
        geometry, state = self._preferences.bytes_of("geometry"), self._preferences.bytes_of("state")
        if geometry is not None:
            self.restoreGeometry(geometry)
        if state is not None:
            self.restoreState(state, _STATE_VERSION)
        self.session.set_automatic(self._preferences.flag("automatic", False))
        self._show_view()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask about unsaved work, remember the window, and wait for the threads."""
        if not self._is_closed:
            if not self.files.may_leave():
                event.ignore()
                return
            self._is_closed = True
            self._preferences.store_bytes("geometry", self.saveGeometry())
            self._preferences.store_bytes("state", self.saveState(_STATE_VERSION))
            self._preferences.store_flag("automatic", self.session.is_automatic)
            self.files.close()
            self.hide()
            self.viewer.close_jobs()
            self.session.close()
        super().closeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Follow another palette."""
        if event.type() == QEvent.Type.PaletteChange:
            self.actions_.draw_icons(self.palette())
        super().changeEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files and pictures, and show that."""
        transfer = read_transfer(event.mimeData())
        if transfer is not None:
            event.acceptProposedAction()
            self._drop_frame.announce(transfer.promise)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Take nothing."""
        self._drop_frame.hide()
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what is dropped."""
        self._drop_frame.hide()
        event.acceptProposedAction()
        self.files.drop(event.mimeData())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Show the damaged picture while B is held."""
        if not self._hold_before(event):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """Show the restored picture again."""
        if not self._hold_before(event):
            super().keyReleaseEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take B before a list with the focus does, which would look for an entry of that letter."""
        if isinstance(event, QKeyEvent) and event.type() in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            return self._hold_before(event)
        return super().eventFilter(watched, event)

    def _watch(self, before: QWidget | None, now: QWidget | None) -> None:
        """Watch the keys of what has the focus, unless it is there to be typed into."""
        if before is not None:
            before.removeEventFilter(self)
        if now is not None and now.window() is self and not isinstance(now, QLineEdit):
            now.installEventFilter(self)

    def _hold_before(self, event: QKeyEvent) -> bool:
        """Follow the key B; tells whether it was that."""
        is_pressed = event.type() is QEvent.Type.KeyPress
        if event.key() != Qt.Key.Key_B or (is_pressed and event.modifiers()):
            return False
        if not event.isAutoRepeat():
            self.viewer.hold_before(is_pressed)
        return True


def _larger(diameter: int) -> int:
    return max(diameter + 1, round(diameter * 1.25))


def _smaller(diameter: int) -> int:
    return min(diameter - 1, round(diameter / 1.25))
