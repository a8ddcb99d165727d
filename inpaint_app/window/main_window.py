"""The main window: everything around the pictures."""

from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, QSize, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QDialog,
    QMainWindow,
    QMessageBox,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.errors import printable_path
from inpaint_app.window.action_table import Need
from inpaint_app.window.actions import Actions
from inpaint_app.window.canvas.tools.registry import TOOLS
from inpaint_app.window.commands.choices import Choices, ViewCommands
from inpaint_app.window.commands.file_commands import FileCommands
from inpaint_app.window.commands.menus import Menus
from inpaint_app.window.commands.mime_data import read_mime_data
from inpaint_app.window.dialogs.help_dialogs import ManualDialog, ShortcutDialog
from inpaint_app.window.dialogs.sweep_dialog import SweepDialog
from inpaint_app.window.document.captions import short_paths
from inpaint_app.window.document.view_state import VIEW_MODES
from inpaint_app.window.log import ABOUT, TITLE, details, log_file
from inpaint_app.window.panels.dictionary_panel import DictionaryPanel
from inpaint_app.window.panels.docks import Docks
from inpaint_app.window.panels.history_panel import HistoryPanel
from inpaint_app.window.panels.plane_bar import PlaneBar
from inpaint_app.window.panels.side_panel import SidePanel
from inpaint_app.window.panels.status_bar import StatusBar
from inpaint_app.window.panels.tool_options import ToolOptions
from inpaint_app.window.preferences import Preferences, checked
from inpaint_app.window.session import Session
from inpaint_app.window.theme.theme import ThemeSwitch
from inpaint_app.window.viewer.thumbnails import Thumbnails
from inpaint_app.window.viewer.viewer import Viewer
from inpaint_app.window.viewer.welcome import Welcome, sample_menu
from inpaint_app.window.widgets.banner import Banner
from inpaint_app.window.widgets.fields import fill
from inpaint_app.window.widgets.keys import HeldKey
from inpaint_app.window.widgets.overlay import DropFrame, Overlay

_SIZE = QSize(1280, 800)
#: What the system draws around a window, at most.
_FRAME = QSize(16, 48)


class MainWindow(QMainWindow):
    """The window of the application."""

    _activity_changed = Signal()

    def __init__(self, preferences: Preferences, theme: ThemeSwitch) -> None:
        super().__init__()
        self._preferences = preferences
        self.actions_ = Actions(self, preferences.now.keys)
        self.session = Session(self)
        self.viewer = Viewer(self.session)
        self.banner, self.status = Banner(), StatusBar(self.actions_)
        self._is_full = False
        self._thumbnails = Thumbnails(self.session.workers, self)
        self.offers = [Banner(offer.button) for offer in self.session.offers]
        self.welcome, self._pages = Welcome(self.actions_), QStackedWidget()
        self.files = FileCommands(self.session, preferences, self)
        self.view = ViewCommands(self.session, self)
        self.side = SidePanel(self.session, self.actions_)
        self.history = HistoryPanel(self.session, self.actions_)
        self.dictionary = DictionaryPanel(self.session)
        self.planes = PlaneBar(self.session, self.actions_)
        self._is_closed = False
        self._lay_out()
        self.menus = Menus(
            self,
            self.actions_,
            sample_menu(self, self.files.open_sample),
            self._docks.actions,
        )
        self.choices = Choices(self.session, self.viewer, self.actions_, self.menus, preferences, theme, self)
        self.addToolBarBreak()
        self.addToolBar(ToolOptions(self.session, self))
        self._connect_actions()
        self._connect_view()
        self._connect_session()
        self.actions_.draw_icons(self.palette())
        self._load_preferences()
        self._show_source()

    # Layout

    def _lay_out(self) -> None:
        center = QWidget()
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(self.viewer)
        fill(QVBoxLayout(center), (self._pages, 1), self.planes, spacing=0)
        self.setCentralWidget(center)
        self._messages = Overlay(center, self.banner, *self.offers)
        self._below = Overlay(center, edge=Qt.Edge.BottomEdge)
        self._drop_frame = DropFrame(center)
        self._docks = Docks(self, self.side, self.dictionary, self.history)
        self.setStatusBar(self.status)
        self.setAcceptDrops(True)
        self.resize(_SIZE.boundedTo(self.screen().availableGeometry().size() - _FRAME))

    # Connections

    def _connect_actions(self) -> None:
        self.actions_.connect_to(self)
        self.choices.unit_changed.connect(self.status.set_unit)
        self.choices.defaults_changed.connect(self.side.parameters.show_defaults)
        self.choices.forget_wanted.connect(self._forget_recent)

    def _connect_view(self) -> None:
        change = self.view.change
        for name, action in self.actions_.tools.items():
            panes = TOOLS[name].panes
            action.triggered.connect(
                lambda _on, name=name, panes=panes: change(lambda view: view.with_tool(name, panes))
            )
        for name, action in self.actions_.modes.items():
            mode = VIEW_MODES[name]
            action.triggered.connect(lambda _on, mode=mode: change(lambda view: view.with_mode(mode)))
        HeldKey(Qt.Key.Key_B, self).changed.connect(self.view.show_before)

    def _connect_session(self) -> None:
        session, document = self.session, self.session.document
        document.problem.connect(self.banner.show_message)
        document.problem.connect(self._update_actions)
        document.notice.connect(self.status.show_notice)
        document.watch(self._show_source, "source")
        document.watch(lambda _old, new: self._remember(new.project), "project")
        document.watch(self._show_view, "view")
        document.watch(
            self._update_actions,
            *("source", "mask", "runs", "activity", "preview", "is_previewing", "is_automatic", "saved_mask"),
        )
        document.watch(self._activity_changed, "activity")
        session.history.changed.connect(self._update_actions)
        session.exporting.activity_changed.connect(self._update_actions)
        session.exporting.activity_changed.connect(self._show_activity, Qt.ConnectionType.QueuedConnection)
        # In an event of its own: to show the strip takes as long as to start the work.
        self._activity_changed.connect(self._show_activity, Qt.ConnectionType.QueuedConnection)
        session.output_wanted.connect(self.files.restore_whole_file)
        for offer, bar in zip(session.offers, self.offers, strict=True):
            offer.changed.connect(bar.show_message)
            bar.accepted.connect(self.files.recover if offer is session.lost_work else offer.accept)
            bar.dismissed.connect(offer.dismiss)
        self.viewer.viewport.changed.connect(self._show_zoom)
        self.viewer.menu_wanted.connect(self.menus.context.popup)
        self.viewer.drawn.connect(self._update_actions, Qt.ConnectionType.QueuedConnection)
        self.viewer.panels_wanted.connect(self.actions_["hide_panels"].trigger)
        self.viewer.pixel_changed.connect(self.status.pixel.setText)
        self._thumbnails.changed.connect(
            lambda: self.welcome.show_recent(self._preferences.now.recent, self._thumbnails.images)
        )
        self.welcome.recent_wanted.connect(self._open_recent)
        self.welcome.repair_wanted.connect(self.files.repair)
        self.welcome.sample_wanted.connect(self.files.open_sample)

    # Commands

    def cancel(self) -> None:
        """Cancel and discard the work in progress; without any, close the banner or leave the full screen."""
        if self._is_working:
            self.session.cancel()
            self.session.document.notice.emit("Canceled.")
        elif self.banner.text:
            self.banner.hide()
        else:
            self.set_full_screen(False)
        self._update_actions()

    def find_damage(self) -> None:
        """Look for the kinds of damage that are ticked."""
        self.session.find_damage(self.side.damage.kinds)

    def hide_panels(self, are_hidden: bool) -> None:
        """Put all panels and toolbars away, or bring them back."""
        self._docks.put_away(are_hidden, "on request")
        self.actions_["hide_panels"].setChecked(are_hidden)

    def set_full_screen(self, is_full: bool) -> None:
        """Fill the screen with the picture alone, or not."""
        if is_full == self._is_full:
            return
        self._is_full = is_full
        self.hide_panels(is_full)
        self.menuBar().setVisible(not is_full)
        self.status.lend_progress(self._below.column if is_full else None)
        self.status.setVisible(not is_full)
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)
        self.actions_["full_screen"].setChecked(is_full)
        self._update_actions()

    def show_shortcuts(self) -> None:
        """Show the sheet of keyboard shortcuts."""
        _show_beside(ShortcutDialog(self.menus.sections, self))

    def show_manual(self) -> None:
        """Show the manual."""
        _show_beside(ManualDialog(self))

    def show_sweep(self) -> None:
        """Show the curve of a parameter."""
        _show_beside(SweepDialog(self.session, self))

    def show_about(self) -> None:
        """Show version, method and license."""
        QMessageBox.about(self, f"About {TITLE}", ABOUT)

    def keep_state(self, folder: Path) -> None:
        """Keep unsaved work and small pictures of recent files in a folder from now on."""
        self.session.start_autosaving(folder / "autosave")
        self._thumbnails.start(folder / "thumbnails")
        self._show_recent()

    # What is shown

    def _show_source(self) -> None:
        source = self.session.state.source
        self._pages.setCurrentWidget(self.welcome if source is None else self.viewer)
        self._docks.put_away(source is None, "nothing is open")
        self.status.show_picture(None if source is None else source.picture)
        if source is not None:
            self.banner.hide()
        self._remember(None if source is None else source.path)
        self._update_actions()
        self._show_zoom()

    def _remember(self, path: Path | None) -> None:
        """Put the file of what is open, if it has one, first among the recent ones."""
        source = self.session.state.source
        if path is not None and source is not None:
            self._preferences.remember_file(path)
            self._thumbnails.keep(path, source.picture)
        self._show_recent()

    def _show_recent(self) -> None:
        files = self._preferences.now.recent
        names = dict(zip(files, short_paths(files), strict=True))
        self.menus.show_recent(names, self._open_recent, self._forget_recent)
        self.welcome.show_recent(files, self._thumbnails.images)
        if self.session.state.source is None:
            self._thumbnails.read(files)

    def _open_recent(self, path: Path) -> None:
        self.files.open_recent(path)
        self._show_recent()

    def _forget_recent(self) -> None:
        self._preferences.store(recent=())
        self._show_recent()
        self._thumbnails.read(self._preferences.now.recent)

    def _show_activity(self) -> None:
        self.status.progress.show_activity(self.session.state.activity or self.session.exporting.activity)

    def _update_actions(self) -> None:
        """Enable what is possible now, and set the title."""
        state, history = self.session.state, self.session.history
        source, activity = state.source, state.activity
        needs: dict[Need, bool] = {
            "picture": source is not None,
            "pages": source is not None and source.is_part,
            "result": state.runs.current is not None,
            "undo": history.can_undo,
            "redo": history.can_redo,
            "run": activity is not None and activity.can_keep,
            "work": self._is_working or bool(self.banner.text) or self._is_full,
        }
        self.actions_.enable([need for need, is_met in needs.items() if is_met])
        self.actions_["undo"].setText(f"&Undo {history.undo_text}".rstrip())
        self.actions_["redo"].setText(f"&Redo {history.redo_text}".rstrip())
        self.actions_["automatic"].setChecked(state.is_automatic)
        if source is None:
            self.setWindowTitle(TITLE)
        elif self.viewer.is_drawn:  # it changes together with the picture
            self.setWindowTitle(f"{printable_path(source.title)}[*] — {TITLE}")
        if "[*]" in self.windowTitle():  # not before there is a picture
            self.setWindowModified(state.has_unsaved_result or state.has_unsaved_mask)

    @property
    def _is_working(self) -> bool:
        """Whether there is something to cancel."""
        state = self.session.state
        return state.activity is not None or state.preview is not None or state.is_previewing

    def _show_view(self) -> None:
        view = self.session.state.view
        self._docks.set_retouching(view.is_retouching)
        self.side.set_retouching(view.is_retouching)
        self._messages.leave_out(self.viewer.top)
        self.actions_[view.workspace.name].setChecked(True)
        for name, action in self.actions_.modes.items():
            action.setVisible(view.workspace.has(VIEW_MODES[name]))
        self.actions_.modes[view.mode.name].setChecked(True)
        self.actions_.tools[view.tool].setChecked(True)
        self.actions_["show_mask"].setChecked(view.shows_mask)

    def _show_zoom(self) -> None:
        is_open = self.session.state.source is not None
        self.status.show_zoom(self.viewer.viewport.zoom if is_open else None)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is in progress."""
        return self.session.is_settled and self.viewer.is_settled

    def copy_details(self) -> None:
        """Copy what a report of a mistake should have."""
        QGuiApplication.clipboard().setText(details(log_file()))
        self.session.document.notice.emit(
            "Versions and the end of the log were copied; paste them into your report."
        )

    # Remembering and leaving

    def _load_preferences(self) -> None:
        self.choices.apply()
        before = self._preferences.now
        self.restoreGeometry(QByteArray(before.geometry))
        if QGuiApplication.screenAt(self.geometry().center()) is None:  # never where nobody sees it
            self.move(self.screen().availableGeometry().topLeft())
        self.restoreState(QByteArray(before.layout[4:]))
        self.session.document.defaults = before.settings
        self.session.document.apply(is_automatic=before.is_automatic, settings=before.settings)
        self._show_view()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask about unsaved work, remember the window, and wait for the threads."""
        if not self._is_closed:
            if not self.files.may_quit():
                event.ignore()
                return
            self._is_closed = True
            self.set_full_screen(False)
            self._preferences.store(
                geometry=bytes(self.saveGeometry().data()),
                layout=checked(self._docks.layout),
                is_automatic=self.session.state.is_automatic,
            )
            self.files.close()
            self.hide()
            self.viewer.close_workers()
            self.session.close()
        super().closeEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the toolbar into the new width."""
        self.menus.fit_into(event.size().width())
        super().resizeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Follow another palette."""
        if event.type() == QEvent.Type.PaletteChange:
            self.actions_.draw_icons(self.palette())
        super().changeEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Pass over the tabs of panels that are put away: Qt keeps them outside the window."""
        is_moved = super().focusNextPrevChild(forward)
        while is_moved and isinstance(now := self.focusWidget(), QTabBar) and now.visibleRegion().isEmpty():
            is_moved = super().focusNextPrevChild(forward)
        return is_moved

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files and pictures, and say what dropping does."""
        dropped = read_mime_data(event.mimeData())
        if dropped is not None:
            event.acceptProposedAction()
            self._drop_frame.announce(dropped.drop_hint)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Hide the frame."""
        self._drop_frame.hide()
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what is dropped."""
        self._drop_frame.hide()
        event.acceptProposedAction()
        self.files.drop(event.mimeData())


def _show_beside(dialog: QDialog) -> None:
    """Show a dialog while the window stays usable; it is gone when it is closed."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
