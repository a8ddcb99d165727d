"""What is seen, and with what brush; and what the user prefers: applied at once, and remembered."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from dictsel_core import RestoreSettings
from inpaint_app.errors import UserError
from inpaint_app.window.actions import Actions
from inpaint_app.window.canvas.screen_color import screen_profile
from inpaint_app.window.commands.menus import Menus
from inpaint_app.window.dialogs.preferences_dialog import PreferencesDialog
from inpaint_app.window.document.view_state import HARDNESS_STEP, RETOUCH, STUDY, ViewState
from inpaint_app.window.preferences import Preferences
from inpaint_app.window.remedies import remedies
from inpaint_app.window.session import Session
from inpaint_app.window.theme.colors import Looks
from inpaint_app.window.theme.theme import Theme, ThemeSwitch
from inpaint_app.window.viewer.viewer import Viewer


class ViewCommands(QObject):
    """Changes the view of a session."""

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session

    def change(self, change: Callable[[ViewState], ViewState]) -> None:
        """Put another view in the place of the one there is."""
        self._session.document.set_view(change(self._session.state.view))

    def resize_brush(self, step: int) -> None:
        """Make the brush a step larger, or smaller."""
        self.change(lambda view: view.with_resized_brush(step))

    def harden_brush(self, steps: int) -> None:
        """Make the brush harder, or softer."""
        self.change(lambda view: view.with_hardness(view.hardness + steps * HARDNESS_STEP))

    def show_mask(self, is_shown: bool) -> None:
        """Hatch missing pixels, or not."""
        self.change(lambda view: replace(view, shows_mask=is_shown))

    def show_before(self, is_held: bool) -> None:
        """Show the damaged picture while a key is held."""
        self.change(lambda view: replace(view, is_before_held=is_held))

    def turn_page(self, n_pages: int) -> None:
        """Show a page some further on, if there is one."""
        source = self._session.state.source
        if source is not None and 0 <= source.plane.page + n_pages < source.n_pages:
            self._session.opening.show_plane(page=source.plane.page + n_pages)

    def show_study(self, _on: bool = True) -> None:
        """Judge the method."""
        self._session.set_workspace(STUDY)

    def show_retouch(self, _on: bool = True) -> None:
        """Mend a photograph."""
        self._session.set_workspace(RETOUCH)


class Choices(QObject):
    """Changes colors, sizes, keys, and the parameters that pictures begin with."""

    unit_changed = Signal(str)
    """Sizes are told in another unit."""
    defaults_changed = Signal()
    """Pictures begin with other parameters."""
    forget_wanted = Signal()
    """The recent files are to be forgotten."""

    def __init__(
        self,
        session: Session,
        viewer: Viewer,
        actions: Actions,
        menus: Menus,
        preferences: Preferences,
        theme: ThemeSwitch,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._session, self._viewer, self._window = session, viewer, window
        self._actions, self._menus = actions, menus
        self._preferences, self._theme = preferences, theme
        menus.themes.triggered.connect(lambda action: self.set_theme(action.data()))

    def apply(self) -> None:
        """Show everything as it was chosen before."""
        kept = self._preferences.now
        self.set_theme(kept.theme)
        self.set_screen(kept.screen)
        self._set_looks(kept.looks)
        self._set_unit(kept.unit)

    def show_dialog(self) -> None:
        """Show the dialog of preferences, while the window stays usable."""
        kept, keys = self._preferences.now, self._menus.sections
        dialog = PreferencesDialog(
            self._session, kept.theme, kept.screen, self._window, looks=kept.looks, unit=kept.unit, keys=keys
        )
        dialog.looks_chosen.connect(self._set_looks)
        dialog.unit_chosen.connect(self._set_unit)
        dialog.preset_chosen.connect(self._set_default_preset)
        dialog.cores_chosen.connect(self._set_cores)
        dialog.keys.key_chosen.connect(self._set_key)
        dialog.keys.reset_wanted.connect(self._reset_keys)
        dialog.keys.reset_wanted.connect(dialog.keys.refresh)
        dialog.theme_chosen.connect(self.set_theme)
        dialog.screen_chosen.connect(lambda choice: dialog.show_screen(self.set_screen(choice)))
        dialog.forget_wanted.connect(self.forget_wanted)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()

    def set_theme(self, theme: Theme) -> None:
        """Change the colors."""
        self._theme.set_theme(theme)
        self._preferences.store(theme=theme)
        for action in self._menus.themes.actions():
            action.setChecked(action.data() is theme)

    def set_screen(self, choice: str) -> str:
        """Draw pictures for a screen; return the choice that holds, the last one if it fails."""
        try:
            self._viewer.set_screen_profile(screen_profile(choice))
            self._preferences.store(screen=choice)
        except UserError as error:
            self._session.document.problem.emit(error.sentence(remedies()))
        return self._preferences.now.screen

    def _set_looks(self, looks: Looks) -> None:
        """Change the gray around pictures and the marks on them."""
        self._preferences.store(looks=looks)
        self._viewer.set_looks(looks)

    def _set_unit(self, unit: str) -> None:
        self._preferences.store(unit=unit)
        self.unit_changed.emit(unit)

    def _set_key(self, action: QAction, key: str) -> None:
        self._actions.set_key(action, key)
        self._preferences.store(keys=self._actions.own_keys)

    def _reset_keys(self) -> None:
        self._actions.reset_keys()
        self._preferences.store(keys={})

    # The parameters that pictures begin with

    def use_settings_by_default(self) -> None:
        """Let every picture begin with the parameters as they are now."""
        document = self._session.document
        self._set_defaults(document.state.settings)
        document.notice.emit("Every picture begins with these parameters from now on.")

    def _set_defaults(self, settings: RestoreSettings) -> None:
        self._session.document.defaults = settings
        self._preferences.store(settings=settings)
        self.defaults_changed.emit()

    def _set_default_preset(self, name: str) -> None:
        if name:
            threads = self._session.document.defaults.threads
            self._set_defaults(replace(RestoreSettings.preset(name), threads=threads))  # type: ignore[arg-type]

    def _set_cores(self, threads: int | None) -> None:
        document = self._session.document
        self._set_defaults(replace(document.defaults, threads=threads))
        document.apply(settings=replace(document.state.settings, threads=threads))
